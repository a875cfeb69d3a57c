"""One training step, asked by name: what a user of Python calls."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from steptime.answer.answer import Prediction, answer
from steptime.answer.peak import Memory
from steptime.answer.question import Question
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.fact import Value
from steptime.inputs.model import ModelShape
from steptime.inputs.signed import called_like, checked_names
from steptime.inputs.training_step import training_step

_INPUTS = tuple(signature(training_step).parameters)


@checked_names
def predict(
    *,
    model: str | Path | ModelShape,
    accelerator: str | Path | Accelerator,
    seq_length: int,
    global_batch_size: int,
    micro_batch_size: int | None = None,
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
