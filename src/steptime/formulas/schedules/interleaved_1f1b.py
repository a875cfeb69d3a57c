"""Interleaved 1F1B: several chunks a rank, micro-batches in rounds.

Also turned into JavaScript, and its formulas run on arrays.
"""

from __future__ import annotations

from steptime.formulas.number import Number, where
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.alternation import alternate, chunk_rounds
from steptime.formulas.schedules.forms import held, late_chunks, round_size
from steptime.formulas.schedules.one_f_one_b import one_f_one_b_order

INTERLEAVED_1F1B = {
    "name": "interleaved-1f1b",
    "title": "Interleaved 1F1B",
    "inventor": "Narayanan et al., 2021",
    "source": "narayanan2021, Sec. 2.2.2",
    "constraints": "any v; max(1, m // p) must divide m",
    "splits_backward": False,
    "bubble": "(p - 1)(F + B) / v, where m >= p",
    "activations": "p (1 + (p - 1) / (p v))",
    "idea": "Each GPU holds v smaller chunks: a v-th of the idle time, v times the messages.",
    "torchtitan": "Interleaved1F1B",
    "chunks": 0.0,
    "single": "1f1b",
    "whole_rounds": 1.0,
    "even": 0.0,
    "two_each": 0.0,
    "vee": 0.0,
    "copies": 1.0,
    "pairs": 1.0,
}


def interleaved_1f1b_order(p: int, m: int, v: int) -> list[list[int]]:
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
        return one_f_one_b_order(p, m, v)
    size = m // max(1, m // p)
    orders = []
    for rank in range(p):
        forwards, backwards = chunk_rounds(p, m, v, size, rank)
        warmup = (v - 1) * size + 2 * (p - 1 - rank)
        orders.append(alternate(forwards, backwards, min(m * v, warmup)))
    return orders


def interleaved_1f1b_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        narayanan2021, Sec. 2.2.2; derived here for fewer micro-batches than ranks.
    """
    wait = p - 1.0 + late_chunks(p, m, v)
    return [[wait, wait, wait]]


def interleaved_1f1b_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        derived here.
    """
    rest = (v - 1.0) * round_size(p, m) + 1.0
    many = v > 1.0
    base = where(many, rest + 2.0 * (p - 1.0), p)
    return held(base, where(many, 2.0, 1.0), m * v)
