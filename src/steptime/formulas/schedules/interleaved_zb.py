"""Interleaved 1F1B with the backward cut in two.

Also turned into JavaScript, and its formulas run on arrays.
"""

from __future__ import annotations

from steptime.formulas.number import Number, maximum, minimum, where
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.alternation import alternate_split, chunk_rounds
from steptime.formulas.schedules.forms import held, late_chunks, round_size

INTERLEAVED_ZB = {
    "name": "interleaved-zb",
    "title": "Interleaved zero-bubble",
    "inventor": "Qi et al., 2024; order by PyTorch",
    "source": "qi2023, Sec. 2; ansel2024, torch.distributed.pipelining",
    "constraints": "any v; max(1, m // p) must divide m",
    "splits_backward": True,
    "bubble": "(p - 1)(F + I - W) / v, where m >= p",
    "activations": "p + (p - 1) / v",
    "idea": "Interleaved 1F1B, with the backward cut in two.",
    "torchtitan": "InterleavedZeroBubble",
    "chunks": 0.0,
    "single": "zb-h1",
    "whole_rounds": 1.0,
    "even": 0.0,
    "two_each": 0.0,
    "vee": 0.0,
    "copies": 1.0,
    "pairs": 0.0,
}


def interleaved_zb_order(p: int, m: int, v: int) -> list[list[int]]:
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


def interleaved_zb_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        derived here.
    """
    ranks = p - 1.0
    more = minimum(m, p) - 1.0
    late = p - 1.0 - more
    all_late = ranks + late_chunks(p, m, v)
    # With several chunks a rank has that many W to put between the I that come late.
    filled = where(v > 1.0, minimum(late - 1.0, (v - 1.0) * m - 1.0), 0.0)
    waits = where(v > 1.0, 2.0 * late - 1.0 - filled, late)
    middle = maximum(v - 2.0, 0.0)
    return [
        [v * late, ranks, 0.0],
        [all_late, waits, maximum(filled - more, 0.0)],
        [all_late, ranks, -more],
        [all_late, all_late, 1.0 - v * (more + 1.0)],
        [v * late, waits, filled],
        [v * late, all_late, (1.0 - v) * (more + 1.0)],
        [v * late, waits + middle * late, filled - middle * m],
        [all_late, waits + middle * late, filled - middle * m - more],
    ]


def interleaved_zb_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        derived here.
    """
    return held((v - 1.0) * round_size(p, m) + p, 0.0, m * v)
