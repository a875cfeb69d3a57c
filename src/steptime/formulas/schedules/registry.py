"""All schedules, in the order of their codes: the one place that turns a code into a schedule.

A schedule is a file of this folder: an entry (see below), ``…_order`` (what each rank runs),
``…_idle`` (forms of the idle time) and ``…_held`` (what ranks hold). It is a line of ``SCHEDULED``;
nothing else compares a schedule's code or name.

An entry holds ``name``, ``title``, ``inventor``, ``source``, ``constraints``,
``splits_backward``, ``bubble``, ``activations`` and ``idea``, see
`steptime.pipeline.schedules.Schedule`; ``torchtitan``, its name there or ""; and as numbers
``chunks`` a rank must hold, 0 where it may choose; ``whole_rounds``, 1 where micro-batches
must fall into equal rounds; ``single``, the schedule that it is with one chunk, where it may
choose; ``even``, 1 where ranks and micro-batches must be; ``two_each``, 1 where each rank wants
two micro-batches; ``vee``, 1 where the last chunk is on the first rank; ``copies`` of the
weights; ``pairs``, 1 where a forward pass can run beside a backward pass of another micro-batch,
one's messages beside the other's products: DualPipe is made for it, Megatron-Core does it under
interleaved 1F1B.

Also turned into JavaScript, the tables of functions too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steptime.formulas.number import Number
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.dualpipe import (
    DUALPIPE,
    dualpipe_held,
    dualpipe_idle,
    dualpipe_order,
)
from steptime.formulas.schedules.dualpipe_v import (
    DUALPIPE_V,
    dualpipe_v_held,
    dualpipe_v_idle,
    dualpipe_v_order,
)
from steptime.formulas.schedules.gpipe import GPIPE, gpipe_held, gpipe_idle, gpipe_order
from steptime.formulas.schedules.interleaved_1f1b import (
    INTERLEAVED_1F1B,
    interleaved_1f1b_held,
    interleaved_1f1b_idle,
    interleaved_1f1b_order,
)
from steptime.formulas.schedules.interleaved_zb import (
    INTERLEAVED_ZB,
    interleaved_zb_held,
    interleaved_zb_idle,
    interleaved_zb_order,
)
from steptime.formulas.schedules.looped_bfs import (
    LOOPED_BFS,
    looped_bfs_held,
    looped_bfs_idle,
    looped_bfs_order,
)
from steptime.formulas.schedules.one_f_one_b import (
    ONE_F_ONE_B,
    one_f_one_b_held,
    one_f_one_b_idle,
    one_f_one_b_order,
)
from steptime.formulas.schedules.v_half import V_HALF, v_half_held, v_half_idle, v_half_order
from steptime.formulas.schedules.v_min import V_MIN, v_min_held, v_min_idle, v_min_order
from steptime.formulas.schedules.zb_h1 import ZB_H1, zb_h1_held, zb_h1_idle, zb_h1_order
from steptime.formulas.schedules.zb_h2 import ZB_H2, zb_h2_held, zb_h2_idle, zb_h2_order
from steptime.formulas.schedules.zb_searched import (
    ZB_1P,
    ZB_2P,
    ZB_AUTO,
    zb_1p_held,
    zb_1p_idle,
    zb_2p_held,
    zb_2p_idle,
    zb_auto_held,
    zb_auto_idle,
)
from steptime.formulas.schedules.zb_v import ZB_V, zb_v_held, zb_v_idle, zb_v_order

Order = Callable[[int, int, int], list[list[int]]]
Idle = Callable[[Number, Number, Number], list[list[Number]]]
Held = Callable[[Number, Number, Number], HeldLine]

SCHEDULED: tuple[tuple[dict[str, Any], Order, Idle, Held], ...] = (
    (GPIPE, gpipe_order, gpipe_idle, gpipe_held),
    (ONE_F_ONE_B, one_f_one_b_order, one_f_one_b_idle, one_f_one_b_held),
    (INTERLEAVED_1F1B, interleaved_1f1b_order, interleaved_1f1b_idle, interleaved_1f1b_held),
    (LOOPED_BFS, looped_bfs_order, looped_bfs_idle, looped_bfs_held),
    (ZB_H1, zb_h1_order, zb_h1_idle, zb_h1_held),
    (ZB_H2, zb_h2_order, zb_h2_idle, zb_h2_held),
    (INTERLEAVED_ZB, interleaved_zb_order, interleaved_zb_idle, interleaved_zb_held),
    (ZB_V, zb_v_order, zb_v_idle, zb_v_held),
    (V_HALF, v_half_order, v_half_idle, v_half_held),
    (V_MIN, v_min_order, v_min_idle, v_min_held),
    (DUALPIPE, dualpipe_order, dualpipe_idle, dualpipe_held),
    (DUALPIPE_V, dualpipe_v_order, dualpipe_v_idle, dualpipe_v_held),
    (ZB_1P, zb_h1_order, zb_1p_idle, zb_1p_held),
    (ZB_2P, zb_h1_order, zb_2p_idle, zb_2p_held),
    (ZB_AUTO, zb_h1_order, zb_auto_idle, zb_auto_held),
)
"""Of each schedule its entry, its order, the forms of its idle time, and what ranks hold."""

ENTRIES = tuple(entry for entry, _, _, _ in SCHEDULED)
ORDERS = tuple(order for _, order, _, _ in SCHEDULED)
IDLES = tuple(idle for _, _, idle, _ in SCHEDULED)
HELDS = tuple(held for _, _, _, held in SCHEDULED)

SCHEDULES = tuple(str(entry["name"]) for entry in ENTRIES)

NUMBERS = {
    key: tuple(float(entry[key]) for entry in ENTRIES)
    for key in (
        *("chunks", "whole_rounds", "even", "two_each", "vee", "copies"),
        *("splits_backward", "pairs"),
    )
}
"""What entries hold as numbers, by name; then by code."""
NUMBERS["single"] = tuple(
    float(SCHEDULES.index(str(entry["single"]))) if "single" in entry else -1.0 for entry in ENTRIES
)


def place_of(name: str) -> int:
    """Return the place of a schedule's name, by which the formulas know it; -1 for none.

    Args:
        name: One of ``SCHEDULES``.
    """
    for place in range(len(SCHEDULES)):
        if SCHEDULES[place] == name:
            return place
    return -1


def order_of(place: int, p: int, m: int, v: int) -> list[list[int]]:
    """Return what each rank runs, in order.

    Args:
        place: Of the schedule in ``SCHEDULED``.
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    Returns:
        Per rank a list of action codes, see `steptime.pipeline.codes`, with ``S = p v`` stages
        (DualPipe: p).
    """
    return ORDERS[place](p, m, v)


def idle_of(place: int, p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        place: Of the schedule in ``SCHEDULED``.
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        derived here, in each schedule's file.
    """
    return IDLES[place](p, m, v)


def held_of(place: int, p: Number, m: Number, v: Number) -> HeldLine:
    """Return what ranks hold, see `forms.held`.

    Args:
        place: Of the schedule in ``SCHEDULED``.
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        derived here, in each schedule's file.
    """
    return HELDS[place](p, m, v)
