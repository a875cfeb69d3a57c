"""Model shape from a Hugging Face ``config.json``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from steptime.inputs.errors import ConfigError, check_count
from steptime.inputs.model import Experts, LatentAttention, ModelShape
from steptime.readers.families import CLASSES, FAMILIES, WRAPPERS, Family
from steptime.readers.reading import Reading
from steptime.readers.safe import file_text, json_object, line_of, short, shown

LARGEST_SIZE = 10**8


class _Source:
    """The keys of one file, read with their lines and checked as whole numbers."""

    def __init__(
        self, reading: Reading, text: str, keys: dict[str, Any], defaults: dict[str, int]
    ) -> None:
        self.reading, self.text, self.keys, self.defaults = reading, text, keys, defaults

    def at(self, key: str) -> str:
        """Return ``file:line`` of a key."""
        return f"{self.reading.path}:{line_of(self.text, key)}"

    def count(self, name: str, keys: tuple[str, ...], *, least: int = 1) -> int | None:
        """Return the first of ``keys`` that is present and not null, or None."""
        for key in keys:
            value = self.keys.get(key)
            if value is None:
                continue
            if isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_SIZE:
                value = int(value)
            try:
                number = check_count(key, value, least=least, most=LARGEST_SIZE)
            except ConfigError as error:
                raise ConfigError(f"{self.at(key)}: {short(str(error), most=160)}") from None
            self.reading.state(name, number, line=line_of(self.text, key), written=key)
            return number
        return None

    def need(self, name: str, keys: tuple[str, ...]) -> int:
        """Return the first of ``keys`` present, or the family's default; else refuse the file."""
        number = self.count(name, keys)
        if number is None and name in self.defaults:
            self.reading.assume(name, self.defaults[name], "the default of the architecture")
            return self.defaults[name]
        if number is None:
            raise ConfigError(f"{self.reading.path} lacks {' or '.join(keys)}")
        return number

    def flag(self, key: str) -> bool | None:
        """Return a boolean key, or None where it is absent."""
        value = self.keys.get(key)
        if value is None or isinstance(value, bool):
            return value
        raise ConfigError(f"{self.at(key)}: {key} must be true or false, got {shown(value)}")


def read_huggingface(path: str | Path) -> Reading:
    """Return the model shape that a ``config.json`` describes.

    Args:
        path: The file, or the folder of a checkpoint that holds it.

    Raises:
        ConfigError: If it is no such file, or of an architecture not known here.
    """
    path = Path(path)
    try:
        path = path / "config.json" if path.is_dir() else path
    except (OSError, ValueError):
        raise ConfigError(f"cannot read {short(path)}: not a usable path") from None
    text = file_text(path)
    return shape_reading(json_object(text, short(path)), text, short(path))


def shape_reading(keys: dict[str, Any], text: str, name: str) -> Reading:
    """Return the reading of parsed ``config.json`` keys.

    Args:
        keys: The parsed object.
        text: The text it came from, for line numbers.
        name: What to call the file.

    Raises:
        ConfigError: If the architecture is unknown or a size is missing or absurd.
    """
    reading = Reading(path=name, kind="huggingface")
    kind, keys = _architecture(reading, keys, text)
    family = FAMILIES[kind]
    source = _Source(reading, text, keys, dict(family.defaults))
    try:
        reading.model = _shape(source, kind, family, _name(keys, name))
    except ConfigError as error:
        message = str(error)
        raise ConfigError(message if message.startswith(name) else f"{name}: {message}") from None
    longest = source.keys.get("max_position_embeddings")
    if isinstance(longest, int) and not isinstance(longest, bool) and 0 < longest < LARGEST_SIZE:
        reading.notes.append(f"built for sequences of up to {longest} tokens")
    if source.count("mtp_layers", ("num_nextn_predict_layers",), least=0):
        reading.notes.append("multi-token-prediction layers are not counted")
    return reading


