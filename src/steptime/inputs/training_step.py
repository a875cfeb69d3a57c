"""A training step from names and sizes: what a user types, checked, with defaults stated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from steptime.formulas.schedule_rules import chunks_held, mended_sizes, schedule_rule
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError, check_count
from steptime.inputs.job import Job, job
from steptime.inputs.layout import SCHEDULES, Batch, Layout, num_microbatches
from steptime.inputs.model import ModelShape
from steptime.inputs.presets import accelerator as accelerator_preset
from steptime.inputs.presets import model as model_preset

NO_EIGHT_BITS = "precision='{precision}': {accelerator} has no 8-bit matrix products; use bf16"
NO_BLOCKS = "precision='{precision}': {accelerator} has no matrix products of that format; use fp8"
"""The layout page prints the same sentence."""
SCHEDULE_FAULTS = (
    ("vpp", "schedule='{schedule}' has two chunks a device; use vpp=2, got vpp={vpp}"),
    (
        "vpp",
        "schedule='{schedule}' has one chunk a device; use vpp=1 or interleaved-1f1b, "
        "got vpp={vpp}",
    ),
    (
        "num_microbatches",
        "schedule='{schedule}' runs equal rounds of at least pp={pp} micro-batches, and {micro} "
        "do not fall into such; use {fewer} or {more}",
    ),
    (
        "num_microbatches",
        "schedule='{schedule}' needs an even pp and an even number of micro-batches, got {pp} and "
        "{micro}; use {even_pp} and {even}, or dualpipe-v",
    ),
    (
        "num_microbatches",
        "schedule='{schedule}' needs 2 pp = {least} micro-batches, got {micro}; use a larger "
        "batch, a smaller dp or pp, or zb-v",
    ),
)
"""What each rule of `steptime.formulas.schedule_rules.schedule_rule` is about, and its sentence.

The layout page prints the same sentences.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingStep:
    """Everything a model of the step time or the memory wants to know.

    Attributes:
        model: Shape of the model.
        accelerator: Device and links.
        layout: How the step is cut.
        batch: What it trains on.
        assumed: A sentence for each thing that was not given.
        chunks_given: Whether ``vpp`` or the schedule was given.
    """

    model: ModelShape
    accelerator: Accelerator
    layout: Layout
    batch: Batch
    assumed: tuple[str, ...] = ()
    chunks_given: bool = True

    def job(self) -> Job:
        """Return the flat record that formulas take.

        Raises:
            ConfigError: If the layout does not fit the model or the batch.
        """
        return job(self.model, self.accelerator, self.layout, self.batch)


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


def device_named(name: str | Path | Accelerator, nvlink_domain: int | None = None) -> Accelerator:
    """Return an accelerator by preset name or from a ``.toml`` file.

    Args:
        name: A name, a path, or an accelerator, which is returned as it is.
        nvlink_domain: Devices joined by NVLink; as it is built if None.

    Raises:
        ConfigError: If there is no such preset or file, or the domain is no count.
    """
    if not isinstance(name, (str, Path, Accelerator)):
        raise ConfigError(f"accelerator must be a name, a file or an Accelerator, got {name!r:.80}")
    device = name if isinstance(name, Accelerator) else accelerator_preset(str(name))
    if nvlink_domain is None:
        return device
    check_count("nvlink_domain", nvlink_domain, most=10**7)
    return replace(device, nvlink_domain=nvlink_domain)


def check_precision(device: Accelerator, precision: str) -> None:
    """Refuse products that a device does not have: 8 bits before Hopper, blocks before Blackwell.

    Args:
        device: The accelerator.
        precision: A name of `steptime.inputs.layout.PRECISIONS`.

    Raises:
        ConfigError: If it has no such products.

    References:
        nvidia2024gb200 (what Blackwell multiplies).
    """
    text = None
    if precision in ("fp8", "mxfp8", "nvfp4") and not device.peak_fp8_flop_per_s:
        text = NO_EIGHT_BITS
    elif precision in ("mxfp8", "nvfp4") and device.generation in ("ampere", "hopper"):
        text = NO_BLOCKS
    if text:
        raise ConfigError(text.format(precision=precision, accelerator=device.name))


