"""One training step, answered: its time, its parts, how sure, and whether it fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any

from steptime.answer.limits import limits_of
from steptime.answer.memory import Memory, job_memory
from steptime.answer.question import Question, as_chapter
from steptime.answer.reach import BEYOND, beyond, cell_of
from steptime.answer.unstated import Unstated, ranked
from steptime.formulas.baseline import num_microbatches
from steptime.formulas.judgement import fit_verdict, interval_s
from steptime.formulas.memory import memory_total_bytes
from steptime.formulas.outcome import outcome
from steptime.inputs.assumed import Assumed
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.errors import check_choice
from steptime.inputs.job import Job
from steptime.inputs.software import Software
from steptime.inputs.training_step import TrainingStep, training_step

_INPUTS = tuple(signature(training_step).parameters)


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What a model says of one training step.

    Attributes:
        question: What was asked, and of which model.
        predictor: Which model.
        step: What was asked.
        record: The same as numbers.
        software: What it runs on, and the facts of it.
        step_time_s: Seconds of one step.
        step_time_low_s: Lower end of the interval, None where there is none.
        step_time_high_s: Upper end.
        breakdown_s: Parts of the step, exposed seconds; they add up to it.
        tflops_per_gpu: Model FLOP a second and device, attention in full.
        mfu_fraction: The same as a share of the 16-bit peak.
        tokens_per_s: Of the whole job.
        num_microbatches: Per data-parallel rank and step.
        total_bytes: Memory on the fullest device.
        fit_probability: The chance that the measured peak fits; None where too few are known.
        assumed: What was not given, and what was taken for it; what lies beyond the data; what is
            not modelled.
    """

    question: Question
    predictor: str
    step: TrainingStep
    record: Job
    software: Software
    step_time_s: float
    step_time_low_s: float | None
    step_time_high_s: float | None
    breakdown_s: Mapping[str, float]
    tflops_per_gpu: float
    mfu_fraction: float
    tokens_per_s: float
    num_microbatches: int
    total_bytes: float
    fit_probability: float | None
    assumed: tuple[Assumed, ...]

    @property
    def stack(self) -> str | None:
        """Return the name of the software where it was named exactly."""
        return self.software.stack.name if self.software.known else None

    @property
    def tokens_per_s_per_gpu(self) -> float:
        """Return tokens per second and device."""
        return self.tokens_per_s / self.step.layout.num_devices

    @cached_property
    def memory(self) -> Memory:
        """Return what the step needs in memory, rank by rank."""
        return job_memory(self.record, self.software.memory, self.assumed, self.fit_probability)

    @cached_property
    def unstated(self) -> tuple[Unstated, ...]:
        """Return what was left open, that which could change the answer most first.

        Every choice is a question of its own, so this takes a few hundred answers.
        """
        return ranked(self, answer)

    @property
    def beyond(self) -> tuple[Assumed, ...]:
        """Return in what the step goes beyond all published runs."""
        return tuple(one for one in self.assumed if one.what == BEYOND)

    @property
    def verdict(self) -> int:
        """Return 0 where the fullest device lacks room, 1 where it is tight, 2 where it fits."""
        return int(fit_verdict(self.total_bytes, self.record.hbm_bytes))

    @property
    def fits(self) -> bool:
        """Return whether the fullest device has room for it."""
        return self.verdict > 0


def _taken(step: TrainingStep, record: Job, one: Software) -> tuple[Assumed, ...]:
    """Return what was taken for the software, and in what the step goes beyond all runs."""
    device, experts = step.accelerator, step.model.experts is not None
    cell = cell_of(experts, step.layout.precision)
    return (*one.assumed, *beyond(device.generation, device.matmul_flop_per_s, cell, record))


def answer(question: Question) -> Prediction:
    """Return what is known of one training step.

    Args:
        question: The step, and what is to answer for its time.

    Raises:
        ConfigError: If a name is unknown, the layout does not fit, or the step is beyond the
            model.
    """
    known = question.known()
    step = as_chapter(question.step) if known.predictor.most_chunks else question.step
    record = step.job()
    one = known.software_of(record)
    parts: Any = known.parts(record, one)
    step_time_s = float(known.predictor.total(parts))
    width = known.width
    low_s = high_s = None
    if width is not None:
        ends = interval_s(width, parts, step_time_s)
        low_s, high_s = ends["low_s"], ends["high_s"]
    total_bytes = memory_total_bytes(record, one.memory)
    means = outcome(record, step_time_s, 1.0)
    uses = _taken(step, record, one) if known.predictor.uses_software else ()
    return Prediction(
        question=question,
        predictor=known.predictor.name,
        step=step,
        record=record,
        software=one,
        step_time_s=step_time_s,
        step_time_low_s=low_s,
        step_time_high_s=high_s,
        breakdown_s=parts,
        tflops_per_gpu=means["model_flop_per_s"] / 1e12,
        mfu_fraction=means["mfu_fraction"],
        tokens_per_s=means["tokens_per_s"],
        num_microbatches=int(num_microbatches(record)),
        total_bytes=total_bytes,
        fit_probability=known.chance(total_bytes, record.hbm_bytes),
        assumed=(*step.assumed, *known.assumed, *uses, *limits_of(step.model, record, one)),
    )


def predict(
    *,
    predictor: str | None = None,
    constants: RooflineConstants | None = None,
    **inputs: Any,
) -> Prediction:
    """Return the predicted step time and memory of a model, an accelerator and a layout.

    Args:
        predictor: roofline, baseline or chapter; the better one that knows the device if None.
        constants: Of the roofline model; the published ones if None.
        **inputs: As in `steptime.inputs.training_step.training_step`.

    Raises:
        ConfigError: If an input cannot be used.
    """
    for name in inputs:
        check_choice("input", name, _INPUTS)
    step = training_step(**inputs)
    return answer(Question(step=step, predictor=predictor, constants=constants))
