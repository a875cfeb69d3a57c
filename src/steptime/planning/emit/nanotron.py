"""A training file of nanotron."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout, num_microbatches
from steptime.inputs.model import ModelShape
from steptime.planning.emit.activations import HUGGING_FACE, check_usual, word_of
from steptime.planning.emit.names import (
    headline,
    norm_of,
    started,
    vocabulary_step,
)

_ENGINES = {"1f1b": "1f1b", "gpipe": "afab"}
_ANY = "1f1b"
"""On one stage, where a schedule means nothing."""


def nanotron_yaml(
    model: ModelShape, layout: Layout, batch: Batch, words: Mapping[str, Any], node_size: int
) -> str:
    """Return the file.

    Args:
        model: The shape.
        layout: The layout.
        batch: The batch.
        words: What the file says of its software, by our name of the key.
        node_size: GPUs of a server.

    Raises:
        ConfigError: If nanotron cannot run the layout, or has no such model.
    """
    _check(model, layout)
    lines = [
        f"# {headline(model, layout)}",
        started(layout, node_size),
        "model:",
        "  dtype: bfloat16",
        f"  make_vocab_size_divisible_by: {vocabulary_step(model, layout)}",
        "  model_config:",
        "    is_llama_config: true",
        f"    hidden_act: {word_of('nanotron', HUGGING_FACE, model, 'emit megatron-bridge')}",
        f"    hidden_size: {model.hidden_size}",
        f"    intermediate_size: {model.ffn_hidden_size}",
        f"    max_position_embeddings: {batch.seq_length}",
        f"    num_attention_heads: {model.num_attention_heads}",
        f"    num_hidden_layers: {model.num_layers}",
        f"    num_key_value_heads: {model.num_query_groups}",
        f"    tie_word_embeddings: {str(model.tied).lower()}",
        f"    vocab_size: {model.vocab_size}",
        "optimizer:",
        f"  zero_stage: {layout.zero_stage}",
        "  accumulate_grad_in_fp32: true",
        "parallelism:",
        f"  dp: {layout.dp}",
        f"  pp: {layout.pp}",
        f"  tp: {layout.tp}",
        f"  context_parallel_size: {layout.cp}",
        f"  pp_engine: {_ENGINES.get(layout.schedule, _ANY)}",
        f"  tp_mode: {'REDUCE_SCATTER' if layout.sequence_parallel else 'ALL_REDUCE'}",
        f"  tp_linear_async_communication: {str(layout.sequence_parallel).lower()}",
        f"  recompute_layer: {str(layout.recompute == 'full').lower()}",
        "tokens:",
        f"  batch_accumulation_per_replica: {num_microbatches(layout, batch)}",
        f"  micro_batch_size: {batch.micro_batch_size}",
        f"  sequence_length: {batch.seq_length}",
    ]
    return "\n".join(lines) + "\n"


def _check(model: ModelShape, layout: Layout) -> None:
    """Refuse what nanotron has no key for."""
    check_usual("nanotron", model, "emit megatron")
    is_llama = model.gated and norm_of(model) == "rmsnorm" and not model.learned_positions
    plain = not (model.linear_bias or model.qkv_bias or model.qk_norm)
    if not is_llama or not plain or model.experts or model.latent_attention:
        raise ConfigError(
            f"nanotron's Llama has no biases, normalized queries, experts or latent attention, as "
            f"{model.name} has; emit megatron"
        )
    if model.head_dim * model.num_attention_heads != model.hidden_size:
        raise ConfigError(f"nanotron's heads are hidden_size / heads wide, not {model.head_dim}")
    if model.windowed_layers:
        # tazi2025, src/nanotron/config/models_config.py at 2411b022: LlamaConfig has no such key.
        raise ConfigError(
            f"nanotron's Llama has no windows of attention, as {model.name} has; emit megatron"
        )
    if layout.zero_stage > 1:
        raise ConfigError("nanotron shares no gradients or weights; choose --zero 0 or --zero 1")
    if layout.precision != "bf16":
        raise ConfigError(f"nanotron has no precision={layout.precision!r}; use bf16")
