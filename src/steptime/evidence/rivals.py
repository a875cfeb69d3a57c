"""What other models make of the same runs: one share of the peak, the baseline, llm-analysis."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import TYPE_CHECKING

from steptime.answer.question import most_chunks
from steptime.evidence.samples import Sample, Table
from steptime.formulas.baseline import chapter_step, step_s
from steptime.formulas.flops import hardware_flop_per_token, num_devices, tokens_per_step
from steptime.formulas.records import BaselineParts
from steptime.inputs.baseline_constants import baseline_constants
from steptime.inputs.datafiles import data_path

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def share_of_peak(runs: Table) -> Floats:
    """Return the share of the peak that each run reached, recomputation counted, shape (n,).

    Args:
        runs: Published runs.
    """
    import numpy as np

    flop = tokens_per_step(runs.jobs) * hardware_flop_per_token(runs.jobs)
    peak = np.where(runs.jobs.fp8 > 0.0, runs.jobs.peak_fp8_flop_per_s, runs.jobs.peak_flop_per_s)
    return np.asarray(flop / (num_devices(runs.jobs) * peak * runs.step_time_s))


def alike(sample: Sample) -> str:
    """Return what runs have in common that one share of the peak is taken from.

    Args:
        sample: A run.
    """
    return f"{sample.inputs.run.accelerator.generation}, {sample.kind}"


def constant_share_errors(runs: Table, alike: Callable[[Sample], str]) -> Floats:
    """Return ln(predicted / measured) of the best constant share, each unit left out, shape (n,).

    The share is the median of the runs that are alike, of other units.

    Args:
        runs: Published runs.
        alike: What has a share in common: a generation and a precision, say.
    """
    import numpy as np

    share = np.log(share_of_peak(runs))
    units = runs.column(lambda sample: sample.unit)
    groups = runs.column(alike)
    errors = np.full(len(share), np.nan)
    for unit in np.unique(units):
        for group in np.unique(groups[units == unit]):
            out = (units == unit) & (groups == group)
            others = (units != unit) & (groups == group)
            if not np.any(others):
                others = units != unit
            errors[out] = share[out] - np.median(share[others])
    return errors


def baseline_parts(runs: Table) -> BaselineParts:
    """Return the parts of the baseline's steps, in seconds, shape (n,) each.

    It takes one sequence a micro-batch and the most interleaving, as in its own section.

    Args:
        runs: Published runs.
    """
    import copy

    import numpy as np

    jobs = copy.copy(runs.jobs)
    jobs.micro_batch_size = np.ones_like(jobs.micro_batch_size)
    jobs.vpp = runs.column(
        lambda sample: float(
            most_chunks(sample.inputs.run.model.num_layers, sample.inputs.run.layout.pp)
        )
    )
    return chapter_step(jobs, baseline_constants())


def llm_analysis_errors(runs: Table) -> Floats:
    """Return ln(predicted / measured) of llm-analysis with an efficiency of 0.5, shape (n,).

    NaN where it refuses a run. Its step times are kept in ``data/llm_analysis_steps.csv``,
    which ``bench/rival_rows.py`` makes.

    Args:
        runs: Published runs.
    """
    import numpy as np

    with data_path("llm_analysis_steps.csv").open(encoding="utf-8", newline="") as file:
        steps = {row["id"]: float(row["step_time_s"]) for row in csv.DictReader(file)}
    predicted = np.array([steps.get(sample.id, float("nan")) for sample in runs.samples])
    return np.asarray(np.log(predicted / runs.step_time_s))


def baseline_errors(runs: Table) -> Floats:
    """Return ln(predicted / measured) of the baseline, NaN in 8 bits, shape (n,).

    Args:
        runs: Published runs.
    """
    import numpy as np

    predicted = step_s(baseline_parts(runs))
    return np.where(runs.jobs.fp8 > 0.0, np.nan, np.log(predicted / runs.step_time_s))
