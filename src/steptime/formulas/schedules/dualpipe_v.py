"""DualPipeV: DualPipe folded in two, one direction in a V.

Also turned into JavaScript, and its formulas run on arrays.
"""

from __future__ import annotations

from steptime.formulas.number import Number
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.eight_steps import eight_steps, pair_forms
from steptime.formulas.schedules.forms import held

DUALPIPE_V = {
    "name": "dualpipe-v",
    "title": "DualPipeV",
    "inventor": "DeepSeek-AI and Sea AI Lab, 2025",
    "source": "dualpipe2025, README",
    "constraints": "v = 2; m >= 2p",
    "splits_backward": True,
    "bubble": "(p - 1)(F&B + B - 3W) / 2",
    "activations": "p + 1/2",
    "idea": "DualPipe folded into a V: the weights are held once.",
    "torchtitan": "DualPipeV",
    "chunks": 2.0,
    "whole_rounds": 0.0,
    "even": 0.0,
    "two_each": 1.0,
    "vee": 1.0,
    "copies": 1.0,
    "pairs": 1.0,
}


def dualpipe_v_order(p: int, m: int, v: int) -> list[list[int]]:
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
        orders.append(eight_steps(p, m, rank, forward, backward, stages * m, mark))
    return orders


def dualpipe_v_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        dualpipe2025, README (the second where F&B = F + B and F = I); derived here.
    """
    return pair_forms(p - 1.0)


def dualpipe_v_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        dualpipe2025, README.
    """
    return held(2.0 * p + 1.0, 0.0, 2.0 * m)
