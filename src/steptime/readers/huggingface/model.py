"""Model shape from a Hugging Face ``config.json``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from steptime.inputs.assumed import Assumed, taken
from steptime.inputs.errors import ConfigError
from steptime.inputs.model import ModelShape
from steptime.inputs.no_shapes import INSTEAD
from steptime.inputs.presets import facts_of_type
from steptime.readers.common.activations import unusual
from steptime.readers.huggingface.config_keys import LARGEST_SIZE, ConfigKeys
from steptime.readers.huggingface.families import FAMILIES, Family
from steptime.readers.huggingface.family_names import (
    CLASSES,
    INNER,
    REFUSED_FAMILIES,
    REFUSED_KEYS,
    TOWERS,
    WRAPPERS,
)
from steptime.readers.huggingface.parts import (
    experts_of,
    ffn_of,
    gated_of,
    groups_of,
    latent_of,
    window_of,
)
from steptime.readers.keys.reading import Reading
from steptime.readers.keys.safe import file_text, json_object, line_of, short, shown

CONFIG = "config.json"
NOT_COUNTED = "not counted"
"""Name and value of the record of what a configuration has and the model leaves out."""


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
    _refuse_parts(reading, keys, text)
    source = ConfigKeys(reading, text, keys, dict(family.defaults))
    try:
        shape = _shape(source, kind, family, _name(keys, name))
    except ConfigError as error:
        message = str(error)
        raise ConfigError(message if message.startswith(name) else f"{name}: {message}") from None
    if family.told:
        reading.notes.append(family.told)
    reading.model = replace(shape, remarks=_remarks(reading))
    if longest := _longest(source):
        reading.notes.append(f"built for sequences of up to {longest} tokens")
    return reading


def _remarks(reading: Reading) -> tuple[Assumed, ...]:
    """Return what every answer for the model says of how its file was read."""
    noted = [Assumed(what=CONFIG, value=NOT_COUNTED, why=text) for text in reading.notes]
    filled = [taken(one.name, str(one.value), one.why) for one in reading.assumptions]
    return (*noted, *filled)


def _head_dim(source: ConfigKeys, kind: str, family: Family) -> int:
    """Return the width of a head; 0 where it follows from the others."""
    head_dim = source.count("head_dim", ("head_dim",)) or 0
    if head_dim == 0 and family.fixed_head_dim:
        head_dim = family.fixed_head_dim
        source.reading.assume("head_dim", head_dim, f"the default of {kind}")
    return head_dim


def _longest(source: ConfigKeys) -> int:
    """Return the tokens of the longest sequence that a configuration states; 0 if it does not."""
    longest = source.keys.get("max_position_embeddings")
    if isinstance(longest, int) and not isinstance(longest, bool) and 0 < longest < LARGEST_SIZE:
        return longest
    return 0


def _refuse_parts(reading: Reading, keys: dict[str, Any], text: str) -> None:
    """Refuse a configuration with a part that no shape here has, by the key that says so."""
    for key, why in REFUSED_KEYS.items():
        if keys.get(key) not in (None, False, 0, [], ""):
            raise ConfigError(
                f"{reading.path}:{line_of(text, key)}: {key} = {shown(keys[key])}: {why}; {INSTEAD}"
            )
    width = keys.get("word_embed_proj_dim")
    if width is not None and width != keys.get("hidden_size"):
        raise ConfigError(
            f"{reading.path}:{line_of(text, 'word_embed_proj_dim')}: word_embed_proj_dim = "
            f"{shown(width)}: an embedding of another width than the layers' is not modelled; "
            f"{INSTEAD}"
        )


def _shape(source: ConfigKeys, kind: str, family: Family, name: str) -> ModelShape:
    """Return the shape; the order of the questions is the order of the facts."""
    hidden = source.need("hidden_size", family.hidden)
    layers = source.need("num_layers", family.layers)
    heads = source.need("num_attention_heads", family.heads)
    groups = groups_of(source, kind, family, heads)
    head_dim = _head_dim(source, kind, family)
    experts = experts_of(source, family, layers)
    dense_ffn = ffn_of(source, family, hidden)
    size, windowed = window_of(source, family, layers)
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
        gated=gated_of(source, family),
        tied=tied,
        learned_positions=positions + family.extra_positions * (positions > 0),
        max_positions=_longest(source),
        mtp_layers=_further(source),
        window_size=size,
        windowed_layers=windowed,
        experts=experts,
        latent_attention=latent_of(source) if family.latent else None,
        norm=family.norm,
        linear_bias=family.linear_bias,
        qkv_bias=family.qkv_bias or bool(source.keys.get("attention_bias") is True),
        qk_norm=family.qk_norm or bool(source.keys.get("use_qk_norm") is True),
        activation_clamp=_clamp(source),
        facts=facts_of_type(kind),
        activation=family.activation or _activation(source, gated_of(source, family)),
        glu_offset=family.glu_offset,
        sinks=family.sinks,
    )


def _activation(source: ConfigKeys, gated: bool) -> str:
    """Return the function of the feed-forward network, where it is another than the usual one."""
    found = source.keys.get("hidden_activation") or source.keys.get("hidden_act")
    return unusual({str(found)[:40].lower()}, gated) if isinstance(found, str) else ""


def _clamp(source: ConfigKeys) -> float:
    """Return the bound on what enters the activation; 0 where none is given."""
    found = source.keys.get("swiglu_limit")
    return float(found) if isinstance(found, (int, float)) else 0.0


def _further(source: ConfigKeys) -> int:
    """Return the layers that predict further tokens."""
    if source.keys.get("use_mtp") is False:
        return 0
    return source.count("mtp_layers", ("num_nextn_predict_layers", "num_mtp_modules"), least=0) or 0


def _tied(source: ConfigKeys, kind: str, family: Family) -> bool:
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
    kind, keys = _unwrapped(reading, kind, keys)
    if isinstance(kind, str) and kind in REFUSED_FAMILIES:
        raise ConfigError(
            f"{reading.path}:{line_of(text, 'model_type')}: architecture {shown(kind)}: "
            f"{REFUSED_FAMILIES[kind]}; {INSTEAD}"
        )
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise ConfigError(
            f"{reading.path}:{line_of(text, 'model_type')}: architecture {shown(kind)} is not "
            f"known here; known: {', '.join(sorted(FAMILIES))}; or give the sizes themselves"
        )
    return kind, keys


def _unwrapped(
    reading: Reading, kind: object, keys: dict[str, Any]
) -> tuple[object, dict[str, Any]]:
    """Return the kind and the keys of the language model inside a wrapper, whatever it is."""
    for name in INNER:
        inner: Any = keys
        for part in name.split("."):
            inner = inner.get(part) if isinstance(inner, dict) else None
        if not isinstance(inner, dict) or not inner:
            continue
        own = inner.get("model_type")
        known = isinstance(own, str) and (own in FAMILIES or own in REFUSED_FAMILIES)
        outer = kind if isinstance(kind, str) else ""
        # A text part that does not say its kind has the wrapper's usual one.
        found = own if known or own is not None else WRAPPERS.get(outer, outer)
        reading.notes.append(f"only the language model of this {shown(kind)[1:-1]} is read")
        return found, {"tie_word_embeddings": keys.get("tie_word_embeddings"), **inner}
    if isinstance(kind, str) and kind in WRAPPERS and kind not in FAMILIES:
        raise ConfigError(f"{reading.path}: {kind} without a text_config")
    if any(keys.get(tower) not in (None, False, 0, [], "", {}) for tower in TOWERS):
        reading.notes.append(f"only the language model of this {shown(kind)[1:-1]} is read")
    return kind, keys


def _name(keys: dict[str, Any], path: str) -> str:
    """Return what to call the model: its own name, or its folder's."""
    own = keys.get("_name_or_path")
    if isinstance(own, str) and own.strip("./"):
        return short(own.rstrip("/").rsplit("/", 1)[-1], most=60)
    parent = Path(path).parent.name
    if parent in ("", "..") and Path(path).is_file():
        # As the folder is called in which it stands, not from here.
        parent = Path(path).parent.resolve().name
    return parent if parent and Path(path).name == "config.json" else Path(path).stem