def training_step(
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
    dp: int = 1,
    ep: int = 1,
    etp: int | None = None,
    sequence_parallel: bool | None = None,
    zero_stage: int | None = None,
    recompute: str = "none",
    precision: str = "bf16",
    schedule: str | None = None,
    nvlink_domain: int | None = None,
) -> TrainingStep:
    """Return a checked training step.

    Without ``vpp`` and ``schedule`` a pipeline runs 1F1B with one chunk a device. An interleaved
    schedule without ``vpp`` takes two, where the layers fall into that many alike.

    Args:
        model: Preset name, file, or shape.
        accelerator: Preset name, file, or accelerator.
        seq_length: Tokens per sequence, s.
        global_batch_size: Sequences per step, B.
        micro_batch_size: Sequences per micro-batch, b.
        tp: Tensor-parallel size, t.
        cp: Context-parallel size, c.
        pp: Pipeline stages, p.
        vpp: Model chunks a device, v.
        dp: Data-parallel size, d.
        ep: Expert-parallel size.
        etp: Tensor-parallel size inside an expert; 1 if None.
        sequence_parallel: On where tp > 1 if None.
        zero_stage: 0 to 3; what the model's own report states, else 1, if None.
        recompute: none, selective or full.
        precision: fp16, bf16, fp8, mxfp8 or nvfp4.
        schedule: A name of `steptime.inputs.layout.SCHEDULES`.
        nvlink_domain: Devices joined by NVLink; as the accelerator is built if None.

    Raises:
        ConfigError: If a value is out of range, a name unknown, or the layout does not fit.
    """
    shape = shape_named(model)
    device = device_named(accelerator, nvlink_domain)
    assumed: list[str] = []
    check_count("tp", tp, most=10**7)
    check_count("pp", pp, most=10**7)
    chunks = vpp if vpp is not None else _default_chunks(shape, pp, schedule, assumed)
    name = _usual_schedule(chunks, pp) if schedule is None else schedule
    if schedule is None and pp > 1:
        assumed.append(f"schedule {name}" if vpp is not None else f"vpp 1, schedule {name}")
    stage = zero_stage if zero_stage is not None else _default_zero(shape, dp, cp, assumed)
    check_precision(device, precision)
    step = TrainingStep(
        model=shape,
        accelerator=device,
        layout=Layout(
            tp=tp,
            cp=cp,
            pp=pp,
            vpp=chunks,
            dp=dp,
            ep=ep,
            etp=_default_etp(shape, tp, assumed) if etp is None else etp,
            sequence_parallel=tp > 1 if sequence_parallel is None else sequence_parallel,
            zero_stage=stage,
            recompute=recompute,
            precision=precision,
            schedule=name,
        ),
        batch=Batch(
            global_batch_size=global_batch_size,
            seq_length=seq_length,
            micro_batch_size=micro_batch_size,
        ),
        assumed=tuple(assumed),
        chunks_given=pp == 1 or vpp is not None or schedule is not None,
    )
    _check_schedule(step)
    step.job()
    return step


# grattafiori2024, Sec. 3.3.2: gradients are sharded too, weights stay whole after the forward.
_STATED_ZERO = {"Llama 3 405B": 2}


def _default_zero(shape: ModelShape, dp: int, cp: int, assumed: list[str]) -> int:
    if dp == 1 and cp == 1:
        return 0
    stage = _STATED_ZERO.get(shape.name, 1)
    assumed.append(f"zero {stage}" + (" (its own report)" if shape.name in _STATED_ZERO else ""))
    return stage


def _default_etp(shape: ModelShape, tp: int, assumed: list[str]) -> int:
    if shape.experts is not None and tp > 1:
        assumed.append("etp 1 (Megatron-LM's own default is tp)")
    return 1


def _usual_schedule(chunks: int, pp: int) -> str:
    return "interleaved-1f1b" if chunks != 1 and pp > 1 else "1f1b"


def _default_chunks(shape: ModelShape, pp: int, schedule: str | None, assumed: list[str]) -> int:
    code = SCHEDULES.index(schedule if schedule in SCHEDULES else "1f1b")
    held = int(chunks_held(float(code)))
    if held or pp == 1:
        return held or 1
    layers = shape.num_layers
    most = -(-layers // pp)
    if most > 1 and (layers % (2 * pp) == 0 or (layers + 2) % (2 * pp) == 0):
        assumed.append("vpp 2 (more chunks leave less bubble and send more)")
        return 2
    assumed.append(f"vpp {most}, the most that {layers} layers allow")
    return most


def _check_schedule(step: TrainingStep) -> None:
    layout = step.layout
    micro = num_microbatches(layout, step.batch)
    code = float(SCHEDULES.index(layout.schedule))
    rule = schedule_rule(code, float(layout.pp), float(micro), float(layout.vpp))
    if rule:
        sizes = mended_sizes(float(layout.pp), float(micro))
        raise ConfigError(
            SCHEDULE_FAULTS[int(rule) - 1][1].format(
                schedule=layout.schedule,
                pp=layout.pp,
                vpp=layout.vpp,
                micro=micro,
                **{name: int(size) for name, size in sizes.items()},
            )
        )
