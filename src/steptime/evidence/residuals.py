"""The errors of left-out runs that are kept in ``data/``, and the kinds runs are compared by."""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass, fields

from steptime.answer.width import DENSE as DENSE
from steptime.answer.width import EXPERTS as EXPERTS
from steptime.answer.width import KINDS as KINDS
from steptime.answer.width import NARROW as NARROW
from steptime.inputs.datafiles import data_path
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.said import EXACT, FAMILY, KNOWLEDGE, NOTHING

RESIDUALS = "roofline_residuals.csv"


@dataclass(frozen=True, slots=True)
class Miss:
    """How far a prediction was off.

    Attributes:
        source: What was left out with the run.
        exposed: Share of the predicted step that is no computing.
        error: ln(predicted / measured).
        hidden: ln(the step with nothing hidden / the predicted one), where nobody says what the
            software hides.
    """

    source: str
    exposed: float
    error: float
    hidden: float = 0.0

    @property
    def beyond(self) -> Miss:
        """Return by how much both steps, and all between them, were off."""
        slower = min(self.error + self.hidden, 0.0)
        return Miss(self.source, self.exposed, self.error if self.error > 0.0 else slower)


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """One row of ``data/roofline_residuals.csv``: a run, its whole source left out of the fit.

    Attributes:
        id: Of the published row.
        source: What it was left out with.
        kind: One of ``KINDS``.
        knowledge: What is told of its software, of ``KNOWLEDGE``; a stack that was described
            for the source itself is exact for its runs.
        attention: Share of its FLOP that attention has.
        exposed: Share of the predicted step that is no computing.
        error: ln(predicted / measured), the software as the source tells it.
        family_exposed: As ``exposed``, no more known than family and date; None where a source
            names no family.
        family_error: As ``error``, likewise.
        assumed_exposed: As ``exposed``, nothing known of the software; None where the step cannot
            be asked so.
        assumed_error: As ``error``, likewise.
        assumed_hidden: ln(the step with nothing hidden / the predicted one), likewise.
    """

    id: str
    source: str
    kind: str
    knowledge: str
    attention: float
    exposed: float
    error: float
    family_exposed: float | None
    family_error: float | None
    assumed_exposed: float | None
    assumed_error: float | None
    assumed_hidden: float | None = None

    def at(self, knowledge: str) -> Miss | None:
        """Return the error with so much known of the software; None where it was not so asked.

        Args:
            knowledge: One of ``KNOWLEDGE``; `EXACT` counts a run only if its stack is named.
        """
        exposed, error = {
            EXACT: (self.exposed, self.error if self.knowledge == EXACT else None),
            FAMILY: (self.family_exposed, self.family_error),
            NOTHING: (self.assumed_exposed, self.assumed_error),
        }[check_choice("knowledge", knowledge, KNOWLEDGE)]
        if exposed is None or error is None:
            return None
        hidden = self.assumed_hidden if knowledge == NOTHING else 0.0
        return Miss(self.source, exposed, error, hidden or 0.0)


WORDS = ("id", "source", "kind", "knowledge")
COLUMNS = tuple(entry.name for entry in fields(Residual))


@functools.cache
def residuals() -> tuple[Residual, ...]:
    """Return the left-out errors kept in ``data/``.

    Raises:
        ConfigError: If the file holds a kind that is none.
    """
    with data_path(RESIDUALS).open(encoding="utf-8", newline="") as file:
        rows = tuple(_residual(row) for row in csv.DictReader(file))
    if not all(row.kind in KINDS for row in rows):
        raise ConfigError(f"{RESIDUALS}: a kind that is none of {', '.join(KINDS)}")
    return rows


def _residual(row: dict[str, str]) -> Residual:
    words = {name: row[name] for name in WORDS}
    numbers = {
        name: float(row[name]) if row[name] else None for name in COLUMNS if name not in WORDS
    }
    return Residual(**words, **numbers)  # type: ignore[arg-type]


def causes() -> dict[str, str]:
    """Return the likely cause of each large miss, as ``data/roofline_causes.csv`` tells it."""
    with data_path("roofline_causes.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["cause"] for row in csv.DictReader(file)}
