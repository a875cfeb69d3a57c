"""ZB-H2: enough micro-batches in flight that no rank idles between its first and last action.

Also turned into JavaScript, and its formulas run on arrays.
"""

from __future__ import annotations

from steptime.formulas.number import Number, floor, minimum
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.alternation import alternate_split, chunk_rounds
from steptime.formulas.schedules.forms import held

ZB_H2 = {
    "name": "zb-h2",
    "title": "ZB-H2",
    "inventor": "Qi et al., 2024",
    "source": "qi2023, Table 2",
    "constraints": "v = 1",
    "splits_backward": True,
    "bubble": "(p - 1)(F + I - 2W) on each rank's own span, where m >= 2p - 2",
    "activations": "2p - 1",
    "idea": "Twice the micro-batches under way, so no GPU waits once it has begun.",
    "torchtitan": "",
    "chunks": 1.0,
    "whole_rounds": 0.0,
    "even": 0.0,
    "two_each": 0.0,
    "vee": 0.0,
    "copies": 1.0,
    "pairs": 0.0,
}


def zb_h2_order(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of ZB-H2: no bubble on any rank, in twice the memory.

    Rank r fills with ``2 (p - 1 - r)`` forwards and lets its W lag by 2 r micro-batches,
    so every rank holds ``2 p - 1`` of them.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 1 here.

    References:
        qi2023, Sec. 2.2 and Fig. 3 (bottom).
    """
    orders = []
    for rank in range(p):
        forwards, backwards = chunk_rounds(p, m, 1, m, rank)
        orders.append(alternate_split(forwards, backwards, p * m, 2 * (p - 1 - rank), 2 * rank))
    return orders


def zb_h2_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        qi2023, Table 2 (the last, for m >= 2 p - 1); derived here.
    """
    ranks = p - 1.0
    more = minimum(m - 1.0, 2.0 * ranks)
    pairs = floor(more / 2.0)
    odd = more - 2.0 * pairs
    return [
        [ranks, ranks - pairs - odd, 0.0],
        [ranks - odd, ranks - pairs, 0.0],
        [ranks, ranks - pairs, -odd],
        [ranks - more, ranks, 0.0],
        [ranks, ranks, -more],
    ]


def zb_h2_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        qi2023, Table 2.
    """
    return held(2.0 * p - 1.0, 0.0, m)
