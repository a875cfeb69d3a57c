"""Model shape from Megatron-LM's names, which NeMo and Megatron-Bridge share."""

from __future__ import annotations

import re
from typing import Any

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.model import ModelShape
from steptime.readers.common.activations import activation_traits, is_gated
from steptime.readers.common.patterns import layer_pattern
from steptime.readers.keys.entries import LARGEST, Entries
from steptime.readers.keys.reading import COMMAND_LINE
from steptime.readers.keys.safe import shown
from steptime.readers.megatron.experts import experts, latent

SHAPE = ("num_layers", "hidden_size", "num_attention_heads")
"""What every description of a model gives."""

_ROTARY = (
    "use_rotary_position_embeddings",
    "use_llama2_rotary_position_embeddings",
    "use_mistral_rotary_position_embeddings",
)
_WITHOUT = ("no_position_embedding", "use_alibi_position_embeddings", "use_alibi_mask")
_POSITIONS = (
    "",
    *(
        "learned_absolute learned rope rotary mrope yarn xpos alibi kerple sandwich relative none "
        "learned_relative rope3d"
    ).split(),
)
MEGATRON_DEFAULTS = ("megatron", "megatron-deepspeed", "mindspeed", "nemo")
"""Formats whose software has layer norms and biases unless told otherwise."""

NEEDS_GROUP_FLAG = ("megatron", "mindspeed")
"""Formats whose ``num_query_groups`` counts only beside ``group_query_attention``."""


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
    gated = is_gated(entries)
    ffn = _ffn(entries, hidden, gated)
    window, windowed = _window(entries, layers)
    learned, positions = _positions(entries)
    try:
        return ModelShape(
            name=_name(entries),
            num_layers=layers,
            hidden_size=hidden,
            ffn_hidden_size=ffn,
            num_attention_heads=heads,
            num_query_groups=_groups(entries, heads),
            vocab_size=vocabulary,
            head_dim=entries.count("head_dim", "kv_channels", "head_dim") or 0,
            gated=gated,
            tied=_tied(entries),
            learned_positions=learned,
            max_positions=positions,
            window_size=window,
            windowed_layers=windowed,
            experts=experts(entries, layers, ffn),
            latent_attention=latent(entries),
            **_traits(entries),
        )
    except ConfigError as error:
        message = str(error)
        known = message.startswith((entries.reading.path, entries.reading.at(COMMAND_LINE)))
        raise ConfigError(message if known else f"{entries.reading.path}: {message}") from None


