"""GPipe: every forward, then every backward.

Also turned into JavaScript, and its formulas run on arrays.
"""

from __future__ import annotations

from steptime.formulas.number import Number
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.forms import held

GPIPE = {
    "name": "gpipe",
    "title": "GPipe",
    "inventor": "Huang et al., 2019",
    "source": "huang2019, Sec. 2.3",
    "constraints": "v = 1",
    "splits_backward": False,
    "bubble": "(p - 1)(F + B)",
    "activations": "m",
    "idea": "All forwards run first, then all backwards.",
    "torchtitan": "GPipe",
    "chunks": 1.0,
    "whole_rounds": 0.0,
    "even": 0.0,
    "two_each": 0.0,
    "vee": 0.0,
    "copies": 1.0,
    "pairs": 0.0,
}


def gpipe_order(p: int, m: int, v: int) -> list[list[int]]:
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


def gpipe_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        huang2019, Sec. 2.3.
    """
    wait = p - 1.0
    return [[wait, wait, wait]]


def gpipe_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        huang2019, Sec. 2.3.
    """
    return held(m, 0.0, m)
