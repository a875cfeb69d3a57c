"""DualPipe: half of the micro-batches enter at the last rank, F and backward run in pairs.

Also turned into JavaScript, and its formulas run on arrays.
"""

from __future__ import annotations

from steptime.formulas.number import Number
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.eight_steps import eight_steps, pair_forms
from steptime.formulas.schedules.forms import held

DUALPIPE = {
    "name": "dualpipe",
    "title": "DualPipe",
    "inventor": "DeepSeek-AI, 2024",
    "source": "deepseek2024, Sec. 3.2.1 and Table 2",
    "constraints": "v = 1; p and m even; m >= 2p; weights are held twice",
    "splits_backward": True,
    "bubble": "(p/2 - 1)(F&B + B - 3W)",
    "activations": "p + 1",
    "idea": "Micro-batches enter at both ends; a forward beside a backward hides messages.",
    "torchtitan": "",
    "chunks": 1.0,
    "whole_rounds": 0.0,
    "even": 1.0,
    "two_each": 1.0,
    "vee": 0.0,
    "copies": 2.0,
    "pairs": 1.0,
}


def dualpipe_order(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of DualPipe: half of the micro-batches enter at the last rank.

    Every rank holds two stages, one for each direction, so the weights are there twice.
    Micro-batches from ``m / 2`` on are those of the reverse direction: stage s of theirs
    runs on rank ``p - 1 - s``.

    Args:
        p: Pipeline ranks, even.
        m: Micro-batches, even and at least ``2 p``.
        v: Chunks a rank holds; 1 here (each direction has its own copy).

    References:
        deepseek2024, Sec. 3.2.1 and Fig. 5.
    """
    half = m // 2
    split = p * m
    orders = []
    for rank in range(p):
        near, start, other = rank, 0, half
        if rank >= p // 2:
            near, start, other = p - 1 - rank, half, 0
        far = p - 1 - near
        forward = [(near + 1) * m + start, (far + 1) * m + other]
        backward = [(2 * p - near) * m + start, (2 * p - far) * m + other]
        orders.append(eight_steps(p // 2, half, near, forward, backward, split, m * (4 * p + 1)))
    return orders


def dualpipe_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        deepseek2024, Table 2 (the second where F&B = F + B and F = I); derived here.
    """
    return pair_forms(p / 2.0 - 1.0)


def dualpipe_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        deepseek2024, Table 2.
    """
    return held(p + 1.0, 0.0, m)
