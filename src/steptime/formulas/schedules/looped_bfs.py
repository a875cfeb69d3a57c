"""Looped breadth-first: GPipe with several chunks a rank.

Also turned into JavaScript, and its formulas run on arrays.
"""

from __future__ import annotations

from steptime.formulas.number import Number
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.forms import held, late_chunks

LOOPED_BFS = {
    "name": "looped-bfs",
    "title": "Looped breadth-first",
    "inventor": "Lamy-Poirier, 2023",
    "source": "lamypoirier2023, its breadth-first schedule",
    "constraints": "any p, m, v",
    "splits_backward": False,
    "bubble": "(p - 1)(F + B) / v, where m >= p",
    "activations": "m",
    "idea": "All micro-batches pass one chunk, then the next: GPipe's idle time over v.",
    "torchtitan": "LoopedBFS",
    "chunks": 0.0,
    "single": "gpipe",
    "whole_rounds": 0.0,
    "even": 0.0,
    "two_each": 0.0,
    "vee": 0.0,
    "copies": 1.0,
    "pairs": 0.0,
}


def looped_bfs_order(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of looped breadth-first: every micro-batch through a chunk, then the next.

    Backwards run from the last micro-batch to the first, so that the gradients of a chunk
    are complete early and their reduction can start.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        lamypoirier2023, its breadth-first schedule.
    """
    stages = p * v
    orders = []
    for rank in range(p):
        order: list[int] = []
        for chunk in range(v):
            base = (chunk * p + rank + 1) * m
            order.extend(range(base, base + m))
        for chunk in range(v - 1, -1, -1):
            base = (2 * stages - chunk * p - rank) * m
            order.extend(range(base + m - 1, base - 1, -1))
        orders.append(order)
    return orders


def looped_bfs_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        lamypoirier2023, its breadth-first schedule; derived here for fewer micro-batches than
        ranks.
    """
    wait = p - 1.0 + late_chunks(p, m, v)
    return [[wait, wait, wait]]


def looped_bfs_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        lamypoirier2023, its breadth-first schedule.
    """
    return held(m * v, 0.0, m * v)
