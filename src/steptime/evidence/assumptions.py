"""Every assumption of the baseline, and what the mean error becomes under another one.

A change acts on the record of each run, on the parts of its step, or on the constants. The
share of peak is fitted anew under each change, so that a change cannot win by rescaling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from steptime.evidence.adding import step_of
from steptime.evidence.baseline import FITTED_ON, baseline_job
from steptime.evidence.measured import counted_flop_per_device, published_step_time_s
from steptime.evidence.runs import Run
from steptime.evidence.validate import Summary, row_result, summary
from steptime.formulas.baseline import chapter_step, schedule_overhead
from steptime.formulas.flops import (
    attention_flop_per_token,
    causal_flop_per_token,
    hardware_flop_per_token,
    model_flop_per_token,
)
from steptime.formulas.records import BaselineParts
from steptime.inputs.baseline_constants import BaselineConstants
from steptime.inputs.job import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """One thing that the baseline takes for granted.

    Attributes:
        name: What it is about.
        value: What the baseline takes.
        unit: Its unit, or a dash.
        source: Key and place, or "assumed".
        alternative: The other choice that the sensitivity tries, in words.
        job: Changes a run's record; the run tells what was published.
        parts: Changes the parts of a step.
        latency_s: Latency to use.
        fit_on: Id of the row that fixes eta.
        published: Changes the measured step time.
    """

    name: str
    value: str
    unit: str
    source: str
    alternative: str
    job: Callable[[Run, Job], Job] | None = None
    parts: Callable[[Run, Job, BaselineParts], BaselineParts] | None = None
    latency_s: float = 5e-6
    fit_on: str = FITTED_ON
    published: Callable[[Run, float], float] | None = None


def _real_microbatch(run: Run, record: Job) -> Job:
    return replace(record, micro_batch_size=float(run.batch.micro_batch_size))


def _real_chunks(run: Run, record: Job) -> Job:
    return replace(record, vpp=float(run.layout.vpp))


def _causal(run: Run, record: Job, parts: BaselineParts) -> BaselineParts:
    executed = hardware_flop_per_token(record)
    # The masked half of every pass over the scores, a recomputed one included.
    passes = 3.0 + record.recompute_full + record.recompute_selective
    masked = 0.5 * passes * attention_flop_per_token(record)
    compute = parts["compute"] * (1.0 - masked / executed)
    overhead = schedule_overhead(record)
    less = (parts["compute"] - compute) * overhead
    return {**parts, "compute": compute, "bubble": parts["bubble"] - less}


def _hidden_gradients(run: Run, record: Job, parts: BaselineParts) -> BaselineParts:
    return {**parts, "data_parallel": 0.0}


def _wide_gradients(run: Run, record: Job, parts: BaselineParts) -> BaselineParts:
    return {**parts, "data_parallel": 2.0 * parts["data_parallel"]}


def _hidden_sends(run: Run, record: Job, parts: BaselineParts) -> BaselineParts:
    return {**parts, "pipeline_sends": 0.0}


def _scaled(field: str, factor: float) -> Callable[[Run, Job], Job]:
    def change(run: Run, record: Job) -> Job:
        return replace(record, **{field: factor * getattr(record, field)})

    return change


def _printed_vocabulary(run: Run, record: Job) -> Job:
    return replace(record, vocab_size=128000.0) if run.id.startswith("llama3") else record


def _recomputed_llama(run: Run, record: Job) -> Job:
    return replace(record, recompute_full=1.0) if run.id == "llama3-003" else record


def _causal_count(run: Run, step_time_s: float) -> float:
    if not run.id.startswith("llama3"):
        return step_time_s
    record = run.job()
    return float(step_time_s * causal_flop_per_token(record) / model_flop_per_token(record))


ASSUMPTIONS: tuple[Assumption, ...] = (
    Assumption(
        name="what fixes eta",
        value="the 1.7B run",
        unit="–",
        source="narayanan2021, Table 1, row 1",
        alternative="the 18.4B run",
        fit_on="nar21-t1-004",
    ),
    Assumption(
        name="micro-batch size",
        value="1",
        unit="sequences",
        source="assumed where a paper is silent",
        alternative="the Megatron rows' own, from their launch scripts",
        job=_real_microbatch,
    ),
    Assumption(
        name="model chunks per device",
        value="ceil(l / p)",
        unit="chunks",
        source="assumed: the most the layers allow",
        alternative="the Megatron rows' own; 1 for Llama 3",
        job=_real_chunks,
    ),
    Assumption(
        name="latency of a message",
        value="5",
        unit="µs",
        source="assumed, every link",
        alternative="20 µs",
        latency_s=20e-6,
    ),
    Assumption(
        name="gradient sync",
        value="exposed in full",
        unit="–",
        source="assumed: nothing overlaps",
        alternative="hidden in full",
        parts=_hidden_gradients,
    ),
    Assumption(
        name="width of gradients sent",
        value="2",
        unit="bytes",
        source="assumed",
        alternative="4 bytes",
        parts=_wide_gradients,
    ),
    Assumption(
        name="pipeline sends",
        value="exposed, not stretched by the bubble",
        unit="–",
        source="assumed: nothing overlaps",
        alternative="hidden in full",
        parts=_hidden_sends,
    ),
    Assumption(
        name="NVLink, one direction",
        value="300 (A100), 450 (H100)",
        unit="GB/s",
        source="nvidia2021a100; nvidia2023h100",
        alternative="three quarters of it",
        job=_scaled("nvlink_bytes_per_s", 0.75),
    ),
    Assumption(
        name="network, one direction",
        value="25 (A100), 50 (H100)",
        unit="GB/s",
        source="narayanan2021, Sec. 5; grattafiori2024, Sec. 3.3.1",
        alternative="three quarters of it",
        job=_scaled("network_bytes_per_s", 0.75),
    ),
    Assumption(
        name="attention FLOP executed",
        value="all scores",
        unit="–",
        source="narayanan2021, Appendix",
        alternative="half, by the causal mask",
        parts=_causal,
    ),
    Assumption(
        name="Llama 3: FLOP counted",
        value="model FLOP, attention in full",
        unit="–",
        source="assumed: Table 4 does not say",
        alternative="attention halved",
        published=_causal_count,
    ),
    Assumption(
        name="Llama 3: vocabulary",
        value="128,256",
        unit="tokens",
        source="model files",
        alternative="128,000, as the paper prints",
        job=_printed_vocabulary,
    ),
    Assumption(
        name="Llama 3, 131,072 tokens: recomputation",
        value="none",
        unit="–",
        source="assumed: stated for 8,192 tokens only",
        alternative="full",
        job=_recomputed_llama,
    ),
)


def _eta(runs: Sequence[Run], assumption: Assumption) -> float:
    """Return the share of peak that makes the fitted run exact under a change.

    The step is linear in 1 / eta, so two evaluations give it.
    """
    run = next(run for run in runs if run.id == assumption.fit_on)
    at_one = float(step_of(_parts(run, assumption, 1.0)))
    at_half = float(step_of(_parts(run, assumption, 0.5)))
    slope = at_half - at_one
    return slope / (_published_s(run, assumption) - at_one + slope)


def _published_s(run: Run, assumption: Assumption) -> float:
    seconds = published_step_time_s(run)
    return assumption.published(run, seconds) if assumption.published else seconds


def _parts(run: Run, assumption: Assumption, eta: float) -> Mapping[str, Any]:
    record = baseline_job(run)
    if assumption.job:
        record = assumption.job(run, record)
    constants = BaselineConstants(eta=eta, latency_s=assumption.latency_s)
    parts = chapter_step(record, constants)
    return assumption.parts(run, record, parts) if assumption.parts else parts


def changed_summary(runs: Sequence[Run], assumption: Assumption) -> tuple[float, Summary]:
    """Return eta fitted anew and the summary of errors under one change.

    Args:
        runs: The chapter's runs.
        assumption: The change to try.
    """
    eta = _eta(runs, assumption)
    results = []
    for run in runs:
        result = row_result(run, _parts(run, assumption, eta), fitted=run.id == assumption.fit_on)
        published_s = _published_s(run, assumption)
        results.append(
            replace(
                result,
                published_step_time_s=published_s,
                published_tflops_per_gpu=counted_flop_per_device(run) / published_s / 1e12,
                error_fraction=published_s / result.step_time_s - 1.0,
            )
        )
    return eta, summary(results)
