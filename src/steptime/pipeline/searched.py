"""Orders that a search makes for given times: ZB-1p, ZB-2p and the search within any memory.

The authors' heuristic, see `zero_bubble`, leaves three choices open, so there are eight orders.
Beside them are tried what `filled` makes, and ZB-H1 and ZB-H2 where they fit in the memory. Of
those that are nearly as short as the shortest, and no longer than ZB-H1's and ZB-H2's, the one is
kept whose ranks stand still least: what counts where ranks need not wait for each other between
steps. No program is solved afterwards, as the authors do at small sizes.
"""

from __future__ import annotations

import itertools
from typing import Any

from steptime.formulas.schedules.zb_searched import searched_ranks
from steptime.pipeline.build import build_orders
from steptime.pipeline.codes import forward_code, input_code, kind_of, weight_code
from steptime.pipeline.filled import filled_orders
from steptime.pipeline.zero_bubble import FORWARD, INPUT, WEIGHT, Choices, Plan

BY_HAND = ((1, "zb-h1"), (2, "zb-h2"))
"""Orders that no times were asked for, and the ranks' worth of micro-batches that they hold."""

FILLS = (1, 0.5)
"""Shares of W from which on a wait is filled with it, see `filled`."""
NEARLY = 0.004
"""Share by which a step may be longer than the shortest, where its ranks stand still less."""
CODES = (forward_code, input_code, weight_code)


def searched_orders(
    name: str, lengths: list[tuple[Any, Any, Any]], m: int, send: Any, kept: Any = 1
) -> list[list[int]]:
    """Return the shortest of the heuristic's orders, and of those by hand that fit in the memory.

    Args:
        name: One of ``zb_searched.SEARCHED``.
        lengths: Of F, I and W on each rank, in slots.
        m: Micro-batches.
        kept: Share of a micro-batch that a rank holds from I until W.
        send: Slots of a message.

    Returns:
        Per rank a list of action codes, see `codes`.

    References:
        qi2023, Sec. 3.1; zbpp2025, zb.py (manual_order, initial_solution).
    """
    stages = len(lengths)
    memory = (int(searched_ranks(name)) * stages or m, kept)
    best = _shortest(lengths, m, memory, send)
    return [
        [CODES[kind](r, number, stages, m) for kind, number in rank.order]
        for r, rank in enumerate(best.ranks)
    ]


def _shortest(
    lengths: list[tuple[Any, Any, Any]], m: int, memory: tuple[int, Any], send: Any
) -> Plan:
    """Return the plan whose ranks stand still least, of those nearly as short as the shortest."""
    open_choices = itertools.product((True, False), repeat=3)
    choices = [Choices(late=late, wait=wait, fill=fill) for late, wait, fill in open_choices]
    plans = [Plan(lengths, m, memory, send, one).made() for one in choices]
    stages = len(lengths)

    def followed(orders: list[list[int]]) -> Plan:
        plan = Plan(lengths, m, memory, send, choices[0])
        return plan.follow([_actions(order, stages, m) for order in orders])

    own = [list(one) for one in lengths]
    filled = [filled_orders(own, m, list(memory), send, share)["orders"] for share in FILLS]
    plans += [followed(orders) for orders in filled]
    hand = [
        followed(build_orders(title, stages, m, 1))
        for ranks_held, title in BY_HAND
        if memory[0] >= min(ranks_held * stages, m)
    ]
    every = (*plans, *hand)
    most = min(
        min(plan.makespan for plan in hand),
        min(plan.makespan for plan in every) * (1 + NEARLY),
    )
    short = [plan for plan in every if plan.makespan <= most]
    return min(short, key=lambda plan: (plan.span, plan.makespan))


def _actions(order: list[int], stages: int, m: int) -> list[tuple[int, int]]:
    """Return a rank's codes as kind and micro-batch."""
    kinds = {0: FORWARD, 2: INPUT, 3: WEIGHT}
    return [(kinds[kind_of(code, stages, m)], code % m) for code in order]
