"""The baseline model on published runs: its one fit, and what it assumes of every run."""

from __future__ import annotations

from dataclasses import replace

from steptime.answer.question import most_chunks
from steptime.evidence.measured import published_step_time_s
from steptime.evidence.row_question import RunQuestion, question_of_run
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.formulas.baseline import chapter_step, compute_s, step_s
from steptime.inputs.baseline_constants import BaselineConstants
from steptime.inputs.errors import ConfigError
from steptime.inputs.job import Job

FITTED_ON = "nar21-t1-001"
CHAPTER_IDS = tuple(
    [f"nar21-t1-{number:03d}" for number in range(1, 11)]
    + [f"llama3-{number:03d}" for number in range(1, 4)]
)


def chapter_question(run: Run) -> RunQuestion:
    """Return a run as the chapter sees it: one sequence a micro-batch, most interleaving.

    Args:
        run: The run; its real micro-batch and interleaving are left aside.

    Raises:
        Incomplete: If the run is beyond the model.
    """
    if run.layout.precision not in ("fp16", "bf16"):
        raise Incomplete(
            f"precision {run.layout.precision}: the baseline's constant was fitted in 16 bits"
        )
    found = question_of_run(run)
    step = found.step
    layout = replace(step.layout, vpp=most_chunks(step.model.num_layers, step.layout.pp))
    batch = replace(step.batch, micro_batch_size=1)
    changed = replace(step, layout=layout, batch=batch)
    try:
        return replace(found, step=changed, job=changed.job())
    except ConfigError as error:
        raise Incomplete(str(error)) from None


def baseline_job(run: Run) -> Job:
    """Return the flat record of a run as the chapter sees it.

    Args:
        run: The run.

    Raises:
        Incomplete: If it is beyond the model.
    """
    return chapter_question(run).job


def chapter_rows() -> list[PublishedRow]:
    """Return the 13 rows of the chapter: ten of Megatron-LM and three of Llama 3."""
    by_id = {row.id: row for row in published_rows()}
    return [by_id[name] for name in CHAPTER_IDS]


def fitted_eta(run: Run, latency_s: float) -> float:
    """Return the share of the peak that makes one run's step time exact.

    Args:
        run: A run without tensor or pipeline parallelism, so that all else is fixed.
        latency_s: Cost of a message or ring step.
    """
    record = baseline_job(run)
    at_peak = BaselineConstants(eta=1.0, latency_s=latency_s)
    parts = chapter_step(record, at_peak)
    rest = step_s(parts) - parts["compute"]
    return float(compute_s(record, at_peak) / (published_step_time_s(run) - rest))


def fitted_constants(latency_s: float = 5e-6) -> BaselineConstants:
    """Return the constants with eta fitted anew on the chapter's first row.

    Args:
        latency_s: Cost of a message or ring step.
    """
    first = run_of(chapter_rows()[0])
    return BaselineConstants(eta=fitted_eta(first, latency_s), latency_s=latency_s)
