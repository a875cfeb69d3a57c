"""Every layout that a question allows, as arrays, a bounded block at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from steptime.formulas.schedule import entry_number
from steptime.inputs.layout import SCHEDULES
from steptime.planning.cuts import (
    chunk_counts,
    divisors,
    expert_splits,
    micro_batch_sizes,
    outer_rule,
    schedules_for,
    sizes_of,
)
from steptime.planning.cuts import sizes_over_layers as over_layers
from steptime.planning.grid import ROW_FIELDS as ROW_FIELDS
from steptime.planning.grid import Grid, Rows
from steptime.planning.question import Question

COPIES = (1,)
"""Of what is sharded, tried where nobody names any."""
Drop = Callable[[int, list[int], int], None]


def num_experts(question: Question) -> int:
    """Return the experts of a layer, 0 in a dense model."""
    return question.model.experts.num_experts if question.model.experts else 0


def chunks_tried(question: Question, pp: int) -> list[int]:
    """Return the chunk counts to try: those asked for that leave no chunk empty, or all.

    Args:
        question: May pin them.
        pp: Stages, p.
    """
    layers = question.model.num_layers
    pinned = question.sizes("vpp")
    if not pinned:
        return chunk_counts(layers, pp)
    return sorted({size for size in pinned if (size == 1 if pp == 1 else size * pp < layers + pp)})


def expert_splits_tried(question: Question, tp: int, stage_ranks: int) -> list[list[int]]:
    """Return the pairs of ep and etp to try: those asked for, or all.

    Args:
        question: May pin them.
        tp: Tensor-parallel size.
        stage_ranks: Ranks of one pipeline stage, t c d.
    """
    experts = num_experts(question)
    every = [
        one for one in expert_splits(experts, tp, stage_ranks) if question.allows("ep", one[0])
    ]
    pinned = question.sizes("etp")
    if not (pinned and experts):
        return every
    return [[ep, etp] for ep in dict.fromkeys(one[0] for one in every) for etp in pinned]


def grids(question: Question, most_rows: int, drop: Drop | None = None) -> Iterator[Grid]:
    """Yield every combination of sizes, chunks and micro-batches, about ``most_rows`` at a time.

    Combinations that break a rule together are still in.

    Args:
        question: What is asked.
        most_rows: Bound of a grid.
        drop: Told of sizes that can never be cut: rule, sizes, and the rows they stand for.
    """
    layers = question.model.num_layers
    tried = [float(SCHEDULES.index(name)) for name in question.schedules]
    for pp in divisors(question.num_devices):
        if pp > layers or not question.allows("pp", pp):
            # Counted by `sizes_over_layers`, as no chunk count exists for them.
            continue
        held = [
            (float(chunks), schedule)
            for chunks in chunks_tried(question, pp)
            for schedule in schedules_for(tried, pp, chunks, bool(question.sizes("vpp")))
        ]
        # DualPipe's two copies of a weight are shared out by other ranks.
        for copies in sorted({entry_number("copies", schedule) for _, schedule in held}):
            alike = [one for one in held if entry_number("copies", one[1]) == copies]
            yield from _grids_of(question, pp, alike, most_rows, drop)


def _grids_of(
    question: Question,
    pp: int,
    held: list[tuple[float, float]],
    most_rows: int,
    drop: Drop | None,
) -> Iterator[Grid]:
    """Yield the grids of one number of stages and some chunks and schedules."""
    asked = sorted(set(question.micro_batch_sizes))
    micro = np.array(micro_batch_sizes(asked, question.global_batch_size), dtype=np.float64)
    inner = len(held) * len(micro)
    outer: list[list[int]] = []
    for sizes in _sizes(question, question.num_devices, pp):
        rule = outer_rule(sizes, question.model.num_attention_heads, question.seq_length)
        if rule:
            if drop:
                drop(rule, sizes, inner)
            continue
        outer.append(sizes)
        if len(outer) * inner >= most_rows:
            yield Grid(np.array(outer, dtype=np.float64), np.array(held), micro)
            outer = []
    if outer:
        yield Grid(np.array(outer, dtype=np.float64), np.array(held), micro)


def row_blocks(question: Question, most_rows: int, drop: Drop | None = None) -> Iterator[Rows]:
    """Yield the combinations of `grids` one after another, as rows of `ROW_FIELDS`.

    Args:
        question: What is asked.
        most_rows: Bound of a block.
        drop: As in `grids`.
    """
    for grid in grids(question, most_rows, drop):
        yield grid.rows()


def _sizes(question: Question, devices: int, pp: int) -> Iterator[list[int]]:
    """Yield the sizes asked for that take up all devices, in the order of `SIZE_FIELDS`."""
    copies = list(question.sizes("dp_replicate") or COPIES)
    for tp in divisors(devices // pp):
        if not question.allows("tp", tp):
            continue
        splits = expert_splits_tried(question, tp, devices // pp)
        for sizes in sizes_of(devices // pp, pp, tp, copies, splits):
            if question.allows("cp", sizes[1]) and question.allows("dp", sizes[3]):
                yield sizes


def sizes_over_layers(question: Question) -> int:
    """Return the (t, c, p, d) with more stages than layers: none of their layouts is tried."""
    stages = [pp for pp in divisors(question.num_devices) if question.allows("pp", pp)]
    return over_layers(question.num_devices, question.model.num_layers, stages)
