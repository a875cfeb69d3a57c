"""A training step from names and sizes: what a user types, checked, with defaults stated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Unpack

from steptime.inputs.accelerator import Accelerator
from steptime.inputs.assumed import Assumed
from steptime.inputs.bounded import check_no_other
from steptime.inputs.errors import ConfigError, check_count, check_number
from steptime.inputs.fields import USUAL_FIELDS, StepInputs
from steptime.inputs.habits import sharding
from steptime.inputs.job import Job, job
from steptime.inputs.kept import kept
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.inputs.precision import check_precision, precision_word
from steptime.inputs.presets import accelerator as accelerator_preset
from steptime.inputs.presets import listed_key
from steptime.inputs.presets import model as model_preset
from steptime.inputs.said import NOTHING_SAID, UNSTATED, Said, fact_pairs, in_its_time
from steptime.inputs.schedule_faults import check_schedule
from steptime.inputs.schedule_name import schedule_meant
from steptime.inputs.signed import checked_names
from steptime.inputs.usual import network_taken, usual_layout


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
        gpus_stated: Whether the devices of the job were given, not its data-parallel size alone.
    """

    model: ModelShape
    accelerator: Accelerator
    layout: Layout
    batch: Batch
    said: Said = field(default=NOTHING_SAID)
    assumed: tuple[Assumed, ...] = ()
    chunks_given: bool = True
    open: tuple[str, ...] = field(default=(), compare=False)
    gpus_stated: bool = field(default=False, compare=False)

    @kept
    def _job(self) -> Job:
        return job(self.model, self.accelerator, self.layout, self.batch)

    def job(self) -> Job:
        """Return the flat record that formulas take, made once.

        Raises:
            ConfigError: If the layout does not fit the model or the batch.
        """
        return self._job


def shape_named(name: str | Path | ModelShape) -> ModelShape:
    """Return a model shape by preset name, from a ``.toml`` or ``config.json`` file, or its folder.

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
    if name.endswith(".json") or _holds_a_model(name):
        # Files of other tools are read in a room above this one, so it is found by its name.
        shape = import_module("steptime.readers.huggingface").read_huggingface(name).model
        if not isinstance(shape, ModelShape):
            raise ConfigError(f"{name}: describes no model shape")
        return shape
    if listed_key("model", name) is None:
        _check_folder(name)
        check_no_other(name)
    return model_preset(name)


def _check_folder(name: str) -> None:
    """Refuse a folder in which no ``config.json`` describes a model."""
    if name and Path(name[:1000]).is_dir():
        raise ConfigError(
            f"cannot read {name[:200]}: Is a directory, without a config.json; name the file "
            "that describes the model"
        )


def _holds_a_model(name: str) -> bool:
    """Return whether a name is a folder with a ``config.json``.

    A bare word that is a preset's name too is the preset.
    """
    if "/" not in name and listed_key("model", name) is not None:
        return False
    return (Path(name[:1000]) / "config.json").is_file()


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
    if isinstance(name, str | Path) and listed_key("accelerator", str(name)) is None:
        check_no_other(str(name))
    device = name if isinstance(name, Accelerator) else accelerator_preset(str(name))
    if nvlink_domain is not None:
        check_count("nvlink_domain", nvlink_domain, most=10**7)
        device = replace(device, nvlink_domain=nvlink_domain)
    if network_gbit is not None:
        share = check_number("network_gbit", network_gbit, above=1e-3, most=1e6) * 1e9 / 8.0
        device = replace(device, network_bytes_per_s=share, network_stated=True)
    return device


@checked_names
def training_step(**inputs: Unpack[StepInputs]) -> TrainingStep:
    """Return a checked training step.

    Without ``vpp`` and ``schedule`` a pipeline runs 1F1B with one chunk a device. An interleaved
    schedule without ``vpp`` takes two, where the layers fall into that many alike.

    Args:
        **inputs: As in `steptime.inputs.fields.StepInputs`.

    Raises:
        ConfigError: If a value is out of range, a name unknown, or the layout does not fit.
    """
    return step_asked(inputs)


def step_asked(inputs: StepInputs) -> TrainingStep:
    """Return a checked training step from inputs of which none is left out.

    Args:
        inputs: By name, as `training_step` gets them; others are left alone.

    Raises:
        ConfigError: If a value is out of range, a name unknown, or the layout does not fit.
    """
    inputs = {**inputs, "schedule": schedule_meant(inputs["schedule"])}
    shape = shape_named(inputs["model"])
    device = device_named(inputs["accelerator"], inputs["nvlink_domain"], inputs["network_gbit"])
    precision = precision_word(inputs["precision"])
    check_precision(device, precision)
    said = _said(inputs, device)
    assumed: list[Assumed] = []
    chosen = usual_layout(inputs, shape, in_its_time(said, device), assumed)
    layout = Layout(**{**chosen, "precision": precision})
    size = inputs["micro_batch_size"]
    batch = Batch(
        global_batch_size=inputs["global_batch_size"],
        seq_length=inputs["seq_length"],
        micro_batch_size=1 if size is None else size,
    )
    given: Mapping[str, object] = inputs
    left_open = tuple([name for name in USUAL_FIELDS if given[name] is None])
    step = TrainingStep(
        model=shape,
        accelerator=device,
        layout=layout,
        batch=batch,
        said=said,
        assumed=tuple(assumed) + network_taken(device, layout.num_devices),
        chunks_given=layout.pp == 1 or not {"vpp", "schedule"} <= {*left_open},
        open=left_open,
        gpus_stated=inputs["num_gpus"] is not None,
    )
    check_schedule(layout, batch)
    step.job()
    return step


def _said(inputs: StepInputs, device: Accelerator) -> Said:
    """Return what is said of the software; a stated way to shard is one that it has."""
    said = Said(
        stack=inputs["stack"],
        date=inputs["date"],
        facts=fact_pairs(inputs["facts"]),
        unstated=() if inputs["recompute"] is not None else UNSTATED,
    )
    said, stage = said.without_nobody, inputs["zero_stage"]
    return said if stage is None else sharding(said, device, stage)
