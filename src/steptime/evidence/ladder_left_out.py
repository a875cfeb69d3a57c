"""What each kind of knowledge buys, on runs that played no part in the constants used on them.

`steptime.evidence.ladder` asks the same runs with the constants that were fitted to all of them.
Here each run is asked with those that were fitted without its source, or without its model where
one source has all runs of a kind: what a reader may expect of software that nobody has measured.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from steptime.evidence.calibration import calibrate
from steptime.evidence.ladder import LadderLine, ladder_of
from steptime.evidence.residuals import KINDS
from steptime.evidence.samples import Table, all_runs, scored
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.inputs.constants import RooflineConstants


def constants_without(runs: Table) -> dict[str, RooflineConstants]:
    """Return the constants fitted without each unit that has scored runs, by its name.

    Args:
        runs: Every run.
    """
    units = runs.column(lambda sample: sample.origin)
    counted = dict.fromkeys(sample.origin for sample in runs.samples if scored(sample))
    return {unit: calibrate(runs, units != unit) for unit in counted}


@functools.cache
def published_without() -> Mapping[str, RooflineConstants]:
    """Return the constants fitted without each unit of all published runs, fitted once."""
    return constants_without(all_runs())


def kinds_left_out(
    runs: Table, constants: Mapping[str, RooflineConstants]
) -> dict[str, tuple[LadderLine, ...]]:
    """Return the ladder of each kind of run, every run's unit left out of the fit.

    Args:
        runs: Every run; those of sweeps, and those that are not scored, are fitted to alone.
        constants: Fitted without each unit.
    """
    samples = {sample.id: sample for sample in runs.samples if scored(sample)}

    def constants_of(row: PublishedRow) -> RooflineConstants:
        return constants[samples[row.id].origin]

    rows = [row for row in published_rows() if row.id in samples]
    return {
        kind: ladder_of([row for row in rows if samples[row.id].kind == kind], constants_of)
        for kind in KINDS
    }


@functools.cache
def ladder_left_out() -> Mapping[str, tuple[LadderLine, ...]]:
    """Return the ladder of each kind of published run, left out of the fit."""
    return kinds_left_out(all_runs(), published_without())