def _shape(source: _Source, kind: str, family: Family, name: str) -> ModelShape:
    """Return the shape; the order of the questions is the order of the facts."""
    hidden = source.need("hidden_size", family.hidden)
    layers = source.need("num_layers", family.layers)
    heads = source.need("num_attention_heads", family.heads)
    groups = _groups(source, kind, family, heads)
    head_dim = source.count("head_dim", ("head_dim",)) or 0
    if head_dim == 0 and family.fixed_head_dim:
        head_dim = family.fixed_head_dim
        source.reading.assume("head_dim", head_dim, f"the default of {kind}")
    experts = _experts(source, family, layers)
    dense_ffn = _ffn(source, family, hidden)
    size, windowed = _window(source, family, layers)
    tied = _tied(source, kind, family)
    positions = source.count("learned_positions", family.positions) or 0
    return ModelShape(
        name=name,
        num_layers=layers,
        hidden_size=hidden,
        ffn_hidden_size=dense_ffn,
        num_attention_heads=heads,
        num_query_groups=groups,
        vocab_size=source.need("vocab_size", ("vocab_size",)),
        head_dim=head_dim,
        gated=_gated(source, family),
        tied=tied,
        learned_positions=positions + family.extra_positions * (positions > 0),
        window_size=size,
        windowed_layers=windowed,
        experts=experts,
        latent_attention=_latent(source) if family.latent else None,
    )


def _tied(source: _Source, kind: str, family: Family) -> bool:
    """Return whether the output layer shares the embedding's weights."""
    tied = source.flag("tie_word_embeddings")
    if tied is None:
        tied = family.tied
        source.reading.assume("tied", tied, f"the default of {kind}")
    return tied


def _architecture(reading: Reading, keys: dict[str, Any], text: str) -> tuple[str, dict[str, Any]]:
    """Return the family's name and the keys of the language model."""
    kind = keys.get("model_type")
    classes = keys.get("architectures")
    first = classes[0] if isinstance(classes, list) and classes else None
    if kind is None and isinstance(first, str):
        kind = CLASSES.get(first, first)
    if kind is None:
        raise ConfigError(
            f"{reading.path} has neither model_type nor architectures: not a config.json of a model"
        )
    if isinstance(kind, str) and kind in WRAPPERS:
        inner = keys.get("text_config")
        if not isinstance(inner, dict):
            raise ConfigError(f"{reading.path}: {kind} without a text_config")
        reading.notes.append(f"only the language model of this {kind} is read")
        inner_kind = inner.get("model_type")
        kind = inner_kind if inner_kind in FAMILIES else WRAPPERS[kind]
        keys = {"tie_word_embeddings": keys.get("tie_word_embeddings"), **inner}
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise ConfigError(
            f"{reading.path}:{line_of(text, 'model_type')}: architecture {shown(kind)} is not "
            f"known here; known: {', '.join(sorted(FAMILIES))}; or give the sizes themselves"
        )
    return kind, keys


def _name(keys: dict[str, Any], path: str) -> str:
    """Return what to call the model: its own name, or its folder's."""
    own = keys.get("_name_or_path")
    if isinstance(own, str) and own.strip("./"):
        return short(own.rstrip("/").rsplit("/", 1)[-1], most=60)
    parent = Path(path).parent.name
    return parent if parent and Path(path).name == "config.json" else Path(path).stem


def _groups(source: _Source, kind: str, family: Family, heads: int) -> int:
    """Return the key and value heads, with the rules of each family."""
    if kind == "gpt_bigcode":
        return heads if source.flag("multi_query") is False else 1
    if kind == "mpt":
        attention = source.keys.get("attn_config")
        inner = attention.get("kv_n_heads") if isinstance(attention, dict) else None
        if isinstance(attention, dict) and attention.get("attn_type") == "multiquery_attention":
            return 1
        return heads if inner is None else check_count("kv_n_heads", inner, most=heads)
    is_falcon = kind in ("falcon", "RefinedWeb", "RefinedWebModel")
    newer = source.flag("new_decoder_architecture") or "n_head_kv" in source.keys
    if is_falcon and not newer:
        return heads if source.flag("multi_query") is False else 1
    if "num_query_groups" in source.defaults:
        return source.need("num_query_groups", family.groups)
    groups = source.count("num_query_groups", family.groups)
    return heads if groups is None else groups


