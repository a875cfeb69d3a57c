"""1F1B: one forward, one backward in turn.

Also turned into JavaScript, and its formulas run on arrays.
"""

from __future__ import annotations

from steptime.formulas.number import Number
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.alternation import alternate
from steptime.formulas.schedules.forms import held

ONE_F_ONE_B = {
    "name": "1f1b",
    "title": "1F1B",
    "inventor": "Narayanan et al., 2019",
    "source": "narayanan2021, Sec. 2.2.1",
    "constraints": "v = 1",
    "splits_backward": False,
    "bubble": "(p - 1)(F + B)",
    "activations": "p",
    "idea": "Forwards and backwards take turns: GPipe's idle time, less memory.",
    "torchtitan": "1F1B",
    "chunks": 1.0,
    "whole_rounds": 0.0,
    "even": 0.0,
    "two_each": 0.0,
    "vee": 0.0,
    "copies": 1.0,
    "pairs": 0.0,
}


def one_f_one_b_order(p: int, m: int, v: int) -> list[list[int]]:
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


def one_f_one_b_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        narayanan2021, Sec. 2.2.1.
    """
    wait = p - 1.0
    return [[wait, wait, wait]]


def one_f_one_b_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        narayanan2021, Sec. 2.2.1.
    """
    return held(p, 1.0, m)
