"""Rows that leave open what moves the step: the interval that every choice spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from operator import itemgetter

from steptime.evidence.judge import run_result
from steptime.evidence.measured import published_step_time_s
from steptime.evidence.row_question import COUNTS_RECOMPUTATION, OpenLayout, roofline_question
from steptime.evidence.row_text import flop_convention
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import PublishedRow
from steptime.inputs.assumed import Assumed
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.layout import RECOMPUTE
from steptime.inputs.run_words import is_blank

_MICRO_BATCHES = (1, 2, 4)
_ZERO_STAGES = (0, 1, 2, 3)
_WORDS = {"mbs": "micro-batch", "vpp": "vpp", "recompute": "recompute", "zero": "ZeRO"}


@dataclass(frozen=True, slots=True)
class OpenRow:
    """A row that leaves something open, between its extremes.

    Attributes:
        id: Of the row.
        published_step_time_s: Measured.
        step_time_low_s: Lower end of the fastest choice's interval.
        step_time_high_s: Upper end of the slowest choice's interval.
        fastest: That choice.
        slowest: That choice.
        choices: How many were tried.
        open: The columns that every choice fills.
        not_understood: What stood in other columns in words that nobody knows.
    """

    id: str
    published_step_time_s: float
    step_time_low_s: float
    step_time_high_s: float
    fastest: str
    slowest: str
    choices: int
    open: tuple[str, ...] = ()
    not_understood: tuple[Assumed, ...] = ()

    @property
    def inside(self) -> bool:
        """Return whether the measured step lies between the ends."""
        return self.step_time_low_s <= self.published_step_time_s <= self.step_time_high_s


def _chunks(run: Run) -> list[int]:
    """Return the chunks a device that cut the layers evenly, with or without the two ends."""
    layers, stages = run.model.num_layers, run.layout.pp
    most = -(-layers // stages)
    even = [
        v for v in range(1, most + 1) if 0 in (layers % (stages * v), (layers + 2) % (stages * v))
    ]
    return even or [1, most]


def _open_values(row: PublishedRow, run: Run) -> dict[str, list[int | str | None]]:
    """Return what each open column may hold."""
    found: dict[str, list[int | str | None]] = {}
    if not run.micro_batch_stated:
        found["mbs"] = list(_MICRO_BATCHES)
    if not run.vpp_stated:
        found["vpp"] = list(_chunks(run))
    if is_blank(row.recompute):
        implied = flop_convention(row.flop_convention) == COUNTS_RECOMPUTATION
        found["recompute"] = ["full"] if implied else list(RECOMPUTE)
    if is_blank(row.zero) and run.layout.dp * run.layout.cp > 1:
        found["zero"] = [str(stage) for stage in _ZERO_STAGES]
    return found


def _choices(row: PublishedRow, run: Run) -> Iterator[tuple[str, PublishedRow]]:
    values = _open_values(row, run)
    for choice in product(*values.values()):
        filled = dict(zip(values, choice, strict=True))
        name = ", ".join(f"{_WORDS[column]} {value}" for column, value in filled.items())
        yield name, row.model_copy(update=filled)


def left_open(row: PublishedRow, run: Run) -> tuple[str, ...]:
    """Return the columns that a row leaves open, where it cannot be scored for that; else none.

    Args:
        row: A published run.
        run: The same as inputs.

    Raises:
        Incomplete: If it lacks what no choice could fill.
    """
    values = _open_values(row, run)
    if run.micro_batch_stated and run.vpp_stated:
        try:
            roofline_question(run)
        except Incomplete as error:
            if "recompute" in values and isinstance(error, OpenLayout):
                return tuple(values)
            raise
        return ()
    return tuple(values)


def open_row(row: PublishedRow, constants: RooflineConstants) -> OpenRow:
    """Return the interval that the open choices of a row span.

    Args:
        row: A published run.
        constants: Of the roofline model.

    Raises:
        Incomplete: If nothing is open, or no choice can be predicted.
    """
    run = run_of(row)
    columns = left_open(row, run)
    if not columns:
        raise Incomplete("nothing is open")
    found, reasons = [], []
    for name, choice in _choices(row, run):
        try:
            result = run_result(run_of(choice), constants=constants)
        except Incomplete as error:
            reasons.append(error)
            continue
        low = result.step_time_low_s or result.step_time_s
        high = result.step_time_high_s or result.step_time_s
        unread = tuple(one for one in result.assumed if one.word)
        found.append((result.step_time_s, low, high, name, unread))
    if not found:
        raise reasons[0]
    fastest, slowest = (ends(found, key=itemgetter(0, 1, 2, 3)) for ends in (min, max))
    return OpenRow(
        row.id,
        published_step_time_s(run),
        fastest[1],
        slowest[2],
        fastest[3],
        slowest[3],
        len(found),
        columns,
        fastest[4],
    )


def open_rows(rows: Sequence[PublishedRow], constants: RooflineConstants) -> tuple[OpenRow, ...]:
    """Return every row that leaves something open and can be bounded.

    Args:
        rows: Published runs.
        constants: Of the roofline model.
    """
    found = []
    for row in rows:
        try:
            found.append(open_row(row, constants))
        except Incomplete:
            continue
    return tuple(found)
