"""A launch file, asked by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from steptime.inputs.accelerator import Accelerator
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.fact import Value
from steptime.inputs.model import ModelShape
from steptime.inputs.said import Said
from steptime.inputs.signed import checked_names
from steptime.inputs.training_step import device_named, shape_named
from steptime.planning.explain import Explanation, explained, step_of
from steptime.readers import read_configuration


@checked_names
def explain(
    path: str | Path,
    *,
    accelerator: str | Path | Accelerator,
    settings: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    model: str | Path | ModelShape | None = None,
    num_gpus: int | None = None,
    seq_length: int | None = None,
    global_batch_size: int | None = None,
    micro_batch_size: int | None = None,
    nvlink_domain: int | None = None,
    network_gbit: float | None = None,
    stack: str | None = None,
    date: str | None = None,
    facts: Mapping[str, Value] | None = None,
    predictor: str | None = None,
    constants: RooflineConstants | None = None,
) -> Explanation:
    """Return what the models say of a launch file, and a faster layout if there is one.

    Args:
        path: Launch script, arguments, YAML or TOML file.
        accelerator: Preset name, file, or accelerator.
        settings: What the launcher sets, by name.
        arguments: What the script is started with.
        model: In place of the one that the file names.
        num_gpus: Where the file does not say; likewise the next three.
        seq_length: Tokens per sequence.
        global_batch_size: Sequences per step.
        micro_batch_size: Sequences per micro-batch.
        nvlink_domain: Devices joined by NVLink; as the accelerator is built if None.
        network_gbit: Gb/s of a device's share of the network; as in its row if None.
        stack: Software; what the file is for if None.
        date: Month in which it was current.
        facts: Single facts of it, by name.
        predictor: The better one that knows the device if None.
        constants: Of the roofline model; the published ones if None.

    Raises:
        ConfigError: If the file cannot be read or leaves too much open.
    """
    given = locals()
    reading = read_configuration(Path(path), dict(settings or {}), list(arguments))
    if model is not None:
        reading.model = shape_named(model)
    names = ("num_gpus", "global_batch_size", "micro_batch_size", "seq_length")
    stated = {name: given[name] for name in names if given[name] is not None}
    said = Said(stack=stack, date=date, facts=tuple((facts or {}).items()))
    device = device_named(accelerator, nvlink_domain, network_gbit)
    return explained(step_of(reading, device, stated, said), predictor, constants)
