"""One training step, answered: its time, its parts, how sure, and whether it fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

from steptime.answer.limits import limits_of
from steptime.answer.memory import Memory, job_memory
from steptime.answer.question import Question, as_chapter
from steptime.answer.reach import beyond, cell_of
from steptime.formulas.baseline import num_microbatches
from steptime.formulas.flops import causal_flop_per_token, model_flop_per_token
from steptime.formulas.judgement import fit_verdict, interval_s
from steptime.formulas.memory import memory_total_bytes
from steptime.formulas.outcome import outcome
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.assumed import Assumed
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.fact import Value
from steptime.inputs.job import Job
from steptime.inputs.model import ModelShape
from steptime.inputs.shown import Row, Shown, bars
from steptime.inputs.signed import called_like, checked_names
from steptime.inputs.software import Software
from steptime.inputs.training_step import TrainingStep, training_step

_INPUTS = tuple(signature(training_step).parameters)


@dataclass(frozen=True, kw_only=True)
class Prediction(Shown):
    """What a model says of one training step.

    Attributes:
        predictor: Which model.
        step: What was asked.
        record: The same as numbers.
        software: What it runs on, and the facts of it.
        step_time_s: Seconds of one step.
        step_time_low_s: Lower end of the interval, None where there is none.
        step_time_high_s: Upper end.
        breakdown_s: Parts of the step, exposed seconds; they add up to it.
        tflops_per_gpu: Model FLOP a second and device, attention in full.
        mfu_fraction: The same as a share of the 16-bit peak, attention in full.
        tokens_per_s: Of the whole job.
        num_microbatches: Per data-parallel rank and step.
        total_bytes: Memory on the fullest device.
        fit_probability: The chance that the measured peak fits; None where too few are known.
        assumed: What was not given, and what was taken for it; what lies beyond the data; what is
            not modelled.
    """

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
    def mfu_causal_fraction(self) -> float:
        """Return the share of the peak with what the causal mask hides of attention left out."""
        causal = causal_flop_per_token(self.record) / model_flop_per_token(self.record)
        return float(self.mfu_fraction * causal)

    @property
    def tokens_per_s_per_gpu(self) -> float:
        """Return tokens per second and device."""
        return self.tokens_per_s / self.step.layout.num_devices

    @cached_property
    def memory(self) -> Memory:
        """Return what the step needs in memory, rank by rank."""
        return job_memory(self.record, self.software.memory, self.assumed, self.fit_probability)

    def title(self) -> str:
        """Return what was asked and how long a step takes."""
        step = self.step
        return (
            f"{step.model.name} on {step.layout.num_devices} x {step.accelerator.name}: "
            f"{self.step_time_s:.4g} s a step, MFU {self.mfu_fraction:.1%}; {self.memory.reason}"
        )

    def records(self) -> list[Row]:
        """Return the parts of the step, each with its time and its share."""
        return [
            {"part": part, "time_s": time_s, "share": time_s / self.step_time_s}
            for part, time_s in self.breakdown_s.items()
        ]

    def _draw(self, axes: Any) -> None:
        shown = {part: time_s for part, time_s in self.breakdown_s.items() if time_s}
        bars(axes, [part.replace("_", " ") for part in shown], list(shown.values()), "time (s)")

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


@checked_names
def predict(
    *,
    model: str | Path | ModelShape,
    accelerator: str | Path | Accelerator,
    seq_length: int,
    global_batch_size: int,
    micro_batch_size: int = 1,
    tp: int = 1,
    cp: int = 1,
    pp: int = 1,
    vpp: int | None = None,
    dp: int | None = None,
    dp_replicate: int = 1,
    ep: int = 1,
    etp: int | None = None,
    sequence_parallel: bool | None = None,
    zero_stage: int | None = None,
    recompute: str | None = None,
    precision: str = "bf16",
    schedule: str | None = None,
    order: str = "megatron",
    num_gpus: int | None = None,
    nvlink_domain: int | None = None,
    network_gbit: float | None = None,
    stack: str | None = None,
    date: str | None = None,
    facts: Mapping[str, Value] | None = None,
    predictor: str | None = None,
    constants: RooflineConstants | None = None,
) -> Prediction:
    """Return the predicted step time and memory of a model, an accelerator and a layout.

    Args:
        model: Preset name, file, or shape.
        accelerator: Preset name, file, or accelerator.
        seq_length: Tokens per sequence.
        global_batch_size: Sequences per step.
        micro_batch_size: Sequences per micro-batch.
        tp: Tensor-parallel size.
        cp: Context-parallel size.
        pp: Pipeline stages.
        vpp: Model chunks a device.
        dp: Data-parallel size; what ``num_gpus`` leaves, or 1, if None.
        dp_replicate: Copies of what is sharded over data-parallel ranks (HSDP).
        ep: Expert-parallel size.
        etp: Tensor-parallel size inside an expert; 1 if None.
        sequence_parallel: As is usual with the software, where tp > 1, if None.
        zero_stage: 0 to 3; what the model's own report or the software does if None.
        recompute: none, selective or full; what is usual with the software if None.
        precision: bf16, fp16, fp8, mxfp8 or nvfp4.
        schedule: Of the pipeline; ``steptime schedules`` lists them.
        order: Rank order.
        num_gpus: Devices in the job; what the sizes make if None.
        nvlink_domain: Devices joined by NVLink; as the accelerator is built if None.
        network_gbit: Gb/s of a device's share of the network, one way; as in its row if None.
        stack: Software: an exact name of ``data/stacks.toml``, or a family.
        date: Month in which the software was current, as ``2025-02``.
        facts: Single facts of the software, by name; ``steptime facts`` lists them.
        predictor: roofline, baseline or chapter; the better one that knows the device if None.
        constants: Of the roofline model; the published ones if None.

    Raises:
        ConfigError: If an input cannot be used.

    Example:
        >>> import steptime
        >>> step = steptime.predict(
        ...     model="llama3-8b", accelerator="h100", num_gpus=64, tp=2,
        ...     seq_length=8192, global_batch_size=128,
        ... )
        >>> step.step.layout.dp, step.fits
        (32, True)
        >>> step == steptime.Prediction.from_json(step.to_json())
        True
    """
    asked = locals()
    step = training_step(**{name: asked[name] for name in _INPUTS})
    return answer(Question(step=step, predictor=predictor, constants=constants))


@called_like(predict)
def memory(**inputs: Any) -> Memory:
    """Return what a training step needs in memory, rank by rank.

    Args:
        **inputs: As in `predict`.

    Raises:
        ConfigError: If an input cannot be used.

    Example:
        >>> import steptime
        >>> kept = steptime.memory(
        ...     model="gpt3-175b", accelerator="a100", tp=8, seq_length=2048, global_batch_size=8
        ... )
        >>> kept.fits, kept.fullest.rank
        (False, 0)
    """
    return predict(**inputs).memory
