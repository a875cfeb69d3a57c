"""Orders that a search makes for given times: ZB-1p, ZB-2p and the search within any memory.

The authors' heuristic, see `zero_bubble`, leaves three choices open, so there are eight orders; the
one whose ranks stand still least is kept. ZB-H1 and ZB-H2 are tried beside them, where they fit in
the memory, and no step is longer than theirs. No program is solved afterwards, as the authors do at
small sizes.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from steptime.pipeline.build import build_orders
from steptime.pipeline.codes import forward_code, input_code, kind_of, weight_code
from steptime.pipeline.zero_bubble import FORWARD, INPUT, WEIGHT, Choices, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """A schedule that a search makes.

    Attributes:
        title: Its name as its authors write it.
        constraints: On its sizes.
        bubble: What is known of its idle time.
        activations: Micro-batches that a rank may hold.
        ranks_held: The same in numbers of ranks; 0 where any number may be held.
        idea: One sentence.
    """

    title: str
    constraints: str
    bubble: str
    activations: str
    ranks_held: int
    idea: str


SEARCHED = {
    "zb-1p": Searched(
        title="ZB-1p",
        constraints="v = 1",
        bubble="no form: ZB-H1's where m >= p",
        activations="p",
        ranks_held=1,
        idea="The shortest of eight orders in 1F1B's memory, for the times given.",
    ),
    "zb-2p": Searched(
        title="ZB-2p",
        constraints="v = 1",
        bubble="no form: about ZB-H2's where m >= 2 p",
        activations="2 p",
        ranks_held=2,
        idea="The shortest of eight orders in twice that memory, for the times given.",
    ),
    "zb-auto": Searched(
        title="ZB, any memory",
        constraints="v = 1",
        bubble="no form",
        activations="m",
        ranks_held=0,
        idea="The shortest of eight orders in any memory, for the times given.",
    ),
}
"""By the names that `steptime.inputs.schedule_name` knows."""
SOURCE = "qi2023, Sec. 3.1; zbpp2025, zb.py"
INVENTOR = "Qi et al., 2024"

BY_HAND = ((1, "zb-h1"), (2, "zb-h2"))
"""Orders that no times were asked for, and the ranks' worth of micro-batches that they hold."""

CODES = (forward_code, input_code, weight_code)


def searched_orders(
    name: str, lengths: list[tuple[Any, Any, Any]], m: int, send: Any, kept: Any = 1
) -> list[list[int]]:
    """Return the shortest of the heuristic's orders, and of those by hand that fit in the memory.

    Args:
        name: A key of ``SEARCHED``.
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
    memory = (SEARCHED[name].ranks_held * stages or m, kept)
    best = _least_idle(lengths, m, memory, send)
    return [
        [CODES[kind](r, number, stages, m) for kind, number in rank.order]
        for r, rank in enumerate(best.ranks)
    ]


def _least_idle(
    lengths: list[tuple[Any, Any, Any]], m: int, memory: tuple[int, Any], send: Any
) -> Plan:
    """Return the plan whose ranks stand still least, of those no longer than by hand."""
    every = itertools.product((True, False), repeat=3)
    choices = [Choices(late=late, wait=wait, fill=fill) for late, wait, fill in every]
    plans = [Plan(lengths, m, memory, send, one).made() for one in choices]
    stages = len(lengths)
    hand = [
        Plan(lengths, m, memory, send, choices[0]).follow(
            [_actions(order, stages, m) for order in build_orders(title, stages, m, 1)]
        )
        for ranks_held, title in BY_HAND
        if memory[0] >= min(ranks_held * stages, m)
    ]
    longest = min(plan.makespan for plan in hand)
    short = [plan for plan in (*plans, *hand) if plan.makespan <= longest]
    return min(short, key=lambda plan: (plan.span, plan.makespan))


def _actions(order: list[int], stages: int, m: int) -> list[tuple[int, int]]:
    """Return a rank's codes as kind and micro-batch."""
    kinds = {0: FORWARD, 2: INPUT, 3: WEIGHT}
    return [(kinds[kind_of(code, stages, m)], code % m) for code in order]
