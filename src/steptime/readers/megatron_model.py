"""Model shape from Megatron-LM's names, which NeMo and Megatron-Bridge share."""

from __future__ import annotations

import re

from steptime.inputs.errors import ConfigError
from steptime.inputs.model import Experts, LatentAttention, ModelShape
from steptime.readers.entries import LARGEST, Entries
from steptime.readers.reading import COMMAND_LINE
from steptime.readers.safe import shown

SHAPE = ("num_layers", "hidden_size", "num_attention_heads")
"""What every description of a model gives."""

_REPEATED = re.compile(r"\[([01](?:,[01])*)\](?:\*(\d{1,4}))?")
_GATED = ("swiglu", "fast-swiglu", "geglu", "fast-geglu", "reglu", "fast-reglu")
TOKENIZERS = {"gpt2bpetokenizer": 50257, "llama2tokenizer": 32000}
"""Entries of the vocabularies that a tokenizer's type alone settles."""

VOCABULARIES = (
    ("llama-3", 128256),
    ("llama3", 128256),
    ("llama-2", 32000),
    ("llama2", 32000),
    ("mixtral-8x22b", 32768),
    ("mixtral", 32000),
    ("mistral-7b", 32000),
    ("qwen3", 151936),
    ("qwen2", 151936),
    ("deepseek-v3", 129280),
    ("deepseek-v2", 102400),
    ("gpt-oss", 201088),
    ("gpt2", 50257),
)
"""Entries of the vocabularies that a tokenizer's name tells, the longer name first."""


def megatron_model(entries: Entries, tp: int) -> ModelShape | None:
    """Return the shape that Megatron-LM's arguments give; None if the file gives none.

    Args:
        entries: The file's keys.
        tp: Tensor-parallel size, to which the vocabulary is padded.

    Raises:
        ConfigError: If a size is absurd or sizes contradict each other.
    """
    sizes = {name: entries.count(name, name) for name in SHAPE}
    layers, hidden, heads = sizes.values()
    if layers is None and hidden is None and heads is None:
        return None
    for name, value in sizes.items():
        if value is None:
            entries.ask(name)
    vocabulary = _vocabulary(entries, tp)
    if not layers or not hidden or not heads or not vocabulary:
        return None
    gated = _gated(entries)
    ffn = _ffn(entries, hidden, gated)
    window, windowed = _window(entries, layers)
    latent = _latent(entries)
    try:
        return ModelShape(
            name=_name(entries),
            num_layers=layers,
            hidden_size=hidden,
            ffn_hidden_size=ffn,
            num_attention_heads=heads,
            num_query_groups=_groups(entries, heads),
            vocab_size=vocabulary,
            head_dim=entries.count("head_dim", "kv_channels") or 0,
            gated=gated,
            tied=_tied(entries),
            learned_positions=_positions(entries),
            window_size=window,
            windowed_layers=windowed,
            experts=_experts(entries, layers, ffn),
            latent_attention=latent,
        )
    except ConfigError as error:
        message = str(error)
        known = message.startswith((entries.reading.path, entries.reading.at(COMMAND_LINE)))
        raise ConfigError(message if known else f"{entries.reading.path}: {message}") from None


def _ffn(entries: Entries, hidden: int, gated: bool) -> int:
    ffn = entries.count("ffn_hidden_size", "ffn_hidden_size")
    if ffn is None:
        # Megatron-LM keeps the parameter count of the plain network when it adds the gate.
        ffn = int((4 * hidden * 2 / 3) / 64) * 64 if gated else 4 * hidden
        entries.reading.assume("ffn_hidden_size", ffn, "Megatron-LM's default for this width")
    return ffn


def _name(entries: Entries) -> str:
    entry = entries.entry("hf_model_id", "wandb_exp_name", "name")
    text = str(entry.value).rsplit("/", 1)[-1] if entry and entry.known else "model"
    return text[:60] or "model"


