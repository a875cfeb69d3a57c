"""ZB-H1: 1F1B with the backward cut in two, in the same memory.

Also turned into JavaScript, and its formulas run on arrays.
"""

from __future__ import annotations

from steptime.formulas.number import Number, minimum
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.forms import held
from steptime.formulas.schedules.interleaved_zb import interleaved_zb_order

ZB_H1 = {
    "name": "zb-h1",
    "title": "ZB-H1",
    "inventor": "Qi et al., 2024",
    "source": "qi2023, Table 2",
    "constraints": "v = 1",
    "splits_backward": True,
    "bubble": "(p - 1)(F + I - W), where m >= p",
    "activations": "p",
    "idea": "The backward is cut in two; the half for weights fills idle time.",
    "torchtitan": "",
    "chunks": 1.0,
    "whole_rounds": 0.0,
    "even": 0.0,
    "two_each": 0.0,
    "vee": 0.0,
    "copies": 1.0,
    "pairs": 0.0,
}


def zb_h1_order(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of ZB-H1: a third of 1F1B's bubble in the same memory.

    Rank r fills with ``p - 1 - r`` forwards as in 1F1B and lets its W lag by r
    micro-batches, so every rank holds p of them.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 1 here.

    References:
        qi2023, Sec. 2.1 and Fig. 3 (top).
    """
    return interleaved_zb_order(p, m, 1)


def zb_h1_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        qi2023, Table 2 (the last, for m >= p); derived here.
    """
    ranks = p - 1.0
    more = minimum(m - 1.0, ranks)
    return [
        [ranks, ranks - more, 0.0],
        [ranks - more, ranks, 0.0],
        [ranks, ranks, -more],
    ]


def zb_h1_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        qi2023, Table 2.
    """
    return held(p, 0.0, m)