def _ffn(source: _Source, family: Family, hidden: int) -> int:
    """Return the width of the dense feed-forward network."""
    width = source.count("ffn_hidden_size", family.ffn)
    if width is None and not family.ffn_ratio:
        raise ConfigError(f"{source.reading.path} lacks {' or '.join(family.ffn)}")
    ratio = source.count("expansion_ratio", ("expansion_ratio",)) or family.ffn_ratio
    if width is None:
        return ratio * hidden
    return width // 2 if family.ffn_halved else width


def _gated(source: _Source, family: Family) -> bool:
    """Return whether the feed-forward network has a gate."""
    if "mlp_gated" in source.keys:
        return bool(source.flag("mlp_gated"))
    return family.gated


def _experts(source: _Source, family: Family, layers: int) -> Experts | None:
    """Return the mixture-of-experts part, if the family has one."""
    number = source.count("num_experts", family.experts, least=0) if family.experts else None
    if not number:
        return None
    width = source.need("expert_ffn_hidden_size", family.expert_ffn)
    shared = source.count("num_shared_experts", family.shared, least=0) or 0
    total = source.count("shared_ffn", family.shared_ffn, least=0) or 0
    if total:
        shared = -(-total // width)
        if total % width:
            source.reading.assume("num_shared_experts", shared, f"{total} / {width}, rounded up")
    for key in ("moe_layer_freq", "decoder_sparse_step"):
        step = source.keys.get(key)
        if step not in (None, 1):
            raise ConfigError(
                f"{source.at(key)}: {key} = {shown(step)}: only models whose mixture layers "
                "follow the dense ones are known here"
            )
    only = source.keys.get("mlp_only_layers")
    dense = source.count("num_dense_layers", family.dense_layers, least=0) or 0
    if isinstance(only, list) and only:
        if only != list(range(len(only))):
            raise ConfigError(f"{source.at('mlp_only_layers')}: dense layers must come first")
        dense = len(only)
    return Experts(
        num_experts=number,
        top_k=source.need("top_k", family.top_k),
        expert_ffn_hidden_size=width,
        num_shared_experts=shared,
        num_dense_layers=min(dense, layers),
    )


def _latent(source: _Source) -> LatentAttention:
    """Return the latent-attention part."""
    return LatentAttention(
        q_lora_rank=source.count("q_lora_rank", ("q_lora_rank",), least=0) or 0,
        kv_lora_rank=source.need("kv_lora_rank", ("kv_lora_rank",)),
        qk_nope_head_dim=source.need("qk_nope_head_dim", ("qk_nope_head_dim",)),
        qk_rope_head_dim=source.need("qk_rope_head_dim", ("qk_rope_head_dim",)),
        v_head_dim=source.need("v_head_dim", ("v_head_dim",)),
    )


def _window(source: _Source, family: Family, layers: int) -> tuple[int, int]:
    """Return the window and how many layers have it."""
    size = source.count("window_size", ("sliding_window",), least=0) or 0
    kinds = source.keys.get("layer_types")
    if isinstance(kinds, list) and kinds:
        other = [kind for kind in kinds if kind not in ("full_attention", "sliding_attention")]
        if other:
            raise ConfigError(f"{source.at('layer_types')}: {shown(other[0])} is not known here")
        number = kinds.count("sliding_attention")
        return (size, min(number, layers)) if number and size else (0, 0)
    if not size or source.flag("use_sliding_window") is False:
        return 0, 0
    if family.window == "all":
        return size, layers
    if family.window == "alternate":
        return size, -(-layers // 2)
    if family.window in ("pattern", "pattern4"):
        default = 4 if family.window == "pattern4" else 6
        every = source.count("window_pattern", ("sliding_window_pattern",)) or default
        return size, layers - layers // every
    if family.window == "upper" and source.flag("use_sliding_window"):
        first = source.count("max_window_layers", ("max_window_layers",), least=0) or 0
        return (size, layers - first) if first < layers else (0, 0)
    return 0, 0