def _vocabulary(entries: Entries, tp: int) -> int | None:
    """Return the rows of the embedding, padded as Megatron-LM pads them."""
    padded = entries.count("padded_vocab_size", "padded_vocab_size")
    if padded:
        return padded
    plain = entries.count("vocab_size", "vocab_size", "override_vocab_size")
    if plain is None:
        kind = entries.word("tokenizer_type", "library")
        model = entries.word("tokenizer_model", "hf_tokenizer")
        named = [size for name, size in VOCABULARIES if name in model]
        if named:
            plain = named[0]
            entries.reading.assume("vocab_size", plain, f"the tokenizer {model[-60:]}")
        elif kind in TOKENIZERS or (not kind and entries.entry("merge_file")):
            plain = TOKENIZERS.get(kind, 50257)
            entries.reading.assume("vocab_size", plain, f"the {kind or 'GPT-2'} vocabulary")
        else:
            entries.ask("vocab_size", "the tokenizer alone does not tell")
            return None
    step = entries.count("vocab_divisor", "make_vocab_size_divisible_by") or 128
    if entries.entry("should_pad_vocab") and not entries.flag("should_pad_vocab"):
        return plain
    rows = -(-plain // (step * tp)) * step * tp
    if rows > LARGEST:
        line = entries.line("vocab_size", "override_vocab_size")
        raise ConfigError(
            f"{entries.reading.at(line)}: vocab_size must be <= {LARGEST} once padded to a "
            f"multiple of {step} x tp, got {plain}"
        )
    if rows != plain:
        entries.reading.assume(
            "padded vocabulary", rows, f"{plain} up to a multiple of {step} x tp"
        )
    return rows


def _gated(entries: Entries) -> bool:
    return (
        entries.flag("swiglu")
        or entries.flag("gated_linear_unit")
        or entries.flag("quick_geglu")
        or entries.word("activation") in _GATED
        or entries.word("activation_func") in _GATED
    )


def _tied(entries: Entries) -> bool:
    if entries.entry("share_embeddings_and_output_weights"):
        return entries.flag("share_embeddings_and_output_weights")
    return not entries.flag("untie_embeddings_and_output_weights")


def _positions(entries: Entries) -> int:
    """Return the rows of a learned position table: Megatron-LM's default has one."""
    kind = entries.word("position_embedding_type")
    rotary = entries.flag("use_rotary_position_embeddings")
    if rotary or entries.flag("no_position_embedding") or kind not in ("", "learned_absolute"):
        return 0
    rows = entries.count("learned_positions", "max_position_embeddings")
    if not kind:
        why = (
            "the default is a learned one, of max_position_embeddings rows"
            if rows
            else "left out: the default is a learned one, but max_position_embeddings is not given"
        )
        entries.reading.assume("position table", rows or 0, why)
    return rows or 0


def _groups(entries: Entries, heads: int) -> int:
    groups = entries.count("num_query_groups", "num_query_groups")
    if entries.entry("group_query_attention"):
        return (groups or 1) if entries.flag("group_query_attention") else heads
    return groups or heads


def _window(entries: Entries, layers: int) -> tuple[int, int]:
    entry = entries.entry("window_size")
    if entry is None or not entry.known:
        return 0, 0
    numbers = re.findall(r"\d{1,8}", str(entry.value)[:100])
    if not numbers or int(numbers[0]) == 0:
        return 0, 0
    skip = entries.count("window_skip", "window_attn_skip_freq")
    return int(numbers[0]) + 1, layers - layers // skip if skip else layers


def _experts(entries: Entries, layers: int, ffn: int) -> Experts | None:
    number = entries.count("num_experts", "num_experts", "num_moe_experts", least=0)
    if not number:
        return None
    width = entries.count("expert_ffn_hidden_size", "moe_ffn_hidden_size") or ffn
    top_k = entries.count("top_k", "moe_router_topk")
    if top_k is None:
        top_k = 2
        entries.reading.assume("top_k", 2, "Megatron-LM's default")
    shared = entries.count(
        "shared_ffn", "moe_shared_expert_intermediate_size", "shared_expert_intermediate_size"
    )
    if shared and shared % width:
        entries.reading.assume("num_shared_experts", -(-shared // width), "rounded up")
    return Experts(
        num_experts=number,
        top_k=top_k,
        expert_ffn_hidden_size=width,
        num_shared_experts=-(-shared // width) if shared else 0,
        num_dense_layers=_dense_layers(entries, layers),
    )


def _dense_layers(entries: Entries, layers: int) -> int:
    """Return the leading layers without experts, from ``moe_layer_freq``."""
    entry = entries.entry("moe_layer_freq")
    if entry is None or not entry.known:
        return 0
    at = f"{entries.reading.at(entry.line)}: {entry.written} = {shown(entry.value)}"
    text = str(entry.value).strip().strip("'\"()").replace(" ", "")
    if isinstance(entry.value, list):
        pattern = [str(value) for value in entry.value[:10000]]
    elif text.isdigit():
        if int(text[:9]) != 1:
            raise ConfigError(f"{at}: only models whose mixture layers follow the dense ones")
        return 0
    else:
        pattern = []
        for match in _REPEATED.finditer(text[:2000]):
            pattern += match[1].split(",") * min(int(match[2] or 1), 10000)
    if len(pattern) != layers:
        raise ConfigError(f"{at} covers {len(pattern)} layers, but num_layers = {layers}")
    dense = pattern.index("1") if "1" in pattern else layers
    if "0" in pattern[dense:]:
        raise ConfigError(f"{at}: only models whose mixture layers follow the dense ones")
    return dense


def _latent(entries: Entries) -> LatentAttention | None:
    if not entries.flag("multi_latent_attention"):
        return None

    def size(key: str, default: int) -> int:
        found = entries.count(key, key, least=0)
        if found is None:
            entries.reading.assume(key, default, "Megatron-LM's default")
        return default if found is None else found

    return LatentAttention(
        q_lora_rank=entries.count("q_lora_rank", "q_lora_rank", least=0) or 0,
        kv_lora_rank=size("kv_lora_rank", 32),
        qk_nope_head_dim=size("qk_head_dim", 128),
        qk_rope_head_dim=size("qk_pos_emb_head_dim", 64),
        v_head_dim=size("v_head_dim", 128),
    )
