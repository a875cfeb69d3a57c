"""Orders in which forwards and backwards take turns, with the backward whole or cut in two.

Also turned into JavaScript: whole numbers, lists and loops only.
"""

from __future__ import annotations


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


def alternate_split(
    forwards: list[int], backwards: list[int], split: int, warmup: int, lag: int
) -> list[int]:
    """Return ``warmup`` forwards, then F, I and W in turn, W ``lag`` behind I.

    Args:
        forwards: F codes in order.
        backwards: As many B codes, in order.
        split: What turns a B code into I, and an I code into W.
        warmup: Forwards before the first I.
        lag: Backwards whose W is put off.
    """
    count = len(forwards)
    warmup = min(warmup, count)
    order = forwards[:warmup]
    for i in range(count):
        if i + warmup < count:
            order.append(forwards[i + warmup])
        order.append(backwards[i] + split)
        if i >= lag:
            order.append(backwards[i - lag] + 2 * split)
    for i in range(max(0, count - lag), count):
        order.append(backwards[i] + 2 * split)
    return order
