"""V-shaped zero-bubble schedules: two chunks a rank, the second in reverse rank order.

Also turned into JavaScript: whole numbers, lists and loops only.
"""

from __future__ import annotations


def zb_v(p: int, m: int, v: int) -> list[list[int]]:
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
