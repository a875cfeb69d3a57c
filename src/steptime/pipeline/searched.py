"""Orders that a search makes for given times: ZB-1p, ZB-2p and the search within any memory.

The authors' heuristic, see `zero_bubble`, leaves three choices open, so there are eight orders; the
shortest is kept. No program is solved afterwards, as the authors do at small sizes.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from steptime.pipeline.codes import forward_code, input_code, weight_code
from steptime.pipeline.zero_bubble import Choices, Plan


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

CODES = (forward_code, input_code, weight_code)


def searched_orders(
    name: str, lengths: list[tuple[Any, Any, Any]], m: int, send: Any, kept: Any = 1
) -> list[list[int]]:
    """Return the shortest of the heuristic's orders.

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
    memory = (SEARCHED[name].ranks_held * len(lengths) or m, kept)
    every = itertools.product((True, False), repeat=3)
    choices = [Choices(late=late, wait=wait, fill=fill) for late, wait, fill in every]
    plans = [Plan(lengths, m, memory, send, one).made() for one in choices]
    best = min(plans, key=lambda plan: plan.span)
    stages = len(lengths)
    return [
        [CODES[kind](r, number, stages, m) for kind, number in rank.order]
        for r, rank in enumerate(best.ranks)
    ]
