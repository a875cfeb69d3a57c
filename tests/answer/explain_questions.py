"""The same random questions, asked as a launch file asks them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from door_questions import Asked, no_sooner, step_of

from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import model
from steptime.inputs.training_step import TrainingStep, device_named
from steptime.planning.emit import FORMATS, emitted
from steptime.planning.explain import step_of as explained_step
from steptime.readers import Reading, read_configuration
from steptime.readers.completed import CHOICES
from steptime.readers.completed import LAYOUT_FIELDS as SIZES

SUFFIX = {"torchtitan": ".toml", "megatron-bridge": ".yaml", "nemo": ".yaml", "nanotron": ".yaml"}


@dataclass(frozen=True, kw_only=True)
class Written:
    """A question as a launch file, and the same as options of `steptime predict` give it.

    Attributes:
        path: The file.
        asked: The options.
        step: What `steptime explain` takes the file for.
        taken: What it took where the file is silent.
    """

    path: Path
    asked: Asked
    step: TrainingStep
    taken: frozenset[str]


def as_read(asked: Asked) -> TrainingStep:
    """Return the step of a file that states all of the question, whatever its format."""
    step = step_of(asked)
    reading = Reading(path="a file", kind="any", model=model(asked["model"]))
    for name in (*SIZES, *CHOICES, "dp"):
        reading.state(name, asked[name])
    for name in ("micro_batch_size", "global_batch_size", "seq_length"):
        reading.state(name, asked[name])
    return explained_step(reading, step.accelerator, {}, step.said)


def as_file(asked: Asked, place: int, folder: Path) -> Written | None:
    """Return a question as the file of a framework that can run it; None where none can.

    Formats are tried in turn from another one for each question. Where nobody names software the
    file's own is named to `predict` too.
    """
    step = step_of(asked)
    layout, batch = step.layout, step.batch
    # As its user says it: the file itself tells what is shared.
    # Over a file, naming what is assumed without a name drops the file's own.
    said = replace(step.said, stack=asked["stack"], shards=())
    for turn in range(len(FORMATS)):
        kind = FORMATS[(place + turn) % len(FORMATS)]
        path = folder / f"{place}{SUFFIX.get(kind, '.sh')}"
        try:
            path.write_text(emitted(kind, step.model, layout, batch))
            reading = read_configuration(path)
            reading.model = model(asked["model"])
            device = device_named(
                asked["accelerator"], asked["nvlink_domain"], asked["network_gbit"]
            )
            found = explained_step(reading, device, {"num_gpus": layout.num_devices}, said)
        except ConfigError:
            continue
        # What the file says of its software, overlap for instance, is said to `predict` too.
        stack = asked["stack"] or reading.software
        same = asked | {"stack": stack}
        if no_sooner(stack, asked["date"]) != asked["date"]:
            continue
        same |= {"facts": dict(found.said.facts)}
        if layout.dp * layout.cp == 1:
            # Alone a rank shares nothing, and a file has no word for what is not done.
            same |= {"zero_stage": found.layout.zero_stage}
        if layout.vpp == 1:
            # Nor for a schedule of several chunks where a rank has one.
            same |= {"schedule": found.layout.schedule}
        taken = frozenset(one.name for one in reading.assumptions)
        return Written(path=path, asked=same, step=found, taken=taken)
    return None
