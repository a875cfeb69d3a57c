"""What software counts of a layout before it runs it, by the names of ``data/abilities.toml``."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from steptime.formulas.number import Number
from steptime.formulas.software_limits import (
    expert_ranks_left_over,
    parts_left_over,
    round_lacks,
    rounds_left_over,
    sequence_ranks_left_over,
    tokens_left_over,
    zigzag_left_over,
)
from steptime.inputs.fields import SIZES
from steptime.inputs.layout import BATCH_FIELDS, SCHEDULES, Batch, Layout

COUNTED: dict[str, Callable[[Any], Number]] = {
    "rounds_left_over": rounds_left_over,
    "round_lacks": round_lacks,
    "expert_ranks_left_over": expert_ranks_left_over,
    "zigzag_left_over": zigzag_left_over,
    "tokens_left_over": tokens_left_over,
    "parts_left_over": parts_left_over,
    "sequence_ranks_left_over": sequence_ranks_left_over,
}
"""Each is 0 where the software runs the layout."""
OF_ROUNDS = ("rounds_left_over", "round_lacks")
OF_PARTS = ("zigzag_left_over", "tokens_left_over", "parts_left_over")
OF_ROWS = (*OF_ROUNDS, *OF_PARTS)
"""Those that go by a row of a search, its micro-batches or the parts of its sequences, not by
what is sharded in it."""


def counted(name: str, layout: Layout, batch: Batch) -> float:
    """Return what is counted of one layout.

    Args:
        name: Of ``COUNTED``.
        layout: The layout.
        batch: Gives the micro-batches.
    """
    held = {one: float(getattr(layout, one)) for one in (*SIZES, "zero_stage", "sequence_parallel")}
    held |= {one: float(getattr(batch, one)) for one in BATCH_FIELDS}
    place = float(SCHEDULES.index(layout.schedule))
    return float(COUNTED[name](SimpleNamespace(**held, schedule=place)))