def _ffn(entries: Entries, hidden: int, gated: bool) -> int:
    ffn = entries.count("ffn_hidden_size", "ffn_hidden_size", "intermediate_size")
    step = entries.count("ffn_multiple", "multiple_of") if gated and ffn is None else None
    if step is not None:
        # As Llama's own code widens it: two thirds, scaled, up to a multiple.
        factor = entries.entry("hidden_dim_multiplier")
        try:
            scaled = int(int(4 * hidden * 2 / 3) * float(str(factor.value) if factor else 1))
        except (OverflowError, ValueError):
            scaled = 0
        if not 0 < scaled < LARGEST:
            entries.ask("ffn_hidden_size", "hidden_dim_multiplier is no number that scales it")
            return 1
        ffn = -(-scaled // step) * step
        entries.reading.assume("ffn_hidden_size", ffn, f"{scaled} up to a multiple of {step}")
    elif ffn is None:
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
    padded = entries.count("padded_vocab_size", "padded_vocab_size", "pad_vocab_size_to")
    entries.asked.add("make_vocab_size_divisible_by")
    if padded:
        return padded
    plain = entries.count("vocab_size", "vocab_size", "override_vocab_size")
    if plain is None:
        plain = _of_tokenizer(entries)
    if plain is None:
        return None
    plain += entries.count("extra_vocab_size", "extra_vocab_size", least=0) or 0
    if entries.reading.kind in MEGATRON_DEFAULTS:
        plain += data_table("tokenizers.toml")["beside"].get(entries.word("tokenizer_type"), 0)
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


_TOKENIZERS = ("tokenizer_model", "hf_tokenizer", "tokenizer_name_or_path", "tokenizer_path")


def _of_tokenizer(entries: Entries) -> int | None:
    """Return the entries of the vocabulary that the tokenizer tells; else ask for them."""
    table = data_table("tokenizers.toml")
    patched = entries.word("patch_tokenizer_type")
    kind = patched or entries.word("tokenizer_type") or entries.word("library")
    entries.word("tokenizer_type")
    if patched:
        entries.put("should_pad_vocab", False, "the tokenizer's entries and the extra ones")
    entries.word("library")
    found = [entries.entry(name) for name in (*_TOKENIZERS, "tokenizer_type", "vocab_file")]
    words = [str(one.value).lower() for one in found if one is not None and one.known]
    # The name of such a class says nothing of the file that it reads.
    text = " ".join(one for one in words if one not in table["any_file"])
    # A class of tokenizers, such as Llama2Tokenizer, reads the vocabulary that the path names.
    paths = " ".join(str(one.value).lower() for one in found[:-2] if one is not None and one.known)
    named = [size for name, size in table["names"].items() if name in paths]
    usual = table["files"].get(kind, "")
    path = next((str(one.value) for one in found[:-2] if one is not None), usual)
    last = path.rpartition("/")[2]
    if not named and usual and last != usual and last.endswith(".model") and "$" not in last:
        entries.ask("vocab_size", f"{path[-60:]} may be any vocabulary")
        return None
    named = named or [size for name, size in table["names"].items() if name in text]
    if named:
        entries.reading.assume("vocab_size", named[0], f"the tokenizer {text[-60:]}")
        return int(named[0])
    own = entries.entry("vocab_file")
    if own is not None and own.known and (kind or "gpt2bpetokenizer") in table["any_file"]:
        entries.ask("vocab_size", f"{shown(str(own.value)[-60:])} may be any vocabulary")
        return None
    if kind in table["types"] or (not kind and entries.entry("merge_file")):
        size = int(table["types"].get(kind, table["names"]["gpt2"]))
        entries.reading.assume("vocab_size", size, f"the {kind or 'GPT-2'} vocabulary")
        return size
    entries.ask("vocab_size", "the tokenizer alone does not tell")
    return None


def _tied(entries: Entries) -> bool:
    shared = ("share_embeddings_and_output_weights", "tie_word_embeddings")
    if entries.entry(*shared):
        return entries.flag(*shared)
    return not entries.flag("untie_embeddings_and_output_weights")


def _positions(entries: Entries) -> tuple[int, int]:
    """Return the rows of a learned position table and the longest sequence.

    Megatron-LM's default has such a table.
    """
    kind = entries.word("position_embedding_type")
    rotary = any([entries.flag(name) for name in _ROTARY])
    none = any([entries.flag(name) for name in _WITHOUT])
    rows = entries.count("learned_positions", "max_position_embeddings")
    if kind not in _POSITIONS:
        line = entries.line("position_embedding_type")
        raise ConfigError(
            f"{entries.reading.at(line)}: position_embedding_type {kind[:40]!r} is not understood; "
            f"known: {', '.join(filter(None, _POSITIONS))}"
        )
    if rotary or none or kind not in ("", "learned_absolute", "learned"):
        entries.reading.facts.pop("learned_positions", None)
        return 0, rows or 0
    if not kind:
        why = (
            "the default is a learned one, of max_position_embeddings rows"
            if rows
            else "left out: the default is a learned one, but max_position_embeddings is not given"
        )
        entries.reading.assume("position table", rows or 0, why)
    return rows or 0, rows or 0


def _groups(entries: Entries, heads: int) -> int:
    groups = entries.count(
        "num_query_groups", "num_query_groups", "num_key_value_heads", "n_head_kv"
    )
    if entries.word("attention_head_type") == "multiquery":
        return groups or 1
    if entries.entry("group_query_attention"):
        return (groups or 1) if entries.flag("group_query_attention") else heads
    needs_flag = entries.reading.kind in NEEDS_GROUP_FLAG and entries.entry("num_query_groups")
    if groups and groups != heads and needs_flag:
        entries.reading.notes.append(
            "--num-query-groups does nothing without --group-query-attention: every head has its "
            "own keys and values"
        )
        return heads
    return groups or heads


def _traits(entries: Entries) -> dict[str, Any]:
    """Return norm, biases and normalized queries, as far as the file or its software says."""
    norm = entries.word("normalization")
    is_megatron = entries.reading.kind in MEGATRON_DEFAULTS
    bias = entries.entry("add_bias_linear", "bias")
    plain = entries.flag("disable_bias_linear") or not is_megatron
    return {
        "norm": norm or ("layernorm" if is_megatron else ""),
        "linear_bias": entries.flag("add_bias_linear", "bias") if bias is not None else not plain,
        "qkv_bias": entries.flag("add_qkv_bias", "qkv_bias"),
        **activation_traits(entries),
        "qk_norm": any([entries.flag("qk_layernorm"), entries.flag("use_qk_norm")]),
    }


def _window(entries: Entries, layers: int) -> tuple[int, int]:
    """Return the window and how many layers have it."""
    size = _window_size(entries)
    skip = entries.entry("window_attn_skip_freq")
    if not size:
        return 0, 0
    pattern = None if skip is None else layer_pattern(skip.value)
    if pattern is not None:
        return size, min(sum(pattern), layers)
    every = entries.count("window_skip", "window_attn_skip_freq")
    if entries.entry("interleave_sliding_window") is not None:
        every = 2
    return size, layers - layers // every if every else layers


def _window_size(entries: Entries) -> int:
    """Return the keys that a query sees: Megatron-LM counts those before it."""
    names = ("window_tokens", "sliding_window", "interleave_sliding_window")
    whole = entries.count("window_size", *names, least=0)
    entry = entries.entry("window_size")
    if entry is None or not entry.known:
        return whole or 0
    numbers = re.findall(r"-?\d{1,8}", str(entry.value)[:100])
    return int(numbers[0]) + 1 if numbers and int(numbers[0]) > 0 else 0
