"""Errors on runs that played no part in any fitted constant used on them.

Constants and facts that are kept at a value read off one source stay when that source is left
out; §17a lists them. So does the form of the model, which was chosen with all errors in view.
What is left out together is a unit: all rows of a source, or of one model where one source
has all runs of a kind. Run as a module it writes ``data/roofline_residuals.csv``, from which
`steptime.evidence.intervals` makes intervals.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from steptime.evidence.adding import step_of
from steptime.evidence.calibration import calibrate
from steptime.evidence.residuals import RESIDUALS
from steptime.evidence.samples import Table, all_runs, scored, table
from steptime.formulas.judgement import shares_weights
from steptime.formulas.number import Number
from steptime.inputs.datafiles import data_path
from steptime.inputs.software import software

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Errors of runs left out of all fits.

    Attributes:
        runs: The runs, scored ones only.
        errors: ln(predicted / measured step time), shape (n,).
        assumed_errors: The same where the software is not known but assumed, shape (n,).
        exposed: Share of the predicted step that is no computing, shape (n,).
        parts: Seconds of each part of the predicted step, shape (n,) each.
    """

    runs: Table
    errors: Floats
    assumed_errors: Floats
    exposed: Floats
    parts: dict[str, Floats]


def with_assumed_software(runs: Table) -> Table:
    """Return the runs as if nothing were known of their software.

    Args:
        runs: Published runs.
    """
    changed = []
    for sample in runs.samples:
        inputs = sample.inputs
        step = inputs.step
        # What the row says of its date, its scales and its switches stays; its software's name
        # goes, and with it all that the name stands for.
        said = replace(step.said, stack=None)
        shared = shares_weights(inputs.job) > 0.0
        kept = software(said, step.accelerator, step.model, step.layout.precision, shared)
        changed.append(replace(sample, inputs=replace(inputs, software=kept)))
    return table(changed)


def left_out(runs: Table) -> LeftOut:
    """Return the scored runs with their left-out errors, their software known and assumed.

    Args:
        runs: Every run.
    """
    import numpy as np

    units = runs.column(lambda sample: sample.unit)
    assumed = with_assumed_software(runs)
    count = len(units)
    errors, guesses, exposed = np.empty(count), np.empty(count), np.empty(count)
    seconds: dict[str, Floats] = {}
    for unit in np.unique(units):
        out = units == unit
        constants = calibrate(runs, ~out)
        parts: Mapping[str, Number] = runs.parts(constants)
        total = step_of(parts)
        errors[out] = np.log(total / runs.step_time_s)[out]
        exposed[out] = (1.0 - (parts["compute"] + parts["recompute"]) / total)[out]
        guesses[out] = assumed.errors(constants)[out]
        for name, values in parts.items():
            seconds.setdefault(name, np.empty(count))[out] = values[out]
    keep = runs.column(scored)
    chosen = [sample for sample, kept in zip(runs.samples, keep, strict=True) if kept]
    kept = {name: values[keep] for name, values in seconds.items()}
    return LeftOut(table(chosen), errors[keep], guesses[keep], exposed[keep], kept)


def write_residuals(result: LeftOut, path: Path) -> None:
    """Write left-out errors, four digits each.

    Args:
        result: The errors.
        path: File to write.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "unit", "kind", "exposed", "error", "assumed_error"])
        for index, sample in enumerate(result.runs.samples):
            numbers = (result.exposed, result.errors, result.assumed_errors)
            cells = [f"{float(values[index]):.4f}" for values in numbers]
            writer.writerow([sample.id, sample.unit, sample.kind, *cells])


if __name__ == "__main__":
    write_residuals(left_out(all_runs()), data_path(RESIDUALS))
