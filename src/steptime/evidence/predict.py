"""One training step, predicted: its time, its parts, what they amount to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from steptime.evidence.adding import step_of
from steptime.evidence.intervals import kind_of, step_interval_s
from steptime.evidence.memory import Memory, step_memory
from steptime.formulas.baseline import baseline_step, num_microbatches
from steptime.formulas.outcome import outcome
from steptime.formulas.roofline import roofline_step
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.baseline_constants import baseline_constants
from steptime.inputs.constants import roofline_constants
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.job import Job
from steptime.inputs.memory_facts import memory_facts
from steptime.inputs.stack import (
    GENERATIONS,
    default_stack,
    layout_changes,
    memory_stack,
    stack_facts,
    stack_named,
)
from steptime.inputs.training_step import TrainingStep, training_step

PREDICTORS = ("roofline", "baseline")
_INPUTS = tuple(signature(training_step).parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a model says of one training step.

    Attributes:
        predictor: Which model.
        step: What was asked.
        step_time_s: Seconds of one step.
        step_time_low_s: Lower end of the interval, None where there is none.
        step_time_high_s: Upper end.
        breakdown_s: Parts of the step, exposed seconds; they add up to it.
        tflops_per_gpu: Model FLOP a second and device, attention in full.
        mfu_fraction: The same as a share of the 16-bit peak.
        tokens_per_s: Of the whole job.
        num_microbatches: Per data-parallel rank and step.
        assumed: A sentence for each thing that was not given.
        stack: Software, if it was given.
    """

    predictor: str
    step: TrainingStep
    step_time_s: float
    breakdown_s: dict[str, float]
    tflops_per_gpu: float
    mfu_fraction: float
    tokens_per_s: float
    num_microbatches: int
    assumed: tuple[str, ...]
    stack: str | None = None
    step_time_low_s: float | None = None
    step_time_high_s: float | None = None

    @property
    def tokens_per_s_per_gpu(self) -> float:
        """Return tokens per second and device."""
        return self.tokens_per_s / self.step.layout.num_devices

    @property
    def memory(self) -> Memory:
        """Return what the step needs in memory, rank by rank."""
        if self.stack is None:
            return step_memory(self.step)
        kept = memory_stack(self.stack, self.step.layout.precision)
        return step_memory(self.step, memory_facts(kept))

    @property
    def fits(self) -> bool:
        """Return whether the fullest device has room for it."""
        return self.memory.fits


def most_chunks(step: TrainingStep) -> int:
    """Return the most model chunks a device can hold: a layer each.

    Args:
        step: What is asked.
    """
    return -(-step.model.num_layers // step.layout.pp)


def baseline_prediction(step: TrainingStep, record: Job) -> Prediction:
    """Return the baseline's prediction; where no chunks are given it takes the most, as ever.

    Args:
        step: What is asked.
        record: The same as numbers.

    Raises:
        ConfigError: In 8 bits, where its constant says nothing.
    """
    if step.layout.precision not in ("fp16", "bf16"):
        raise ConfigError(
            f"the baseline's one constant was fitted in 16 bits, not {step.layout.precision}; "
            "use --predictor roofline"
        )
    assumed = step.assumed
    if not step.chunks_given:
        chunks = most_chunks(step)
        record = replace(record, vpp=float(chunks))
        name = "interleaved-1f1b" if chunks > 1 else step.layout.schedule
        step = replace(step, layout=replace(step.layout, vpp=chunks, schedule=name))
        kept = [text for text in assumed if not text.startswith(("vpp ", "schedule "))]
        assumed = (*kept, f"vpp {chunks}, the most that {step.model.num_layers} layers allow")
    domain = step.accelerator.nvlink_domain
    if step.layout.tp > domain:
        text = f"tensor-parallel messages on NVLink, though tp {step.layout.tp} leaves a domain"
        assumed = (*assumed, f"{text} of {domain} (--predictor roofline does not)")
    parts = baseline_step(record, baseline_constants())
    return prediction("baseline", step, parts, record, assumed)


def roofline_prediction(step: TrainingStep, record: Job, stack: str | None = None) -> Prediction:
    """Return the roofline model's prediction.

    Args:
        step: What is asked.
        record: The same as numbers.
        stack: Software, a key of ``data/stacks.toml``; the usual one of the device if None.

    Raises:
        ConfigError: If the stack is unknown or the device beyond the model.
    """
    usual = default_stack(step.accelerator, step.layout.zero_stage) or "megatron-core"
    name = usual if stack is None else stack
    changes = layout_changes(step.model, step.layout)
    facts = stack_facts(stack_named(name), step.accelerator, **changes)
    parts = roofline_step(record, facts, roofline_constants())
    assumed = (
        step.assumed
        if stack is not None
        else (*step.assumed, f"stack {name} (naming yours narrows the interval)")
    )
    result = replace(prediction("roofline", step, parts, record, assumed), stack=stack)
    kind = kind_of(step.model.experts is not None, step.layout.precision)
    ends = step_interval_s(parts, kind, assumed=stack is None)
    if ends is None:
        return result
    return replace(result, step_time_low_s=ends[0], step_time_high_s=ends[1])


def prediction(
    predictor: str,
    step: TrainingStep,
    parts: Mapping[str, float],
    record: Job,
    assumed: tuple[str, ...],
) -> Prediction:
    """Return a prediction from its parts.

    Args:
        predictor: Name of the model.
        step: What was asked.
        parts: Exposed seconds of each part.
        record: The flat record of the step.
        assumed: A sentence for each thing that was not given.
    """
    step_time_s = float(step_of(parts))
    means: dict[str, Any] = outcome(record, step_time_s, 1.0)
    return Prediction(
        predictor=predictor,
        step=step,
        step_time_s=step_time_s,
        breakdown_s=dict(parts),
        tflops_per_gpu=means["model_flop_per_s"] / 1e12,
        mfu_fraction=means["mfu_fraction"],
        tokens_per_s=means["tokens_per_s"],
        num_microbatches=int(num_microbatches(record)),
        assumed=assumed,
    )


def default_predictor(accelerator: Accelerator) -> str:
    """Return the better model that knows an accelerator: roofline, or else the baseline.

    Args:
        accelerator: The device.
    """
    known = accelerator.generation in GENERATIONS and accelerator.matmul_flop_per_s > 0.0
    return "roofline" if known else "baseline"


def predict_step(
    step: TrainingStep, predictor: str | None = None, stack: str | None = None
) -> Prediction:
    """Return the prediction of one model for a checked training step.

    Args:
        step: What is asked.
        predictor: A name of ``PREDICTORS``; the better one that knows the device if None.
        stack: Software, for the roofline model.

    Raises:
        ConfigError: If there is no such model, or the step is beyond it.
    """
    name = default_predictor(step.accelerator) if predictor is None else predictor
    check_choice("predictor", name, PREDICTORS)
    record = step.job()
    if name == "baseline":
        return baseline_prediction(step, record)
    return roofline_prediction(step, record, stack)


def predict(*, predictor: str | None = None, stack: str | None = None, **inputs: Any) -> Prediction:
    """Return the predicted step time and memory of a model, an accelerator and a layout.

    Args:
        predictor: A name of ``PREDICTORS``; the better one that knows the device if None.
        stack: Software, a key of ``data/stacks.toml``.
        **inputs: As in `steptime.inputs.training_step.training_step`.

    Raises:
        ConfigError: If an input cannot be used.
    """
    for name in inputs:
        check_choice("input", name, _INPUTS)
    return predict_step(training_step(**inputs), predictor, stack)
