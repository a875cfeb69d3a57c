"""The errors of left-out runs that are kept in ``data/``, and the kinds runs are compared by."""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass

from steptime.answer.width import DENSE as DENSE
from steptime.answer.width import EXPERTS as EXPERTS
from steptime.answer.width import KINDS as KINDS
from steptime.answer.width import NARROW as NARROW
from steptime.inputs.datafiles import data_path
from steptime.inputs.errors import ConfigError

RESIDUALS = "roofline_residuals.csv"


@dataclass(frozen=True, slots=True)
class Residual:
    """One row of ``data/roofline_residuals.csv``.

    Attributes:
        id: Of the published row.
        unit: What it was left out with.
        kind: One of ``KINDS``.
        exposed: Share of the predicted step that is no computing.
        error: ln(predicted / measured), the software as the source tells it.
        assumed_error: The same with the software assumed.
    """

    id: str
    unit: str
    kind: str
    exposed: float
    error: float
    assumed_error: float


@functools.cache
def residuals() -> tuple[Residual, ...]:
    """Return the left-out errors kept in ``data/``.

    Raises:
        ConfigError: If the file holds a kind that is none.
    """
    with data_path(RESIDUALS).open(encoding="utf-8", newline="") as file:
        rows = tuple(
            Residual(
                row["id"],
                row["unit"],
                row["kind"],
                float(row["exposed"]),
                float(row["error"]),
                float(row["assumed_error"]),
            )
            for row in csv.DictReader(file)
        )
    if not all(row.kind in KINDS for row in rows):
        raise ConfigError(f"{RESIDUALS}: a kind that is none of {', '.join(KINDS)}")
    return rows


def causes() -> dict[str, str]:
    """Return the likely cause of each large miss, as ``data/roofline_causes.csv`` tells it."""
    with data_path("roofline_causes.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["cause"] for row in csv.DictReader(file)}
