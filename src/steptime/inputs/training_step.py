"""A training step from names and sizes: what a user types, checked, with defaults stated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path

from steptime.inputs.accelerator import Accelerator
from steptime.inputs.assumed import Assumed
from steptime.inputs.errors import ConfigError, check_count, check_number
from steptime.inputs.fact import Value
from steptime.inputs.habits import sharding
from steptime.inputs.job import Job, job
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.inputs.precision import check_precision, precision_word
from steptime.inputs.presets import accelerator as accelerator_preset
from steptime.inputs.presets import model as model_preset
from steptime.inputs.said import NOTHING_SAID, UNSTATED, Said, in_its_time
from steptime.inputs.schedule_faults import check_schedule
from steptime.inputs.usual import (
    dp_of,
    network_taken,
    recompute_taken,
    schedule_of,
    splits_norms,
    usual_chunks,
    usual_etp,
    zero_stage_of,
)

OPEN = (
    *("micro_batch_size", "vpp", "schedule", "etp"),
    *("sequence_parallel", "zero_stage", "recompute"),
)
"""The fields of layout and batch that may be left open, in `training_step`'s order."""


@dataclass(frozen=True, kw_only=True)
class TrainingStep:
    """Everything that a model of the step time or the memory wants to know.

    Attributes:
        model: Shape of the model.
        accelerator: Device and links.
        layout: How the step is cut.
        batch: What it trains on.
        said: What is said of the software.
        assumed: What was not given, and what was taken.
        chunks_given: Whether ``vpp`` or the schedule was given.
        open: Which fields of layout and batch nobody stated.
    """

    model: ModelShape
    accelerator: Accelerator
    layout: Layout
    batch: Batch
    said: Said = field(default=NOTHING_SAID)
    assumed: tuple[Assumed, ...] = ()
    chunks_given: bool = True
    open: tuple[str, ...] = field(default=(), compare=False)

    @cached_property
    def _job(self) -> Job:
        return job(self.model, self.accelerator, self.layout, self.batch)

    def job(self) -> Job:
        """Return the flat record that formulas take, made once.

        Raises:
            ConfigError: If the layout does not fit the model or the batch.
        """
        return self._job


def shape_named(name: str | Path | ModelShape) -> ModelShape:
    """Return a model shape by preset name or from a ``.toml`` or ``config.json`` file.

    Args:
        name: A name, a path, or a shape, which is returned as it is.

    Raises:
        ConfigError: If there is no such preset or file.
    """
    if isinstance(name, ModelShape):
        return name
    if not isinstance(name, (str, Path)):
        raise ConfigError(f"model must be a name, a file or a ModelShape, got {name!r:.80}")
    name = str(name)
    if isinstance(name, str) and name.endswith(".json"):
        # Files of other tools are read in a room above this one, so it is found by its name.
        shape = import_module("steptime.readers.huggingface").read_huggingface(name).model
        if not isinstance(shape, ModelShape):
            raise ConfigError(f"{name}: describes no model shape")
        return shape
    return model_preset(name)


def device_named(
    name: str | Path | Accelerator,
    nvlink_domain: int | None = None,
    network_gbit: float | None = None,
) -> Accelerator:
    """Return an accelerator by preset name or from a ``.toml`` file.

    Args:
        name: A name, a path, or an accelerator, which is taken as it is.
        nvlink_domain: Devices joined by NVLink; as it is built if None.
        network_gbit: Gb/s of a device's share of the network, one way; as in its row if None.

    Raises:
        ConfigError: If there is no such preset or file, or a value is out of range.
    """
    if not isinstance(name, (str, Path, Accelerator)):
        raise ConfigError(f"accelerator must be a name, a file or an Accelerator, got {name!r:.80}")
    device = name if isinstance(name, Accelerator) else accelerator_preset(str(name))
    if nvlink_domain is not None:
        check_count("nvlink_domain", nvlink_domain, most=10**7)
        device = replace(device, nvlink_domain=nvlink_domain)
    if network_gbit is not None:
        share = check_number("network_gbit", network_gbit, above=1e-3, most=1e6) * 1e9 / 8.0
        device = replace(device, network_bytes_per_s=share, network_stated=True)
    return device


