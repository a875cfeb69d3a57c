"""§17: the roofline model on runs that played no part in the fit of its constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steptime.evidence.calibration import calibrate
from steptime.evidence.interval_coverage import Coverage, coverages
from steptime.evidence.leave_out import LeftOut, published_left_out
from steptime.evidence.residuals import KINDS, causes
from steptime.evidence.rivals import (
    alike,
    baseline_errors,
    constant_share_errors,
    llm_analysis_errors,
)
from steptime.evidence.row_said import dated
from steptime.evidence.samples import Sample, Table, all_runs, scored
from steptime.formulas.flops import hardware_flop_per_token, num_devices, tokens_per_step

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Errors:
    """What the errors of some runs amount to, in ln(predicted / measured step time).

    Attributes:
        rows: How many.
        bias: Mean.
        mean: Mean size.
        median: Median size.
        largest: Largest size.
        correlation: Of predicted and measured TFLOP/s per device; NaN under three rows, or where
            all are alike.
    """

    rows: int
    bias: float
    mean: float
    median: float
    largest: float
    correlation: float


@dataclass(frozen=True, slots=True)
class SourceErrors:
    """A source's errors by the roofline model, left out of its fit, and by three others.

    Attributes:
        kind: Of the runs.
        source: Who measured.
        roofline: Errors of the roofline model.
        constant_mean: Mean size with one share of the peak for each generation and precision.
        baseline_mean: Mean size of the baseline, NaN in 8 bits.
        llm_analysis_mean: Mean size of llm-analysis, NaN where it takes no run.
    """

    kind: str
    source: str
    roofline: Errors
    constant_mean: float
    baseline_mean: float
    llm_analysis_mean: float


@dataclass(frozen=True, slots=True)
class RooflineStudy:
    """Everything that §17 shows.

    Attributes:
        result: Left-out errors of the scored runs.
        sources: By kind and source.
        coverages: Of the intervals, by kind and what is known of the software.
    """

    result: LeftOut
    sources: tuple[SourceErrors, ...]
    coverages: tuple[Coverage, ...]

    def equal_weight(self, kind: str) -> tuple[float, float]:
        """Return mean and median error of a kind, each source counting the same.

        Args:
            kind: One of ``KINDS``.
        """
        chosen = [one.roofline for one in self.sources if one.kind == kind]
        return (
            float(np.mean([one.mean for one in chosen])),
            float(np.mean([one.median for one in chosen])),
        )

    def source(self, name: str, kind: str) -> SourceErrors:
        """Return the errors of one source's runs of a kind.

        Args:
            name: Of the source.
            kind: One of ``KINDS``.
        """
        return next(one for one in self.sources if (one.source, one.kind) == (name, kind))

    def assumed_mean(self, kind: str) -> float:
        """Return the mean left-out error of a kind where nothing is known of the software.

        Args:
            kind: One of ``KINDS``.
        """
        wanted = self.result.runs.column(lambda s: s.kind) == kind
        return float(np.nanmean(np.abs(self.result.assumed_errors[wanted])))

    def rows(self, prefixes: Sequence[str]) -> Errors:
        """Return what the errors of some sources' rows amount to.

        Args:
            prefixes: Sources.
        """
        wanted = np.isin(self.result.runs.column(lambda s: s.source), list(prefixes))
        return errors(self.result.runs, self.result.errors, wanted)


def rate(runs: Table) -> Floats:
    """Return the measured FLOP per second and device, recomputation counted, shape (n,).

    Args:
        runs: Published runs.
    """
    flop = tokens_per_step(runs.jobs) * hardware_flop_per_token(runs.jobs)
    return np.asarray(flop / num_devices(runs.jobs) / runs.step_time_s)


def errors(runs: Table, found: Floats, wanted: NDArray[np.bool_]) -> Errors:
    """Return what some errors amount to.

    Args:
        runs: Published runs.
        found: ln(predicted / measured step time) of each.
        wanted: Which of them count.
    """
    chosen = found[wanted]
    sizes = np.abs(chosen)
    measured = rate(runs)[wanted]
    predicted = measured * np.exp(-chosen)
    related = float("nan")
    # Runs that a source prints as one number have nothing to be related to.
    if len(chosen) > 2 and np.ptp(measured) > 0.0 and np.ptp(predicted) > 0.0:
        related = float(np.corrcoef(measured, predicted)[0, 1])
    return Errors(
        len(chosen),
        float(chosen.mean()),
        float(sizes.mean()),
        float(np.median(sizes)),
        float(sizes.max()),
        related,
    )


def _mean_size(values: Floats) -> float:
    there = values[~np.isnan(values)]
    return float(np.abs(there).mean()) if there.size else float("nan")


def roofline_study() -> RooflineStudy:
    """Return the left-out errors of every published run, by three models."""
    result = published_left_out()
    runs = result.runs
    sources, kinds = runs.column(lambda s: s.source), runs.column(lambda s: s.kind)
    constant, baseline = constant_share_errors(runs, alike), baseline_errors(runs)
    peer = llm_analysis_errors(runs)
    found = []
    for kind in KINDS:
        for source in dict.fromkeys(sources[kinds == kind].tolist()):
            here = (kinds == kind) & (sources == source)
            found.append(
                SourceErrors(
                    kind,
                    source,
                    errors(runs, result.errors, here),
                    float(np.abs(constant[here]).mean()),
                    _mean_size(baseline[here]),
                    _mean_size(peer[here]),
                )
            )
    return RooflineStudy(result, tuple(found), coverages(result.residuals))


@dataclass(frozen=True, slots=True)
class Device:
    """Errors on an accelerator whose runs are all left out.

    Attributes:
        name: Of the accelerator.
        kind: Of the runs.
        errors: What they amount to.
    """

    name: str
    kind: str
    errors: Errors


def devices_left_out() -> tuple[Device, ...]:
    """Return the errors on each accelerator, all its runs left out of the fit."""
    runs = all_runs()
    names = runs.column(lambda sample: sample.inputs.run.accelerator.name)
    kinds, counted = runs.column(lambda s: s.kind), runs.column(scored)
    found = []
    for name in np.unique(names[counted]):
        without = runs.errors(calibrate(runs, names != name))
        for kind in KINDS:
            here = (names == name) & (kinds == kind) & counted
            if here.any():
                found.append(Device(str(name), kind, errors(runs, without, here)))
    return tuple(found)


def worst_rows(study: RooflineStudy, count: int) -> list[tuple[Sample, float, str]]:
    """Return the runs with the largest left-out errors, each with its likely cause.

    Args:
        study: Left-out errors.
        count: How many.
    """
    order = np.argsort(-np.abs(study.result.errors))[:count]
    known = causes()
    chosen = [(study.result.runs.samples[at], float(study.result.errors[at])) for at in order]
    return [(sample, error, known.get(sample.id, "not known")) for sample, error in chosen]


def years(study: RooflineStudy) -> Floats:
    """Return when each run was measured, NaN where nothing says it, shape (n,).

    Args:
        study: Left-out errors.
    """
    found = [dated(sample.inputs.run.row)[0] for sample in study.result.runs.samples]
    return np.array([float("nan") if year is None else year for year in found])
