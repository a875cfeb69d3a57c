"""DualPipe and its folded form: micro-batches from both ends, F and backward in pairs.

Rank r of DualPipe and rank r of DualPipeV with half the ranks run the same eight steps;
they differ in where the second stream's stages live.

Also turned into JavaScript: whole numbers, lists and loops only.
"""

from __future__ import annotations


def dualpipe(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of DualPipe: half of the micro-batches enter at the last rank.

    Every rank holds two stages, one for each direction, so the weights are there twice.
    Micro-batches from ``m / 2`` on are those of the reverse direction: stage s of theirs
    runs on rank ``p - 1 - s``.

    Args:
        p: Pipeline ranks, even.
        m: Micro-batches, even and at least ``2 p``.
        v: Chunks a rank holds; 1 here (each direction has its own copy).

    References:
        deepseek2024, Sec. 3.2.1 and Fig. 5.
    """
    half = m // 2
    split = p * m
    orders = []
    for rank in range(p):
        near, start, other = rank, 0, half
        if rank >= p // 2:
            near, start, other = p - 1 - rank, half, 0
        far = p - 1 - near
        forward = [(near + 1) * m + start, (far + 1) * m + other]
        backward = [(2 * p - near) * m + start, (2 * p - far) * m + other]
        orders.append(_eight_steps(p // 2, half, near, forward, backward, split, m * (4 * p + 1)))
    return orders


def dualpipe_v(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of DualPipeV: DualPipe folded in two, one direction in a V.

    Args:
        p: Pipeline ranks.
        m: Micro-batches, at least ``2 p``.
        v: Chunks a rank holds; 2 here.

    References:
        dualpipe2025, README (DualPipeV).
    """
    stages = 2 * p
    orders = []
    for rank in range(p):
        forward = [(rank + 1) * m, (stages - rank) * m]
        backward = [(2 * stages - rank) * m, (stages + 1 + rank) * m]
        mark = m * (4 * stages + 1)
        orders.append(_eight_steps(p, m, rank, forward, backward, stages * m, mark))
    return orders


def _eight_steps(
    ranks: int,
    count: int,
    rank: int,
    forward: list[int],
    backward: list[int],
    split: int,
    mark: int,
) -> list[int]:
    """Return one rank's order.

    ``forward`` and ``backward`` hold the next F and B code of the two streams, 0 entering
    here first and 1 passing by; they move on as codes are taken.
    """
    order: list[int] = []
    owed: list[int] = []  # W codes put off, oldest first
    after = ranks - rank - 1
    for _ in range(2 * after):
        _take(order, forward, 0)
    for _ in range(rank + 1):
        _take(order, forward, 0)
        _take(order, forward, 1)
    for _ in range(after):
        _take_input(order, backward, 1, split, owed)
        order.append(owed.pop(0))
        _take(order, forward, 1)
    for i in range(count - 2 * ranks + rank + 1):
        # The two ranks where the streams turn leave their first pair apart: it ends sooner.
        if i > 0 or after > 0:
            order.append(mark)
        _take(order, forward, 0)
        _take(order, backward, 1)
        order.append(mark)
        _take(order, forward, 1)
        _take(order, backward, 0)
    for _ in range(after):
        _take(order, backward, 1)
        order.append(mark)
        _take(order, forward, 1)
        _take(order, backward, 0)
    _drain(order, backward, rank, after, split, owed)
    return order


def _drain(
    order: list[int], backward: list[int], rank: int, after: int, split: int, owed: list[int]
) -> None:
    """Add the last three steps, where backwards are split from half of the way on."""
    split_from = (rank + 1) // 2 * 2 + 1 - rank % 2
    for i in range(2 * (rank + 1)):
        stream = 1 - i % 2
        if i >= split_from:
            _take_input(order, backward, stream, split, owed)
        else:
            _take(order, backward, stream)
    for _ in range(after):
        order.append(owed.pop(0))
        _take_input(order, backward, 0, split, owed)
    while len(owed) > 0:
        order.append(owed.pop(0))


def _take(order: list[int], stream: list[int], which: int) -> None:
    order.append(stream[which])
    stream[which] += 1


def _take_input(
    order: list[int], backward: list[int], which: int, split: int, owed: list[int]
) -> None:
    order.append(backward[which] + split)
    owed.append(backward[which] + 2 * split)
    backward[which] += 1
