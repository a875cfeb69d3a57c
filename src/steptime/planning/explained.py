"""A launch file, asked by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from steptime.answer.answer import Prediction
from steptime.inputs.constants import RooflineConstants, constants_named
from steptime.inputs.face import ExplainInputs
from steptime.inputs.said import Said, fact_pairs
from steptime.inputs.signed import checked_names
from steptime.inputs.training_step import device_named, shape_named
from steptime.planning.explain import Explanation, explained, step_of
from steptime.planning.measured import Comparison, compared, measured
from steptime.readers import Reading, read_configuration
from steptime.readers.common.precision import asks_wide, ruled_out
from steptime.readers.other_model import take_model

LEFT_OUT = ("num_gpus", "global_batch_size", "micro_batch_size", "seq_length")


@checked_names
def explain(path: str | Path, **inputs: Unpack[ExplainInputs]) -> Explanation:
    r"""Return what the models say of a launch file, and a faster layout if there is one.

    Args:
        path: Launch script, arguments, YAML or TOML file.
        **inputs: As in `steptime.inputs.face.ExplainInputs`.

    Raises:
        ConfigError: If the file cannot be read or leaves too much open.

    Example:
        >>> import pathlib, tempfile
        >>> import steptime
        >>> lines = '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nseq_len = 8192\n'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     launch = pathlib.Path(folder, "train.toml")
        ...     _ = launch.write_text(lines + "local_batch_size = 1")
        ...     told = steptime.explain(launch, accelerator="h100", num_gpus=8)
        >>> told.own.step.layout.num_devices
        8
    """
    given: dict[str, Any] = {**inputs}
    settings = dict(inputs["settings"] or {})
    reading = read_configuration(Path(path), settings, list(inputs["arguments"]))
    if inputs["model"] is not None:
        take_model(reading, shape_named(inputs["model"]))
    stated = {name: given[name] for name in LEFT_OUT if given[name] is not None}
    facts = fact_pairs(inputs["facts"])
    said = Said(stack=inputs["stack"], date=inputs["date"], facts=facts)
    device = device_named(inputs["accelerator"], inputs["nvlink_domain"], inputs["network_gbit"])
    step = step_of(reading, device, stated, said)
    wide = asks_wide(reading)
    constants = constants_named(inputs["constants"])
    told = explained(step, inputs["predictor"], constants, asks_wide=wide)
    text = inputs["measured"]
    if text is None:
        return told
    beside = comparison(reading, told.own, str(text), constants, "measured")
    return replace(told, beside=beside)


def comparison(
    reading: Reading,
    own: Prediction,
    text: str,
    constants: RooflineConstants | None,
    whose: str = "--measured",
) -> Comparison:
    """Return what a file's run measured beside the answer.

    Args:
        reading: Of the file.
        own: The answer for it.
        text: What was measured, as written.
        constants: Of the roofline model; the published ones if None.
        whose: What an error calls it.

    Raises:
        ConfigError: If the text is not understood.
    """
    return compared(
        measured(text, own, whose),
        own,
        asks_wide=asks_wide(reading),
        ruled_out=ruled_out(reading),
        software=reading.software,
        constants=constants,
    )
