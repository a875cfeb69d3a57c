"""Rows that leave the micro-batch or the chunks open: the interval that every choice spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from steptime.evidence.judge import run_result
from steptime.evidence.measured import published_step_time_s
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import PublishedRow
from steptime.inputs.constants import RooflineConstants

_MICRO_BATCHES = (1, 2, 4)


@dataclass(frozen=True, slots=True)
class OpenRow:
    """A row that does not state its micro-batch or chunks, between its extremes.

    Attributes:
        id: Of the row.
        published_step_time_s: Measured.
        step_time_low_s: Lower end of the fastest choice's interval.
        step_time_high_s: Upper end of the slowest choice's interval.
        fastest: That choice.
        slowest: That choice.
        choices: How many were tried.
    """

    id: str
    published_step_time_s: float
    step_time_low_s: float
    step_time_high_s: float
    fastest: str
    slowest: str
    choices: int

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


def _choices(row: PublishedRow, run: Run) -> Iterator[tuple[str, PublishedRow]]:
    sizes = [row.mbs] if run.micro_batch_stated else list(_MICRO_BATCHES)
    chunks = [row.vpp] if run.vpp_stated else _chunks(run)
    for size in sizes:
        for v in chunks:
            yield f"micro-batch {size}, vpp {v}", row.model_copy(update={"mbs": size, "vpp": v})


def open_row(row: PublishedRow, constants: RooflineConstants) -> OpenRow:
    """Return the interval that the open choices of a row span.

    Args:
        row: A published run.
        constants: Of the roofline model.

    Raises:
        Incomplete: If nothing is open, or no choice can be predicted.
    """
    run = run_of(row)
    if run.micro_batch_stated and run.vpp_stated:
        raise Incomplete("nothing is open")
    found, reason = [], "no choice divides the batch"
    for name, choice in _choices(row, run):
        try:
            result = run_result(run_of(choice), constants=constants)
        except Incomplete as error:
            reason = str(error)
            continue
        low = result.step_time_low_s or result.step_time_s
        high = result.step_time_high_s or result.step_time_s
        found.append((result.step_time_s, low, high, name))
    if not found:
        raise Incomplete(reason)
    fastest, slowest = min(found), max(found)
    return OpenRow(
        row.id,
        published_step_time_s(run),
        fastest[1],
        slowest[2],
        fastest[3],
        slowest[3],
        len(found),
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
