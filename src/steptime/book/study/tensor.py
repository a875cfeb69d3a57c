"""§13: tensor parallelism, claim by claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steptime.book.study.claims import Claim, Slices, sent_bytes, slices, tried
from steptime.formulas.traffic import tensor_all_reduces_per_layer
from steptime.parallel import layer, tensor, vocabulary
from steptime.parallel.program import Program

VIEWS = {"x": (1, 2), "w_qkv": (0, 2), "w_o": (0, 2), "w_in": (0, 1), "w_out": (0, 1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorStudy:
    """What §13 shows.

    Attributes:
        claims: Programs split by hand.
        annotated: The same, split by the compiler from annotations alone.
        layer_counts: Recomputation, all-reduces of the step model, all-reduces compiled.
        slices: Which device holds what of a layer.
        sent: Bytes from each device to each other in a layer, shape ``(t, t)``.
    """

    claims: Sequence[Claim]
    annotated: Sequence[Claim]
    layer_counts: Sequence[tuple[str, int, int]]
    slices: Sequence[Slices]
    sent: np.ndarray


def tensor_study(
    *,
    tensor_parallel_size: int,
    hidden_size: int,
    num_attention_heads: int,
    micro_batch_size: int,
    seq_length: int,
    vocab_size: int,
) -> TensorStudy:
    """Return every claim about tensor parallelism, run on ``tensor_parallel_size`` devices.

    Args:
        tensor_parallel_size: Devices, t.
        hidden_size: Width of the residual stream, h.
        num_attention_heads: Query heads.
        micro_batch_size: Sequences, b.
        seq_length: Tokens of each, s.
        vocab_size: Entries of the vocabulary, V.

    Raises:
        ConfigError: If the sizes cannot be cut so.
    """
    t = tensor_parallel_size
    batch = {"micro_batch_size": micro_batch_size, "seq_length": seq_length}
    sizes = {"tensor_parallel_size": t, "hidden_size": hidden_size} | batch
    heads: dict[str, Any] = {"num_attention_heads": num_attention_heads} | sizes
    wide = {"ffn_hidden_size": 4 * hidden_size} | sizes
    words = {"vocab_size": vocab_size} | sizes
    blocks = {name: tensor.feed_forward(activation=name, **wide) for name in ("gelu", "swiglu")}
    groups = [g for g in (t // 2, t, 2 * t) if g and num_attention_heads % g == 0]
    claims = [
        tried(f"feed-forward, {name}: one all-reduce each way", one) for name, one in blocks.items()
    ]
    claims += [
        tried(attention_claim(g, t), tensor.attention(num_query_groups=g, **heads)) for g in groups
    ]
    claims += [
        tried("embedding: one all-reduce, forward only", vocabulary.embedding(**words)),
        tried("cross-entropy: three numbers a token", vocabulary.loss(**words)),
    ]
    layers = {
        recompute: tried(text, layer.layer(recompute=recompute, **heads))
        for recompute, text in (
            ("none", "whole layer: two all-reduces each way"),
            ("full", "whole layer, recomputed: one more"),
        )
    }
    whole = layers["none"]
    return TensorStudy(
        claims=[*claims, *layers.values()],
        annotated=annotated(blocks, whole, tensor.attention(num_query_groups=groups[-1], **heads)),
        layer_counts=[layer_count(name, claim) for name, claim in layers.items()],
        slices=slices(whole.block, VIEWS),
        sent=sent_bytes(whole),
    )


def attention_claim(num_query_groups: int, tensor_parallel_size: int) -> str:
    """Return what is claimed of attention with so many K/V heads."""
    more = num_query_groups < tensor_parallel_size
    gradients = ", and gradients of shared K and V" if more else ""
    return f"attention, {num_query_groups} K/V heads: one all-reduce each way{gradients}"


def annotated(blocks: dict[str, Program], whole: Claim, heads: Program) -> list[Claim]:
    """Return the same programs, unsplit, with nothing but annotations for the compiler.

    Args:
        blocks: The feed-forward networks, by activation.
        whole: The layer.
        heads: Attention.
    """
    tries = {f"feed-forward, {name}": one for name, one in blocks.items()}
    tries |= {"attention, Q, K, V apart": heads, "whole layer, Q, K, V in one": whole.block}
    return [tried(text, one, annotations_only=True) for text, one in tries.items()]


def layer_count(recompute: str, claim: Claim) -> tuple[str, int, int]:
    """Return the all-reduces of a layer and micro-batch: as the step model counts, as compiled.

    Args:
        recompute: none or full.
        claim: The layer.
    """
    model = tensor_all_reduces_per_layer(float(recompute == "full"))
    return recompute, int(model), sum(line.measured for line in claim.lines)
