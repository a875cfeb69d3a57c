"""V-Half and V-Min: the V of ZB-V, spaced so that half or a third of the memory is enough.

Every micro-batch repeats the same block of actions six slots after the one before it. How
far apart the four F and I of the block lie on a rank is how long that rank holds the
micro-batch, so the block decides the memory. W goes into the slots that stay empty.

Also turned into JavaScript: whole numbers, lists and loops only.
"""

from __future__ import annotations


def v_half(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of V-Half: about half of 1F1B's memory, half of its bubble.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 2 here.

    References:
        qi2024memory, Sec. 3.2 and Fig. 4.
    """
    gap = 3 if p % 2 == 0 else 0  # keeps the four streams of a rank out of each other's slots
    orders = []
    for rank in range(p):
        block = [
            2 * rank,
            3 * p - rank - 2,
            3 * p + gap + 2 * rank - 1,
            6 * p + gap - rank - 2,
        ]
        orders.append(repeat_block(block, p, m, rank))
    return orders


def v_min(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of V-Min: about a third of 1F1B's memory, two thirds of its bubble.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 2 here.

    References:
        qi2024memory, Sec. 3.2 and Fig. 4.
    """
    gap = 2 if p % 3 == 0 else 0
    orders = []
    for rank in range(p):
        block = [rank, 2 * p - rank - 1, 2 * p + gap + rank, 4 * p + gap - rank - 1]
        orders.append(repeat_block(block, p, m, rank))
    return orders


def repeat_block(block: list[int], p: int, m: int, rank: int) -> list[int]:
    """Return a rank's order: its block repeated every six slots, W in the empty ones.

    Args:
        block: Slots of the first chunk's F, the second's F, its I, and the first's I.
        p: Pipeline ranks.
        m: Micro-batches.
        rank: Whose.
    """
    stages = 2 * p
    base = [
        (rank + 1) * m,
        (stages - rank) * m,
        (2 * stages + 1 + rank) * m,
        (3 * stages - rank) * m,
    ]
    taken = [0, 0, 0, 0]
    order: list[int] = []
    owed: list[int] = []
    oldest = 0
    slot = 0
    for _ in range(4 * m):
        stream = -1
        when = 0
        for k in range(4):
            at = block[k] + 6 * taken[k]
            if taken[k] < m and (stream < 0 or at < when):
                stream = k
                when = at
        while slot < when and oldest < len(owed):
            order.append(owed[oldest])
            oldest += 1
            slot += 1
        slot = when + 1
        code = base[stream] + taken[stream]
        taken[stream] += 1
        order.append(code)
        if stream > 1:
            owed.append(code + stages * m)
    order.extend(owed[oldest:])
    return order