def training_step(
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
) -> TrainingStep:
    """Return a checked training step.

    Without ``vpp`` and ``schedule`` a pipeline runs 1F1B with one chunk a device. An interleaved
    schedule without ``vpp`` takes two, where the layers fall into that many alike.

    Args:
        model: Preset name, file, or shape.
        accelerator: Preset name, file, or accelerator.
        seq_length: Tokens per sequence, s.
        global_batch_size: Sequences per step, B.
        micro_batch_size: Sequences per micro-batch, b; 1 if None.
        tp: Tensor-parallel size, t.
        cp: Context-parallel size, c.
        pp: Pipeline stages, p.
        vpp: Model chunks a device, v.
        dp: Data-parallel size, d; what ``num_gpus`` leaves, or 1, if None.
        dp_replicate: Copies of what is sharded over data-parallel ranks, r (HSDP).
        ep: Expert-parallel size.
        etp: Tensor-parallel size inside an expert; 1 if None.
        sequence_parallel: As is usual with the software, where tp > 1, if None.
        zero_stage: 0 to 3; what the model's own report or the software does if None.
        recompute: none, selective or full; what is usual with the software if None.
        precision: fp16, bf16, fp8, mxfp8 or nvfp4.
        schedule: A name of `steptime.inputs.layout.SCHEDULES`.
        order: Rank order, see `steptime.inputs.rank_order`.
        num_gpus: Devices in the job, t c p d; what the sizes make if None.
        nvlink_domain: Devices joined by NVLink; as the accelerator is built if None.
        network_gbit: Gb/s of a device's share of the network, one way; as in its row if None.
        stack: Software: an exact name of ``data/stacks.toml``, or a family.
        date: Month in which the software was current, as ``2025-02``.
        facts: Single facts of the software, by name.

    Raises:
        ConfigError: If a value is out of range, a name unknown, or the layout does not fit.
    """
    shape, device = shape_named(model), device_named(accelerator, nvlink_domain, network_gbit)
    precision = precision_word(precision)
    check_precision(device, precision)
    said = _said(stack, date, facts, recompute)
    said = said if zero_stage is None else sharding(said, device, zero_stage)
    assumed: list[Assumed] = []
    _check_cut(tp, cp, pp)
    dp = dp_of(dp, num_gpus, (tp, cp, pp))
    chunks = vpp if vpp is not None else usual_chunks(shape, pp, schedule, assumed)
    era = in_its_time(said, device)
    layout = Layout(
        tp=tp,
        cp=cp,
        pp=pp,
        vpp=chunks,
        dp=dp,
        dp_replicate=dp_replicate,
        ep=ep,
        schedule=schedule_of(schedule, chunks, pp, assumed),
        zero_stage=zero_stage_of(zero_stage, shape, (pp, dp, cp), era, assumed),
        etp=etp if etp is not None else usual_etp(shape, tp, assumed),
        sequence_parallel=splits_norms(sequence_parallel, era, tp),
        recompute=recompute if recompute is not None else recompute_taken(era, assumed),
        precision=precision,
        order=order,
    )
    batch = _batch(global_batch_size, seq_length, micro_batch_size)
    step = TrainingStep(
        model=shape,
        accelerator=device,
        layout=layout,
        batch=batch,
        said=said,
        assumed=tuple(assumed) + network_taken(device, layout.num_devices),
        chunks_given=pp == 1 or vpp is not None or schedule is not None,
        open=_open(micro_batch_size, vpp, schedule, etp, sequence_parallel, zero_stage, recompute),
    )
    check_schedule(layout, batch)
    step.job()
    return step


def _check_cut(tp: int, cp: int, pp: int) -> None:
    """Refuse sizes that are no counts before defaults are made from them."""
    for name, size in (("tp", tp), ("cp", cp), ("pp", pp)):
        check_count(name, size, most=10**7)


def _open(*values: object) -> tuple[str, ...]:
    """Return which of the fields that may be left open are None, from their values in order."""
    return tuple(name for name, value in zip(OPEN, values, strict=True) if value is None)


def _batch(global_batch_size: int, seq_length: int, micro_batch_size: int | None) -> Batch:
    return Batch(
        global_batch_size=global_batch_size,
        seq_length=seq_length,
        micro_batch_size=1 if micro_batch_size is None else micro_batch_size,
    )


def _said(
    stack: str | None, date: str | None, facts: Mapping[str, Value] | None, recompute: str | None
) -> Said:
    return Said(
        stack=stack,
        date=date,
        facts=tuple((facts or {}).items()),
        unstated=() if recompute is not None else UNSTATED,
    )
