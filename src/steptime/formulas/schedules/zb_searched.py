"""ZB-1p, ZB-2p and the search within any memory: their orders are made for the times of a run.

No order that keeps within a memory idles less than `bound_forms` say, and the search of
`steptime.pipeline.searched` reaches that: it is the closed form. For F = I = W that is the first
of them, or with fewer micro-batches than ranks the last, and ZB-H1's order idles no longer,
whatever the memory: it stands for all three where no times are given.

Also turned into JavaScript, and its formulas run on arrays.
"""

from __future__ import annotations

from typing import Any

from steptime.formulas.number import Number, minimum
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.forms import held

SEARCHED = ["zb-1p", "zb-2p", "zb-auto"]
RANKS_HELD = [1.0, 2.0, 0.0]
"""Micro-batches that a rank may hold, in numbers of ranks; 0 for any number."""
ZB_1P: dict[str, Any] = {
    "name": "zb-1p",
    "title": "ZB-1p",
    "inventor": "Qi et al., 2024",
    "source": "qi2023, Sec. 3.1; zbpp2025, zb.py",
    "constraints": "v = 1",
    "splits_backward": True,
    "bubble": "(p - 1) max(F, I, F + I - W), where m >= p",
    "activations": "p",
    "idea": "The shortest order for the times given, in 1F1B's memory.",
    "torchtitan": "",
    "chunks": 1.0,
    "whole_rounds": 0.0,
    "even": 0.0,
    "two_each": 0.0,
    "vee": 0.0,
    "copies": 1.0,
    "pairs": 0.0,
}
ZB_2P: dict[str, Any] = {
    **ZB_1P,
    "name": "zb-2p",
    "title": "ZB-2p",
    "bubble": "max((p - 1) F, (p - 1) I - p F, (p - 1)(F + I) - (2p - 1) W), where m >= 2p",
    "activations": "2p",
    "idea": "The shortest order for the times given, in twice that memory.",
}
ZB_AUTO: dict[str, Any] = {
    **ZB_1P,
    "name": "zb-auto",
    "title": "ZB, any memory",
    "bubble": "max((p - 1) F, (p - 1) I - (m - p) F, (p - 1)(F + I) - (m - 1) W)",
    "activations": "up to m",
    "idea": "The shortest order for the times given, in any memory.",
}


def searched_ranks(name: str) -> float:
    """Return one of `RANKS_HELD` by a schedule's name, -1 where no search makes its order.

    Args:
        name: Of the schedule.
    """
    for place in range(len(SEARCHED)):
        if SEARCHED[place] == name:
            return RANKS_HELD[place]
    return -1.0


def bound_forms(most: Number, p: Number) -> list[list[Number]]:
    """Return forms of the idle time that no order in a memory goes below, see `forms`.

    The last rank waits for the first forward. The first rank runs no more forwards than it can
    hold before its first I. After the last I of the last rank, no more W are left than it held.

    Args:
        most: Micro-batches that a rank may hold, and has.
        p: Pipeline ranks.

    References:
        derived here; `steptime.pipeline.filled.least_step` is the same for unequal ranks.
    """
    before = p - 1.0
    return [
        [before, 0.0, 0.0],
        [p - most, before, 0.0],
        [before, before, 1.0 - most],
    ]


def zb_1p_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        derived here, see `bound_forms`.
    """
    return bound_forms(minimum(p, m), p)


def zb_1p_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks may hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        qi2023, Sec. 3.1.
    """
    return held(p, 0.0, m)


def zb_2p_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        derived here, see `bound_forms`.
    """
    return bound_forms(minimum(2.0 * p, m), p)


def zb_2p_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks may hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        qi2023, Sec. 3.1.
    """
    return held(2.0 * p, 0.0, m)


def zb_auto_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        derived here, see `bound_forms`.
    """
    return bound_forms(m, p)


def zb_auto_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks may hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        qi2023, Sec. 3.1.
    """
    return held(m, 0.0, m)
