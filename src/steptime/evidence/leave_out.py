"""Errors on runs of sources that played no part in any fitted constant used on them.

Each source is left out whole: its rows from the fit, and, on the rungs of
`steptime.evidence.ladder` that know no more than a family or nothing, every fact that was read
off or inferred from its runs too, for no family ever means a stack that was described for one
source. As the source tells its software, such facts stay; so do constants kept at a value read
off one source, which §17a lists, and the form of the model, chosen with all errors in view.
Run as a module it writes ``data/roofline_residuals.csv``, from which
`steptime.evidence.intervals` makes intervals.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steptime.evidence.adding import step_of
from steptime.evidence.ladder import family_and_date, nothing
from steptime.evidence.ladder_left_out import constants_without, published_without
from steptime.evidence.residuals import COLUMNS, RESIDUALS, WORDS, Residual
from steptime.evidence.runs import Incomplete
from steptime.evidence.samples import Sample, Table, all_runs, sample_of, scored, table
from steptime.evidence.schema import PublishedRow
from steptime.formulas.flops import attention_share
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.datafiles import data_path
from steptime.inputs.said import EXACT, FAMILY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Missed = dict[str, tuple[float, float]]
"""Exposed share and error of runs by their id."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Errors of runs left out of all fits.

    Attributes:
        runs: The runs, scored ones only.
        residuals: The error of each, with much and with little known of its software.
        parts: Seconds of each part of the predicted step, shape (n,) each.
    """

    runs: Table
    residuals: tuple[Residual, ...]
    parts: dict[str, Floats]

    @property
    def errors(self) -> Floats:
        """Return ln(predicted / measured step time) with software as told, shape (n,)."""
        import numpy as np

        return np.array([one.error for one in self.residuals])

    @property
    def assumed_errors(self) -> Floats:
        """Return the same with nothing known of the software, NaN where it cannot be asked."""
        import numpy as np

        return np.array([one.assumed_error for one in self.residuals], dtype=np.float64)


def asked_as(
    rung: Callable[[PublishedRow], PublishedRow], runs: Sequence[Sample]
) -> tuple[Sample, ...]:
    """Return runs as if less were known of their software, without those that cannot be asked so.

    Args:
        rung: Takes from a row what is not known.
        runs: Published runs.
    """
    found = []
    for sample in runs:
        try:
            asked = sample_of(rung(sample.inputs.run.row))
        except Incomplete:
            continue
        found.append(replace(asked, step_time_s=sample.step_time_s))
    return tuple(found)


def _missed(
    runs: Table, constants: RooflineConstants
) -> tuple[Floats, Floats, Mapping[str, Floats]]:
    """Return exposed share and error of each run, and its parts."""
    import numpy as np

    parts: Mapping[str, Any] = runs.parts(constants)
    total = step_of(parts)
    exposed = 1.0 - (parts["compute"] + parts["recompute"]) / total
    return np.asarray(exposed), np.asarray(np.log(total / runs.step_time_s)), parts


def _by_id(runs: Sequence[Sample], constants: RooflineConstants) -> Missed:
    if not runs:
        return {}
    exposed, errors, _ = _missed(table(runs), constants)
    pairs = zip(exposed.tolist(), errors.tolist(), strict=True)
    return {sample.id: pair for sample, pair in zip(runs, pairs, strict=True)}


def _hidden(runs: Sequence[Sample], constants: RooflineConstants) -> dict[str, float]:
    """Return ln(the step with nothing hidden / the step) of each run."""
    import numpy as np

    if not runs:
        return {}
    open_runs = [
        replace(one, inputs=replace(one.inputs, software=replace(software, time=software.unhidden)))
        for one in runs
        for software in [one.inputs.software]
    ]
    slowest, usual = (step_of(table(one).parts(constants)) for one in (open_runs, runs))
    ratios = np.maximum(np.log(np.asarray(slowest) / np.asarray(usual)), 0.0).tolist()
    return {one.id: float(ratio) for one, ratio in zip(runs, ratios, strict=True)}


@functools.cache
def published_left_out() -> LeftOut:
    """Return all published runs with their left-out errors, fitted once."""
    return left_out(all_runs(), published_without())


def left_out(runs: Table, constants: Mapping[str, RooflineConstants] | None = None) -> LeftOut:
    """Return the scored runs with their left-out errors, much and little of their software known.

    Args:
        runs: Every run.
        constants: Fitted without each source; fitted here if None.
    """
    import numpy as np

    without = constants_without(runs) if constants is None else constants
    counted = [sample for sample in runs.samples if scored(sample)]
    # A row that names no family is no example of what a family tells.
    by_family = [
        sample
        for sample in asked_as(family_and_date, counted)
        if sample.inputs.software.knowledge == FAMILY
    ]
    by_nothing = asked_as(nothing, counted)
    told, family, assumed = Missed(), Missed(), Missed()
    hidden: dict[str, float] = {}
    seconds: dict[str, dict[str, float]] = {}
    for origin in dict.fromkeys(sample.origin for sample in counted):
        fitted = without[origin]
        out = [sample for sample in counted if sample.origin == origin]
        exposed, errors, parts = _missed(table(out), fitted)
        for at, sample in enumerate(out):
            told[sample.id] = (float(exposed[at]), float(errors[at]))
            seconds[sample.id] = {name: float(values[at]) for name, values in parts.items()}
        family |= _by_id([one for one in by_family if one.origin == origin], fitted)
        unnamed = [one for one in by_nothing if one.origin == origin]
        assumed |= _by_id(unnamed, fitted)
        hidden |= _hidden(unnamed, fitted)
    found = tuple(
        replace(_residual(one, told, family, assumed), assumed_hidden=hidden.get(one.id))
        for one in counted
    )
    names = seconds[counted[0].id]
    predicted = {name: np.array([seconds[one.id][name] for one in counted]) for name in names}
    return LeftOut(table(counted), found, predicted)


def _residual(sample: Sample, told: Missed, family: Missed, assumed: Missed) -> Residual:
    exposed, error = told[sample.id]
    family_exposed, family_error = family.get(sample.id, (None, None))
    assumed_exposed, assumed_error = assumed.get(sample.id, (None, None))
    software = sample.inputs.software
    return Residual(
        id=sample.id,
        source=sample.origin,
        kind=sample.kind,
        knowledge=EXACT if software.known else software.knowledge,
        attention=float(attention_share(sample.inputs.job)),
        exposed=exposed,
        error=error,
        family_exposed=family_exposed,
        family_error=family_error,
        assumed_exposed=assumed_exposed,
        assumed_error=assumed_error,
    )


def write_residuals(result: LeftOut, path: Path) -> None:
    """Write left-out errors, four digits each; a cell is empty where a run cannot be asked so.

    Args:
        result: The errors.
        path: File to write.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for one in result.residuals:
            words = [getattr(one, name) for name in WORDS]
            numbers = (getattr(one, name) for name in COLUMNS if name not in WORDS)
            writer.writerow([*words, *("" if n is None else f"{n:.4f}" for n in numbers)])


if __name__ == "__main__":
    write_residuals(published_left_out(), data_path(RESIDUALS))
