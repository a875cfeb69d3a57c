"""A model against published runs: each row's error, and what the errors amount to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from steptime.evidence.adding import step_of
from steptime.evidence.agreement import correlation
from steptime.evidence.baseline import FITTED_ON, baseline_job
from steptime.evidence.measured import (
    counted_flop_per_device,
    published_step_time_s,
    published_tflops_per_gpu,
)
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import PublishedRow
from steptime.formulas.baseline import chapter_step
from steptime.inputs.assumed import Assumed
from steptime.inputs.baseline_constants import BaselineConstants, baseline_constants
from steptime.inputs.shown import Row, Shown

if TYPE_CHECKING:
    from steptime.evidence.own_fit import OwnFit

Parts = dict[str, float]
SHOWN = (
    *("id", "source", "step_time_s", "step_time_low_s", "step_time_high_s"),
    *("published_step_time_s", "error_fraction", "fitted"),
)
"""Columns of a result as rows."""
NO_SOURCE = "not stated"
"""Who measured a row that does not say."""
_LINE = "line"
"""Ids of rows without one start so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowResult:
    """One published run and what a model says of it.

    Attributes:
        id: Of the row.
        step_time_s: Predicted.
        published_step_time_s: Measured.
        tflops_per_gpu: Predicted, by the source's own way to count FLOP.
        published_tflops_per_gpu: Measured, likewise.
        error_fraction: Predicted over published throughput, less one: negative is too slow.
        breakdown_s: Parts of the predicted step, exposed seconds.
        fitted: Whether this row fixed a constant of the model; then it is no prediction.
        assumed: A record of each thing that the row does not say, or not in known words, and of
            all that an answer says beside itself: what it lies beyond, what is not modelled.
        step_time_low_s: Lower end of the interval, None where there is none.
        step_time_high_s: Upper end.
        source: Who measured it.
        kept_out: Why no mean counts it: nobody can have measured it; empty where one may have.
    """

    id: str
    step_time_s: float
    published_step_time_s: float
    tflops_per_gpu: float
    published_tflops_per_gpu: float
    error_fraction: float
    breakdown_s: Parts
    fitted: bool
    assumed: tuple[Assumed, ...]
    step_time_low_s: float | None = None
    step_time_high_s: float | None = None
    source: str = ""
    kept_out: str = ""

    @property
    def inside(self) -> bool | None:
        """Return whether the measured step lies in the interval, None without one."""
        if self.step_time_low_s is None or self.step_time_high_s is None:
            return None
        return self.step_time_low_s <= self.published_step_time_s <= self.step_time_high_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the errors amount to, over the rows that fixed no constant.

    Attributes:
        rows: Rows counted.
        mean_abs_error_fraction: None without rows.
        median_abs_error_fraction: None without rows.
        max_abs_error_fraction: None without rows.
        mean_error_fraction: The bias; None without rows.
        correlation: Pearson's, of TFLOP/s per GPU; None under three rows or without spread.
        intervals: Rows with an interval.
        covered_fraction: Share of them inside it; None without intervals.
        mean_abs_ln_error: Mean size of ln(predicted over measured step time).
        median_abs_ln_error: Median size of it.
        mean_ln_error: Its bias: above zero, the model is too slow.
    """

    rows: int
    mean_abs_error_fraction: float | None
    median_abs_error_fraction: float | None
    max_abs_error_fraction: float | None
    mean_error_fraction: float | None
    correlation: float | None
    intervals: int = 0
    covered_fraction: float | None = None
    mean_abs_ln_error: float | None = None
    median_abs_ln_error: float | None = None
    mean_ln_error: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation(Shown):
    """A model on a file of rows.

    Attributes:
        model: Its name.
        constants: Name and value of each constant.
        rows: A result for each row that could be predicted.
        skipped: Id and reason of every other row.
        summary: Over the rows that are predictions.
        by_source: The same of each source, in the file's order.
        fit: The constants that were fitted to these rows, and what they buy; None where none were.
    """

    model: str
    constants: dict[str, float]
    rows: tuple[RowResult, ...]
    skipped: tuple[tuple[str, str], ...]
    summary: Summary
    by_source: dict[str, Summary]
    fit: OwnFit | None = None

    @property
    def kept_out(self) -> tuple[tuple[str, str], ...]:
        """Return id and reason of each row that nobody can have measured."""
        return tuple((row.id, row.kept_out) for row in self.rows if row.kept_out)

    def title(self) -> str:
        """Return the model, the rows and the mean error."""
        error = self.summary.mean_abs_error_fraction
        told = "" if error is None else f", off by {error:.1%} on average"
        return f"{self.model} on {len(self.rows)} runs{told}; {len(self.skipped)} skipped"

    def records(self) -> list[Row]:
        """Return a row a run: predicted and measured step, interval and error."""
        return [{name: getattr(one, name) for name in SHOWN} for one in self.rows]

    def _draw(self, axes: Any) -> None:
        measured = [one.published_step_time_s for one in self.rows]
        axes.loglog(measured, [one.step_time_s for one in self.rows], "o")
        axes.loglog(measured, measured, "-", color="grey")
        axes.set_xlabel("measured step time (s)")
        axes.set_ylabel("predicted step time (s)")


def summary(rows: Sequence[RowResult]) -> Summary:
    """Return what the errors of some rows amount to.

    Rows that fixed a constant do not count, nor those that nobody can have measured.

    Args:
        rows: Results of one model.
    """
    counted = [row for row in rows if not row.fitted and not row.kept_out]
    errors = [row.error_fraction for row in counted]
    sizes = [abs(error) for error in errors]
    logs = [math.log(row.step_time_s / row.published_step_time_s) for row in counted]
    log_sizes = [abs(error) for error in logs]
    count = len(sizes)
    inside = [row.inside for row in counted if row.inside is not None]
    return Summary(
        rows=count,
        mean_abs_error_fraction=math.fsum(sizes) / count if count else None,
        median_abs_error_fraction=median(sizes) if count else None,
        max_abs_error_fraction=max(sizes, default=None),
        mean_error_fraction=math.fsum(errors) / count if count else None,
        correlation=correlation(
            [row.tflops_per_gpu for row in counted],
            [row.published_tflops_per_gpu for row in counted],
        ),
        intervals=len(inside),
        covered_fraction=sum(inside) / len(inside) if inside else None,
        mean_abs_ln_error=math.fsum(log_sizes) / count if count else None,
        median_abs_ln_error=median(log_sizes) if count else None,
        mean_ln_error=math.fsum(logs) / count if count else None,
    )


def by_source(rows: Sequence[RowResult]) -> dict[str, Summary]:
    """Return what the errors of each source's rows amount to, in the rows' order.

    Args:
        rows: Results of one model.
    """
    sources = dict.fromkeys(row.source for row in rows)
    return {name: summary([row for row in rows if row.source == name]) for name in sources}


def source_of(row: PublishedRow) -> str:
    """Return who measured a row: its source, or its id up to the last dash.

    Args:
        row: A published run.
    """
    before, _, last = row.id.rpartition("-")
    # An id that the row has from its line says nothing.
    named = "" if before == _LINE and last.isdigit() else before
    return row.source or named or NO_SOURCE


def row_result(run: Run, parts: Mapping[str, float], *, fitted: bool = False) -> RowResult:
    """Return the comparison of one run with the parts a model gives for it.

    Args:
        run: The published run.
        parts: Exposed seconds of each part; their sum is the step.
        fitted: Whether the run fixed a constant.

    Raises:
        Incomplete: If the row prints no outcome.
    """
    published_s = published_step_time_s(run)
    step_time_s = float(step_of(parts))
    return RowResult(
        id=run.id,
        step_time_s=step_time_s,
        published_step_time_s=published_s,
        tflops_per_gpu=counted_flop_per_device(run) / step_time_s / 1e12,
        published_tflops_per_gpu=published_tflops_per_gpu(run),
        error_fraction=published_s / step_time_s - 1.0,
        breakdown_s=dict(parts),
        fitted=fitted,
        assumed=run.assumed,
        source=source_of(run.row),
    )


def validate(
    rows: Sequence[PublishedRow],
    *,
    model: str,
    constants: dict[str, float],
    result: Callable[[Run], RowResult],
) -> Validation:
    """Return a model's results on rows; a row that lacks what it needs is skipped with a reason.

    Args:
        rows: Published runs.
        model: Name of the model.
        constants: Name and value of each constant.
        result: Gives the result of one run, or raises `Incomplete`.
    """
    results, skipped = [], []
    for row in rows:
        try:
            found = result(run_of(row))
            if not (math.isfinite(found.step_time_s) and math.isfinite(found.error_fraction)):
                raise Incomplete("sizes beyond what can be computed")
            results.append(found)
        except Incomplete as reason:
            skipped.append((row.id, f"{reason} ({reason.fault})"))
        except ArithmeticError as error:
            skipped.append((row.id, f"sizes beyond what can be computed: {error}"))
    return Validation(
        model=model,
        constants=constants,
        rows=tuple(results),
        skipped=tuple(skipped),
        summary=summary(results),
        by_source=by_source(results),
    )


def baseline_validation(
    rows: Sequence[PublishedRow], constants: BaselineConstants | None = None
) -> Validation:
    """Return the chapter's baseline on rows, with constants that may be fitted anew.

    Args:
        rows: Published runs.
        constants: The ones in ``data/`` if None.
    """
    used = constants or baseline_constants()

    def result(run: Run) -> RowResult:
        told: Mapping[str, Any] = chapter_step(baseline_job(run), used)
        parts = {name: float(value) for name, value in told.items()}
        return row_result(run, parts, fitted=run.id == FITTED_ON)

    return validate(
        rows,
        model="chapter",
        constants={"eta": float(used.eta), "latency_s": float(used.latency_s)},
        result=result,
    )
