"""Every layout that a question allows, as arrays, a bounded block at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from steptime.inputs.layout import SCHEDULES
from steptime.planning.cuts import (
    RUN_FIELDS,
    SIZE_FIELDS,
    divisors,
    micro_batch_sizes,
    outer_rule,
    runs_for,
    sizes_for,
)
from steptime.planning.question import Question

ROW_FIELDS = (*SIZE_FIELDS, *RUN_FIELDS)
"""Columns of a row: all that is not a switch (recomputation, ZeRO, sequence parallel)."""

Rows = NDArray[np.float64]
Drop = Callable[[int, list[int], int], None]


def num_experts(question: Question) -> int:
    """Return the experts of a layer, 0 in a dense model."""
    return question.model.experts.num_experts if question.model.experts else 0


def row_blocks(question: Question, most_rows: int, drop: Drop | None = None) -> Iterator[Rows]:
    """Yield rows of `ROW_FIELDS`, at most about ``most_rows`` at a time.

    Rows that break a rule together with their micro-batch or chunks are still in.

    Args:
        question: What is asked.
        most_rows: Bound of a block.
        drop: Told of sizes that can never be cut: rule, sizes, and the rows they stand for.
    """
    devices, layers = question.num_devices, question.model.num_layers
    heads, length = question.model.num_attention_heads, question.seq_length
    tried = [float(SCHEDULES.index(name)) for name in question.schedules]
    asked = sorted(set(question.micro_batch_sizes))
    micro = micro_batch_sizes(asked, question.global_batch_size)
    for pp in divisors(devices):
        # More stages than layers have no runs; `sizes_over_layers` counts them.
        inner = runs_for(layers, pp, tried, micro)
        if not inner:
            continue
        inner_rows = np.array(inner, dtype=np.float64)
        outer: list[list[int]] = []
        for sizes in _sizes(question, pp):
            rule = outer_rule(sizes, heads, length)
            if rule:
                if drop:
                    drop(rule, sizes, len(inner))
                continue
            outer.append(sizes)
            if len(outer) * len(inner) >= most_rows:
                yield _crossed(outer, inner_rows)
                outer = []
        if outer:
            yield _crossed(outer, inner_rows)


def _sizes(question: Question, pp: int) -> Iterator[list[int]]:
    """Yield the sizes of every layout with ``pp`` stages that takes up all devices."""
    copies = list(question.dp_replicates)
    for tp in divisors(question.num_devices // pp):
        yield from sizes_for(question.num_devices, pp, tp, copies, num_experts(question))


def _crossed(outer: list[list[int]], inner: Rows) -> Rows:
    """Return every pair of an outer and an inner row, side by side."""
    left = np.repeat(np.array(outer, dtype=np.float64), len(inner), axis=0)
    return np.hstack([left, np.tile(inner, (len(outer), 1))])
