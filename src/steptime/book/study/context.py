"""§14: sequence and context parallelism, claim by claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steptime.book.study.claims import Claim, Slices, own_sent_bytes, sent_bytes, slices, tried
from steptime.formulas import causal
from steptime.parallel import context, layer
from steptime.parallel.kept import Kept, kept

LAYER_VIEWS = {"x": (1, 2), "w_in": (0, 1), "w_out": (0, 1)}
RING_VIEWS = {"query": (1, 2), "key": (1, 2)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Who does how much of a causal attention, in (query, key) pairs.

    Attributes:
        order: contiguous or zigzag.
        by_step: Counted on each device in each ring step, shape ``(c, c)``, devices first.
        formula: Pairs of each device.
        ring_formula: Pairs on the ring's critical path.
    """

    order: str
    by_step: np.ndarray
    formula: np.ndarray
    ring_formula: float

    @property
    def ring_pairs(self) -> int:
        """Pairs of the busiest device of each step, added up: what the ring waits for."""
        return int(self.by_step.max(0).sum())

    @property
    def efficiency(self) -> float:
        """Mean work over what the ring waits for."""
        return float(self.by_step.sum() / len(self.by_step) / self.ring_pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextStudy:
    """What §14 shows.

    Attributes:
        sequence: The layer, with sequence parallelism.
        attention: The three forms of attention over a cut sequence.
        by_hand: The layer and the all-gather form, once more.
        annotated: The same two, split by the compiler from annotations alone.
        memory: Kept activations, formula and compiler.
        work: Work per device, for each order of tokens.
        slices: Which device holds which tokens.
        sent: Bytes from each device to each other, for each form.
    """

    sequence: Sequence[Claim]
    attention: Sequence[Claim]
    by_hand: Sequence[Claim]
    annotated: Sequence[Claim]
    memory: Sequence[Kept]
    work: Sequence[Work]
    slices: Sequence[Slices]
    sent: Sequence[tuple[str, np.ndarray]]

    @property
    def annotated_ratio(self) -> float:
        """Bytes of the layer left to annotations, over those of the layer split by hand."""
        return own_sent_bytes(self.annotated[0]) / own_sent_bytes(self.by_hand[0])

    @property
    def kept_equal(self) -> str:
        """How many rows of kept activations are equal, of how many."""
        return f"{sum(one.equal for one in self.memory)} of {len(self.memory)}"


def context_study(
    *,
    tensor_parallel_size: int,
    context_parallel_size: int,
    hidden_size: int,
    num_attention_heads: int,
    num_query_groups: int,
    micro_batch_size: int,
    seq_length: int,
) -> ContextStudy:
    """Return every claim about sequence and context parallelism, run.

    Args:
        tensor_parallel_size: Devices of the layer with sequence parallelism, t.
        context_parallel_size: Devices of the attention, c.
        hidden_size: Width of the residual stream, h.
        num_attention_heads: Query heads.
        num_query_groups: Key and value heads of the attention.
        micro_batch_size: Sequences, b.
        seq_length: Tokens of each, s.

    Raises:
        ConfigError: If the sizes cannot be cut so.
    """
    batch = {"micro_batch_size": micro_batch_size, "seq_length": seq_length}
    width = {"hidden_size": hidden_size, "num_attention_heads": num_attention_heads}
    cut: dict[str, Any] = {"tensor_parallel_size": tensor_parallel_size} | width | batch
    sequence = [
        tried(text, layer.layer(sequence_parallel=True, recompute=recompute, **cut))
        for recompute, text in (
            ("none", "layer: all-gather in, reduce-scatter out"),
            ("full", "layer, recomputed: one reduce-scatter more"),
        )
    ]
    attention = attention_claims(
        context_parallel_size=context_parallel_size,
        num_attention_heads=num_attention_heads,
        num_query_groups=num_query_groups,
        head_dim=hidden_size // num_attention_heads,
        **batch,
    )
    by_hand = [sequence[0], attention[1]]
    return ContextStudy(
        sequence=sequence,
        attention=attention,
        by_hand=by_hand,
        annotated=[tried(one.text, one.block, annotations_only=True) for one in by_hand],
        memory=memory(cut),
        work=[work(order, seq_length, context_parallel_size) for order in context.ORDERS],
        slices=slices(sequence[0].block, LAYER_VIEWS, ", layer")
        + slices(attention[0].block, RING_VIEWS, ", ring"),
        sent=[("layer", sent_bytes(sequence[0]))]
        + [(claim.program.name.split(",")[0], sent_bytes(claim)) for claim in attention],
    )


def attention_claims(**sizes: Any) -> list[Claim]:
    """Return the three forms of attention over a cut sequence, in zigzag order.

    Args:
        **sizes: Of `steptime.parallel.context.attention`.
    """
    texts = {
        "ring": "ring: K and V go round; back, their gradients with them",
        "all-gather": "all-gather: K and V once, their gradients once",
        "all-to-all": "all-to-all: tokens to heads and back",
    }
    return [
        tried(text, context.attention(form=form, order="zigzag", **sizes))
        for form, text in texts.items()
    ]


def memory(cut: dict[str, Any]) -> list[Kept]:
    """Return kept activations with and without sequence parallelism and selective recomputation.

    Args:
        cut: Sizes of the layer.
    """
    return [
        kept(sequence_parallel=sequence_parallel, recompute=recompute, **cut)
        for recompute in ("none", "selective")
        for sequence_parallel in (False, True)
    ]


def work(order: str, seq_length: int, context_parallel_size: int) -> Work:
    """Return who does how much, as counted on the devices and as the formulas say.

    Args:
        order: contiguous or zigzag.
        seq_length: Tokens, s.
        context_parallel_size: Devices, c.
    """
    length, c = float(seq_length // context_parallel_size), float(context_parallel_size)
    ranks = np.arange(c)
    contiguous = order == "contiguous"
    return Work(
        order=order,
        by_step=context.pairs_by_step(order, seq_length, context_parallel_size),
        formula=np.asarray(causal.contiguous_pairs(length, ranks))
        if contiguous
        else causal.zigzag_pairs(length, c) + 0.0 * ranks,
        ring_formula=float(causal.contiguous_ring_pairs(length, c))
        if contiguous
        else float(causal.zigzag_ring_pairs(length, c)),
    )
