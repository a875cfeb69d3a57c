"""A block of actions that every micro-batch of V-Half and V-Min repeats.

In the middle of a step every micro-batch repeats the same block of actions six slots after
the one before it. How far apart a rank's F and I lie in the block is how long it holds the
micro-batch, so the block decides the memory. At both ends the block leaves slots empty:
there actions move to earlier slots, within the block's memory, see `v_pull`.

Also turned into JavaScript: whole numbers, lists and loops only.
"""

from __future__ import annotations

from steptime.formulas.schedules.v_pull import PERIOD, pulled_forward


def block_orders(blocks: list[list[int]], m: int) -> list[list[int]]:
    """Return the orders of a block repeated for each micro-batch, its two ends pulled in.

    Args:
        blocks: Per rank the slots of the first chunk's F, the second's F, its I, and the
            first's I, for micro-batch 0.
        m: Micro-batches.
    """
    p = len(blocks)
    rows = pulled_forward([_laid_out(block, m) for block in blocks], m)
    orders: list[list[int]] = []
    for rank in range(p):
        # Stages of the two chunks: F, then I, then W of the second and of the first.
        first = [rank + 1, 2 * p - rank, 4 * p + 1 + rank, 6 * p - rank]
        first.append(first[2] + 2 * p)
        first.append(first[3] + 2 * p)
        order: list[int] = []
        for item in rows[rank]:
            if item >= 0:
                order.append(first[item // m] * m + item % m)
        orders.append(order)
    return orders


def _laid_out(block: list[int], m: int) -> list[int]:
    """Return what a rank runs in each slot: stream x m + micro-batch, or -1."""
    row = [-1 for _ in range(max(block) + PERIOD * (m - 1) + 1)]
    for stream in range(4):
        for j in range(m):
            row[block[stream] + PERIOD * j] = stream * m + j
    return row
