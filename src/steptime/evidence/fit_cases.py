"""Runs that fitted or ran out of memory near the edge: `data/fit_cases.csv`.

Each line is a configuration that somebody published with its outcome and nothing else: column
``ran`` is y or n. The other columns are those of ``published_runs.csv``. What is said of the
software is what its reporter could say.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass

from steptime.answer.answer import answer
from steptime.evidence.row_question import question_of_run
from steptime.evidence.runs import Run, run_of
from steptime.evidence.schema import published_row
from steptime.evidence.text_table import text_rows
from steptime.inputs.datafiles import data_path
from steptime.inputs.errors import ConfigError, check_choice

FILE = "fit_cases.csv"
OUTCOMES = {"y": True, "n": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class FitCase:
    """A published configuration, whether it ran, and what the model says of it.

    Attributes:
        id: Of the line.
        source: Key of ``references.bib``.
        run: Its inputs.
        ran: Whether it fitted.
        total_bytes: Counted on the fullest device.
        limit_bytes: What the device reports.
        chance: That it fits, by the model.
        outlook: How the answer words it.
    """

    id: str
    source: str
    run: Run
    ran: bool
    total_bytes: float
    limit_bytes: float
    chance: float
    outlook: str

    @property
    def likelier(self) -> bool:
        """Return whether the outcome is the one that the model holds to be likelier."""
        return (self.chance >= 0.5) == self.ran


def _case(cells: dict[str, str]) -> FitCase:
    outcome = OUTCOMES[check_choice("ran", cells.pop("ran"), tuple(OUTCOMES))]
    row = published_row(cells)
    found = question_of_run(run_of(row))
    told = answer(found.question("roofline"))
    if told.fit_probability is None:
        raise ConfigError(f"{row.id}: too few peaks are known for a chance")
    return FitCase(
        id=row.id,
        source=row.source,
        run=found.run,
        ran=outcome,
        total_bytes=told.total_bytes,
        limit_bytes=told.memory.limit_bytes,
        chance=told.fit_probability,
        outlook=told.memory.outlook,
    )


@functools.cache
def fit_cases() -> tuple[FitCase, ...]:
    """Return the cases of ``data/fit_cases.csv``, each with the chance that it fits."""
    return tuple(_case(cells) for _, cells in text_rows(data_path(FILE)))


def brier(cases: Iterable[FitCase]) -> float:
    """Return the mean square of what chances are off by: 0 for a seer, 1/4 for a coin.

    Args:
        cases: Cases with outcomes.

    References:
        brier1950, Eq. 2.
    """
    several = tuple(cases)
    return math.fsum((one.chance - float(one.ran)) ** 2 for one in several) / len(several)
