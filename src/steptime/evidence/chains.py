"""Finds the chains of actions that can be the longest of a step.

The executor's makespan is the highest of linear forms in F, I and W, each a chain of actions.
With durations whose lower digits count actions, the makespan spells out its own chain. Many
ratios of F, I and W are worked out side by side.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steptime.formulas.schedules.registry import order_of, place_of

Form = tuple[int, int, int]
Forms = NDArray[np.int64]
"""Rows of F, I and W."""
DIGIT = 12
"""Bits for the number of F, of I and of W in a chain; what is above them is its time."""
WIDEST = 4.0
"""The longest of F, I and W over the shortest."""
EXACT: list[Form] = [(1000, 1000, 1000), (1000, 1200, 900), (1000, 2000, 1000)]
"""Ratios at which a table misses nothing: those that papers and tests use."""
TOLERANCE = 0.0037
WIDE_TOLERANCE = 0.0042
"""Of the makespan: what a table may miss, and what it may miss beyond `WIDEST` once settled."""


def ratios(count: int, seed: int = 1, widest: float = WIDEST) -> Forms:
    """Return lengths of F, I and W with no two further apart than ``widest``, a row each.

    Args:
        count: How many.
        seed: Of the draw.
        widest: The longest over the shortest.
    """
    draw = random.Random(seed)
    found = list(EXACT)
    while len(found) < count:
        f, i, w = (int(1000 * widest ** draw.uniform(-0.5, 0.5)) for _ in range(3))
        if max(f, i, w) <= widest * min(f, i, w):
            found.append((f, i, w))
    return np.array(found, dtype=np.int64)


def lattice(steps: int, widest: float = WIDEST) -> Forms:
    """Return `EXACT` and lengths that lie evenly, the widest among them: corners show most chains.

    Args:
        steps: From equal lengths to the widest.
        widest: The longest of F, I and W over the shortest.
    """
    powers = [round(1000 * widest ** (at / steps)) for at in range(steps + 1)]
    every = itertools.product(powers, repeat=3)
    return np.array([*EXACT, *(one for one in every if min(one) == 1000)], dtype=np.int64)


def longest(orders: list[list[int]], stages: int, m: int, lengths: Forms) -> Forms:
    """Return how many F, I and W the longest chain of a step holds, a row for each ratio.

    It walks the graph of `steptime.pipeline.execute`, without sends and pairs.

    Args:
        orders: Action codes of each rank.
        stages: Stages in all, S.
        m: Micro-batches.
        lengths: Of F, I and W, a row for each ratio.
    """
    forward, inputs, weights = (
        (lengths[:, at] << 3 * DIGIT) + (1 << power * DIGIT) for at, power in enumerate((2, 1, 0))
    )
    kinds = (forward, inputs + weights, inputs, weights)
    split = stages * m
    need, slot = (m, m, split + m, 2 * split), (0, 0, split, 0)
    none = np.zeros(len(lengths), dtype=np.int64)
    ready: list[Forms | None] = [none] * m + [None] * (4 * split)
    ends, at = [none for _ in orders], [0 for _ in orders]
    left = sum(map(len, orders))
    while left:
        before = left
        for rank, order in enumerate(orders):
            while at[rank] < len(order):
                code = order[at[rank]]
                kind = (code // m - 1) // stages
                since = ready[code - need[kind]]
                if since is None:
                    break
                ends[rank] = np.maximum(ends[rank], since) + kinds[kind]
                ready[code - slot[kind]] = ends[rank]
                at[rank] += 1
                left -= 1
        if left == before:
            raise ValueError("the ranks wait for one another")
    last = np.max(ends, axis=0)
    digit = (1 << DIGIT) - 1
    return np.stack([last >> power * DIGIT & digit for power in (2, 1, 0)], axis=1)


def idle_chains(name: str, p: int, m: int, v: int, lengths: Forms) -> Forms:
    """Return, for each ratio, the longest chain less the work of a rank.

    Args:
        name: A schedule without pairs.
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.
        lengths: Of F, I and W, a row for each ratio.
    """
    return longest(order_of(place_of(name), p, m, v), p * v, m, lengths) - m * v


def missed_at_most(truth: Forms, m: int, lengths: Forms) -> NDArray[np.float64]:
    """Return how much of each step a table may miss: nothing where a ratio is of `EXACT`.

    Args:
        truth: The longest chain at each ratio, less the work of a rank with two chunks.
        m: Micro-batches.
        lengths: The ratios.
    """
    makespan = (truth * lengths).sum(axis=1) + 2 * m * lengths.sum(axis=1)
    wide = lengths.max(axis=1) > WIDEST * lengths.min(axis=1)
    share = np.where(wide, WIDE_TOLERANCE, TOLERANCE)
    share[[tuple(row) in EXACT for row in lengths.tolist()]] = 0.0
    missed: NDArray[np.float64] = makespan * share
    return missed


def fewest(enough: NDArray[np.bool_]) -> list[int] | None:
    """Return the places of few forms that are good enough everywhere, None where all are not.

    Args:
        enough: Where each form is good enough, a row for each form.
    """
    missing = np.ones(enough.shape[1], dtype=bool)
    if not enough.any(axis=0).all():
        return None
    chosen: list[int] = []
    while missing.any():
        best = int((enough & missing).sum(axis=1).argmax())
        missing &= ~enough[best]
        chosen.append(best)
    return chosen


def spread(known: Sequence[Forms]) -> Forms:
    """Return forms without repeats, in order.

    Args:
        known: Some of them, a row each.
    """
    return np.unique(np.concatenate(known), axis=0)
