"""Every layout that a question allows, as arrays, a bounded block at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from steptime.formulas.schedule import entry_number
from steptime.inputs.layout import SCHEDULES
from steptime.pipeline.build import fixed_chunks
from steptime.planning.grid import ROW_FIELDS as ROW_FIELDS
from steptime.planning.grid import Grid, Rows
from steptime.planning.question import Question

MOST_EXPERT_SIZES = 24


def divisors(number: int) -> list[int]:
    """Return all divisors of a number, in order."""
    small = [size for size in range(1, int(number**0.5) + 1) if number % size == 0]
    return small + [number // size for size in reversed(small) if size * size != number]


def chunk_counts(num_layers: int, pp: int) -> list[int]:
    """Return the numbers of chunks worth trying: the smallest for each chunk length.

    Args:
        num_layers: Layers, l.
        pp: Stages, p.
    """
    if pp == 1:
        return [1]
    most = -(-num_layers // pp)
    lengths = range(1, most + 1)
    return sorted({-(-num_layers // (pp * length)) for length in lengths})


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


def micro_batch_sizes(question: Question) -> list[int]:
    """Return the micro-batch sizes to try."""
    if question.micro_batch_sizes:
        return sorted(set(question.micro_batch_sizes))
    return [size for size in (1, 2, 4, 8, 16, 32, 64) if size <= question.global_batch_size]


def schedules_for(question: Question, pp: int, chunks: int) -> list[float]:
    """Return the codes of the schedules that run ``chunks`` chunks on ``pp`` stages."""
    if pp == 1:
        return [float(SCHEDULES.index("1f1b"))]
    names = [
        name
        for name in question.schedules
        if (chunks == fixed_chunks(name) if fixed_chunks(name) else chunks > 1)
    ]
    return [float(SCHEDULES.index(name)) for name in names]


def expert_splits(question: Question, tp: int, stage_ranks: int) -> list[tuple[int, int]]:
    """Return the (ep, etp) pairs to try for a tensor-parallel size.

    Args:
        question: Gives the experts.
        tp: Tensor-parallel size.
        stage_ranks: Ranks of one pipeline stage, t c d.
    """
    if question.model.experts is None:
        return [(1, 1)]
    sizes = [size for size in divisors(question.model.experts.num_experts) if size <= stage_ranks]
    sizes = [size for size in sizes if question.allows("ep", size)]
    inner = list(question.sizes("etp")) or sorted({1, tp})
    return [(ep, etp) for ep in sizes[:MOST_EXPERT_SIZES] for etp in inner]


def outer_rule(question: Question, sizes: tuple[int, ...]) -> int:
    """Return the rule of `layout_fault` that sizes break whatever the rest is, 0 if none.

    It is asked first, so that a space with many odd divisors is not spelt out in vain.

    Args:
        question: Gives heads and sequence.
        sizes: As in ``ROW_FIELDS``, up to ``vpp``.
    """
    tp, cp, _, dp, copies, ep, etp = sizes
    if question.model.num_attention_heads % tp:
        return 4
    if question.seq_length % cp:
        return 5
    if dp % copies:
        return 9
    return 8 if (tp * cp * dp) % (ep * etp) else 0


Drop = Callable[[int, tuple[int, ...], int], None]


def grids(question: Question, most_rows: int, drop: Drop | None = None) -> Iterator[Grid]:
    """Yield every combination of sizes, chunks and micro-batches, about ``most_rows`` at a time.

    Combinations that break a rule together are still in.

    Args:
        question: What is asked.
        most_rows: Bound of a grid.
        drop: Told of sizes that can never be cut: rule, sizes, and the rows they stand for.
    """
    layers = question.model.num_layers
    for pp in divisors(question.num_devices):
        if pp > layers or not question.allows("pp", pp):
            # Counted by `sizes_over_layers`, as no chunk count exists for them.
            continue
        held = [
            (float(chunks), schedule)
            for chunks in chunks_tried(question, pp)
            for schedule in schedules_for(question, pp, chunks)
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
    micro = np.array(micro_batch_sizes(question), dtype=np.float64)
    inner = len(held) * len(micro)
    outer: list[tuple[int, ...]] = []
    for sizes in _sizes(question, question.num_devices, pp):
        rule = outer_rule(question, sizes)
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


def _sizes(question: Question, devices: int, pp: int) -> Iterator[tuple[int, ...]]:
    """Yield the sizes that take up all devices, in the order of ``ROW_FIELDS`` up to ``vpp``."""
    for tp in divisors(devices // pp):
        if not question.allows("tp", tp):
            continue
        splits = expert_splits(question, tp, devices // pp)
        for cp in divisors(devices // pp // tp):
            dp = devices // pp // tp // cp
            if not (question.allows("cp", cp) and question.allows("dp", dp)):
                continue
            for copies in question.dp_replicates:
                for ep, etp in splits:
                    yield tp, cp, pp, dp, copies, ep, etp


def sizes_over_layers(question: Question) -> int:
    """Return the (t, c, p, d) with more stages than layers: none of their layouts is tried."""
    return sum(
        len(divisors(devices // tp))
        for pp in divisors(question.num_devices)
        if pp > question.model.num_layers and question.allows("pp", pp)
        for devices in [question.num_devices // pp]
        for tp in divisors(devices)
    )
