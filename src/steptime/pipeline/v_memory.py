"""V-Half and V-Min: the V of ZB-V, spaced so that half or a third of the memory is enough.

In the middle of a step every micro-batch repeats the same block of actions six slots after
the one before it. How far apart a rank's F and I lie in the block is how long it holds the
micro-batch, so the block decides the memory. At both ends the block leaves slots empty:
there actions move to earlier slots, within the block's memory, see `v_pull`.

Also turned into JavaScript: whole numbers, lists and loops only.
"""

from __future__ import annotations

from steptime.pipeline.v_pull import PERIOD, pulled_forward


def v_half(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of V-Half: about half of 1F1B's memory, half of its bubble.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 2 here.

    References:
        qi2024, Sec. 3.2 and Fig. 4; zbpp2025, zbv_greedy.py (the block of an even p).
    """
    # Keeps a rank's backwards out of its forwards' slots.
    gap = 3 if p % 2 == 0 else 0
    blocks = []
    for rank in range(p):
        turn = 3 * p - 1
        blocks.append(
            [2 * rank, turn - 1 - rank, turn + gap + 2 * rank, 2 * turn + gap - rank]
        )
    return block_orders(blocks, m)


def v_min(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of V-Min: about a third of 1F1B's memory, two thirds of its bubble.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 2 here.

    References:
        qi2024, Sec. 3.2 and Fig. 4; zbpp2025, zbv_greedy.py (the block where 3 divides p).
    """
    gap = 2 if p % 3 == 0 else 0
    blocks = []
    for rank in range(p):
        turn = 2 * p
        blocks.append([rank, turn - 1 - rank, turn + gap + rank, 2 * turn + gap - 1 - rank])
    return block_orders(blocks, m)


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
