"""All forwards before the first backward: GPipe, and the breadth-first form with chunks.

Also turned into JavaScript: whole numbers, lists and loops only.
"""

from __future__ import annotations


def gpipe(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of GPipe: every forward, then every backward, in the same order.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 1 here.

    References:
        huang2019, Sec. 2.3.
    """
    orders = []
    for rank in range(p):
        order = list(range((rank + 1) * m, (rank + 2) * m))
        order.extend(range((2 * p - rank) * m, (2 * p - rank + 1) * m))
        orders.append(order)
    return orders


def looped_bfs(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of looped breadth-first: every micro-batch through a chunk, then the next.

    Backwards run from the last micro-batch to the first, so that the gradients of a chunk
    are complete early and their reduction can start.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        lamypoirier2023, Sec. 4.
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
