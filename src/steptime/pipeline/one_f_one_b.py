"""One forward, one backward: 1F1B, and Megatron's interleaved form of it.

Also turned into JavaScript: whole numbers, lists and loops only.
"""

from __future__ import annotations


def one_f_one_b(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of 1F1B: each rank holds at most ``p - rank`` micro-batches.

    Rank r runs ``p - 1 - r`` forwards to fill the pipeline, then a forward and a backward
    in turn, then the backwards that are left.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 1 here.

    References:
        narayanan2019, Sec. 3.2 (PipeDream); narayanan2021, Sec. 2.2.1 (with a flush).
    """
    orders = []
    for rank in range(p):
        forwards = list(range((rank + 1) * m, (rank + 2) * m))
        backwards = list(range((2 * p - rank) * m, (2 * p - rank + 1) * m))
        orders.append(alternate(forwards, backwards, min(m, p - 1 - rank)))
    return orders


def interleaved_1f1b(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of interleaved 1F1B: v chunks a rank, micro-batches in rounds.

    A round of micro-batches goes through chunk after chunk. Rank r runs the forwards of
    all its chunks but the last for one round, and two more for each rank after it, before
    its first backward.

    Args:
        p: Pipeline ranks.
        m: Micro-batches; a multiple of ``max(1, m // p)`` rounds.
        v: Chunks a rank holds; with 1 this is 1F1B.

    References:
        narayanan2021, Sec. 2.2.2.
        ansel2024, torch.distributed.pipelining: rounds of other sizes than p.
    """
    if v == 1:
        return one_f_one_b(p, m, v)
    size = m // max(1, m // p)
    orders = []
    for rank in range(p):
        forwards, backwards = chunk_rounds(p, m, v, size, rank)
        warmup = (v - 1) * size + 2 * (p - 1 - rank)
        orders.append(alternate(forwards, backwards, min(m * v, warmup)))
    return orders


def chunk_rounds(p: int, m: int, v: int, size: int, rank: int) -> list[list[int]]:
    """Return a rank's forwards and its backwards, each in the order of interleaved rounds.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.
        size: Micro-batches in a round.
        rank: Whose.
    """
    forwards: list[int] = []
    backwards: list[int] = []
    for first in range(0, m, size):
        for chunk in range(v):
            base = (chunk * p + rank + 1) * m + first
            forwards.extend(range(base, base + size))
            base = (2 * p * v - (v - 1 - chunk) * p - rank) * m + first
            backwards.extend(range(base, base + size))
    return [forwards, backwards]


def alternate(forwards: list[int], backwards: list[int], warmup: int) -> list[int]:
    """Return ``warmup`` forwards, then a forward and a backward in turn, then the rest.

    Args:
        forwards: Codes in order.
        backwards: As many codes, in order.
        warmup: Forwards before the first backward.
    """
    order = forwards[:warmup]
    steady = len(forwards) - warmup
    for i in range(steady):
        order.append(forwards[i + warmup])
        order.append(backwards[i])
    order.extend(backwards[steady:])
    return order
