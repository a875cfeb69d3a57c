"""ZB-V: two chunks a rank, the second in reverse rank order.

Also turned into JavaScript, and its formulas run on arrays.
"""

from __future__ import annotations

from steptime.formulas.number import Number, maximum, minimum
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.forms import held

ZB_V = {
    "name": "zb-v",
    "title": "ZB-V",
    "inventor": "Qi et al., 2024",
    "source": "qi2023, Sec. 6",
    "constraints": "v = 2",
    "splits_backward": True,
    "bubble": "0 on each rank's own span where F = I = W and m >= 3p/2",
    "activations": "p",
    "idea": "Two chunks a GPU, folded into a V: no idle time in 1F1B's memory.",
    "torchtitan": "ZBVZeroBubble",
    "chunks": 2.0,
    "whole_rounds": 0.0,
    "even": 0.0,
    "two_each": 0.0,
    "vee": 1.0,
    "copies": 1.0,
    "pairs": 0.0,
}


def zb_v_order(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of ZB-V: no bubble on any rank, in 1F1B's memory.

    The last chunk sits on the first rank, so a backward starts p forwards earlier than in a
    loop. With fewer than ``2 p - 1`` micro-batches the order is that of ``2 p - 1`` with
    the missing ones left out.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 2 here.

    References:
        qi2023, Sec. 6 and Fig. 7.
    """
    return [_zb_v_rank(p, m, rank) for rank in range(p)]


def zb_v_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        derived here.
    """
    r = p - 1.0
    few = maximum(p - m, 0.0)
    some = maximum(minimum(m - p, r), 0.0)
    left = r - some
    once = minimum(some, 1.0)
    early = r - few
    return [
        [2.0 * few, 2.0 * r, -2.0 * some],
        [r + some + few, r - 2.0 * some + few, -minimum(some, left + 1.0)],
        [2.0 * r, 2.0 * few, -2.0 * early - once],
        [2.0 * r, 2.0 * r - 3.0 * early, -minimum(early, 2.0 * left + 1.0)],
        [0.0, 2.0 * left, 0.0],
        [0.0, r + left, -left],
        [0.0, left + 1.0, some - 1.0],
        [left, left, 0.0],
        [r - 1.0 + some, left + 1.0, -2.0 * some],
        [r + some, left, -2.0 * some - 1.0],
        [2.0 * r, -some, -minimum(r + left, 3.0 * left + 1.0)],
        [left + once, 0.0, some - 1.0],
        [r - 1.0 + some, 1.0 - some, 0.0],
        [r + some, -some, -1.0],
        [r - 1.0 + some, r + 1.0 - 2.0 * some, -left],
    ]


def zb_v_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        derived here.
    """
    return held(2.0 * p, 0.0, m + 1.0)


def _zb_v_rank(p: int, m: int, rank: int) -> list[int]:
    stages = 2 * p
    split = stages * m
    down, up = (rank + 1) * m, (stages - rank) * m  # F codes of the two chunks
    down_input, up_input = (3 * stages - rank) * m, (2 * stages + 1 + rank) * m
    order: list[int] = []
    full = max(m, 2 * p - 1)
    # Which micro-batch each of the six streams is at.
    lead = 2 * (p - rank) - 1
    for j in range(lead):
        _add(order, down, j, m)
    for j in range(rank):
        _add(order, up, j, m)
        _add(order, down, lead + j, m)
    for j in range(p - rank):
        _add(order, up, rank + j, m)
        _add(order, up_input, j, m)
        _add(order, up_input + split, j, m)
    back = p - rank
    for j in range(full - p):
        if lead + rank + j < full:
            _add(order, down, lead + rank + j, m)
        _add(order, down_input, j, m)
        _add(order, down_input + split, j, m)
        _add(order, up, p + j, m)
        _add(order, up_input, back + j, m)
        _add(order, up_input + split, back + j, m)
    for j in range(rank):
        _add(order, down_input, full - p + j, m)
        _add(order, up_input, back + full - p + j, m)
    for j in range(back):
        _add(order, down_input, full - back + j, m)
        _add(order, down_input + split, full - p + j, m)
    for j in range(rank):
        _add(order, up_input + split, full - rank + j, m)
    for j in range(rank):
        _add(order, down_input + split, full - rank + j, m)
    return order


def _add(order: list[int], base: int, micro_batch: int, m: int) -> None:
    if micro_batch < m:
        order.append(base + micro_batch)
