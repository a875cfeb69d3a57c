"""Zero-bubble schedules with one stage order round the ranks: ZB-H1, ZB-H2, interleaved.

The backward is split: its input half (I) passes on at once, its weight half (W) waits for
a slot that would be idle. How many micro-batches a rank's W lags behind decides the memory.

Also turned into JavaScript: whole numbers, lists and loops only.
"""

from __future__ import annotations

from steptime.pipeline.one_f_one_b import chunk_rounds


def zb_h1(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of ZB-H1: a third of 1F1B's bubble in the same memory.

    Rank r fills with ``p - 1 - r`` forwards as in 1F1B and lets its W lag by r
    micro-batches, so every rank holds p of them.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 1 here.

    References:
        qi2023, Sec. 2.1 and Fig. 2.
    """
    return interleaved_zb(p, m, 1)


def zb_h2(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of ZB-H2: no bubble on any rank, in twice the memory.

    Rank r fills with ``2 (p - 1 - r)`` forwards and lets its W lag by 2 r micro-batches,
    so every rank holds ``2 p - 1`` of them.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 1 here.

    References:
        qi2023, Sec. 2.2 and Fig. 3.
    """
    orders = []
    for rank in range(p):
        forwards, backwards = chunk_rounds(p, m, 1, m, rank)
        orders.append(alternate_split(forwards, backwards, p * m, 2 * (p - 1 - rank), 2 * rank))
    return orders


def interleaved_zb(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of interleaved 1F1B with split backwards.

    Rank r runs only one more forward for each rank after it before its first backward,
    half of what interleaved 1F1B needs, and lets its W lag by r micro-batches.

    Args:
        p: Pipeline ranks.
        m: Micro-batches; a multiple of ``max(1, m // p)`` rounds.
        v: Chunks a rank holds; with 1 this is ZB-H1.

    References:
        qi2023; the interleaved order is that of ansel2024, torch.distributed.pipelining.
    """
    size = m if v == 1 else m // max(1, m // p)
    orders = []
    for rank in range(p):
        forwards, backwards = chunk_rounds(p, m, v, size, rank)
        warmup = (v - 1) * size + p - 1 - rank
        orders.append(alternate_split(forwards, backwards, p * v * m, warmup, rank))
    return orders


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
