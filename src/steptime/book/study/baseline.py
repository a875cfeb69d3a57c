"""§11 and §11a: the baseline on the chapter's rows, and its assumptions one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from steptime.evidence.assumptions import ASSUMPTIONS, Assumption, changed_summary
from steptime.evidence.baseline import chapter_rows, fitted_constants
from steptime.evidence.measured import counted_flop_per_device
from steptime.evidence.runs import Run, run_of
from steptime.evidence.validate import (
    RowResult,
    Summary,
    Validation,
    baseline_validation,
    row_result,
    summary,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineStudy:
    """The baseline and a constant guess on the chapter's rows.

    Attributes:
        runs: Inputs of each row.
        validation: The baseline's results.
        guess: Results of a constant guess, same rows.
        guess_tflops: The guess on an A100; other devices get the same share of their peak.
    """

    runs: tuple[Run, ...]
    validation: Validation
    guess: tuple[RowResult, ...]
    guess_tflops: float

    def group(self, prefix: str, results: Sequence[RowResult] | None = None) -> Summary:
        """Return the summary over rows whose id starts with ``prefix``; all but the fitted.

        Args:
            prefix: ``nar21``, ``llama3`` or nothing.
            results: The baseline's if None.
        """
        rows = self.validation.rows if results is None else results
        return summary([row for row in rows if row.id.startswith(prefix)])

    def group_with_fitted(self, prefix: str, results: Sequence[RowResult]) -> Summary:
        """Return the summary over all rows of a group, the fitted one too.

        Args:
            prefix: Start of the ids.
            results: Rows of one model.
        """
        rows = [replace(row, fitted=False) for row in results if row.id.startswith(prefix)]
        return summary(rows)

    def row(self, run_id: str) -> RowResult:
        """Return the baseline's result of one run.

        Args:
            run_id: The run's id.
        """
        return next(row for row in self.validation.rows if row.id == run_id)

    def rates_tflops(self, prefix: str) -> list[float]:
        """Return the predicted TFLOP/s of each run of a group.

        Args:
            prefix: Start of the ids.
        """
        return [row.tflops_per_gpu for row in self.validation.rows if row.id.startswith(prefix)]


def guess_result(run: Run, tflops_per_gpu: float) -> RowResult:
    """Return what a constant rate says of one run.

    Args:
        run: The run.
        tflops_per_gpu: The rate on an A100; another device gets the same share of its peak.
    """
    rate = tflops_per_gpu * 1e12 * run.accelerator.peak_flop_per_s / 312e12
    return row_result(run, {"compute": counted_flop_per_device(run) / rate})


def baseline_study(guess_tflops: float) -> BaselineStudy:
    """Return the baseline, its constant fitted anew, and a constant guess beside it.

    Args:
        guess_tflops: The constant guess on an A100, TFLOP/s.
    """
    rows = chapter_rows()
    runs = tuple(run_of(row) for row in rows)
    return BaselineStudy(
        runs=runs,
        validation=baseline_validation(rows, fitted_constants()),
        guess=tuple(guess_result(run, guess_tflops) for run in runs),
        guess_tflops=guess_tflops,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """One assumption, and the errors under its alternative.

    Attributes:
        assumption: What is changed.
        eta: Fitted anew.
        summary: Errors under the change.
    """

    assumption: Assumption
    eta: float
    summary: Summary


def sensitivity_study() -> tuple[Summary, list[Sensitivity]]:
    """Return the summary as the chapter has it, and one for each assumption changed."""
    rows = chapter_rows()
    runs = [run_of(row) for row in rows]
    changed = []
    for assumption in ASSUMPTIONS:
        eta, errors = changed_summary(runs, assumption)
        changed.append(Sensitivity(assumption=assumption, eta=eta, summary=errors))
    return baseline_validation(rows, fitted_constants()).summary, changed


def by_mean_error(changed: Sequence[Sensitivity]) -> list[Sensitivity]:
    """Return the changed assumptions, the one that helps most first.

    Args:
        changed: One for each assumption.
    """
    return sorted(changed, key=lambda one: one.summary.mean_abs_error_fraction or 0.0)
