"""What a file says otherwise than the answer that it was written from, by name."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from steptime.answer.answer import Prediction, answer
from steptime.answer.question import Question as Asked
from steptime.inputs.errors import ConfigError
from steptime.inputs.said import Said
from steptime.inputs.shown import seconds
from steptime.inputs.stack import FACT_NAMES
from steptime.planning.emit import suffix_of
from steptime.planning.explain import step_of
from steptime.readers import read_configuration

SAME = 1e-9
"""Times and memories nearer than this are the same: what rounding leaves."""

_NAMES = (
    "name",
    "source",
    "facts",
    "zero_stage",
    "trained_with",
    "norm",
    "mtp_layers",
    "max_positions",
)
"""Fields of a model that neither time nor memory goes by."""


def read_back(kind: str, text: str, own: Prediction) -> Prediction:
    """Return the answer for a file, on the device and under the software of its own answer.

    Args:
        kind: The format.
        text: The file.
        own: The answer that it was written from.

    Raises:
        ConfigError: If the file cannot be read, or describes what cannot be answered.
    """
    said = own.step.said
    plain = Said(stack=said.stack or own.software.stack.name, date=said.date)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"emitted{suffix_of(kind)}"
        path.write_text(text, encoding="utf-8")
        reading = read_configuration(path)
        # A format may know models by name only: then its user names this one.
        reading.model = reading.model or own.step.model
        gpus = {"num_gpus": own.step.layout.num_devices}
        step = step_of(reading, own.step.accelerator, gpus, plain)
    asked = Asked(step=step, predictor=own.predictor, constants=own.question.constants)
    return answer(asked)


def said_otherwise(kind: str, text: str, own: Prediction) -> list[str]:
    """Return what a file does not say as its answer had it, as ``name=value``.

    None where time and memory are the same all the same.

    Args:
        kind: The format.
        text: The file.
        own: The answer that it was written from.
    """
    try:
        found = read_back(kind, text, own)
    except ConfigError as error:
        return [f"anything, for it is not read back: {str(error).rpartition('/')[2]}"]
    if _same(own, found):
        return []
    wanted, read = _told(own), _told(found)
    names = [
        f"{name}={value}"
        for name, value in wanted.items()
        if read[name] != value and _counts(found, name, value)
    ]
    return names or [f"step_time_s={own.step_time_s:.6g}"]


def time_of(kind: str, text: str, own: Prediction) -> str:
    """Return what a file is answered with, for a sentence; empty where that is its answer's time.

    Args:
        kind: The format.
        text: The file.
        own: The answer that it was written from.
    """
    try:
        found = read_back(kind, text, own)
    except ConfigError:
        return ""
    here, there = seconds(own.step_time_s), seconds(found.step_time_s)
    return "" if here == there else f"as it is written, a step takes {there}, not {here}"


def _told(one: Prediction) -> dict[str, Any]:
    """Return all that an answer goes by, by name."""
    step, software = one.step, one.software
    model = {name: value for name, value in asdict(step.model).items() if name not in _NAMES}
    facts: dict[str, Any] = {}
    for record in (software.memory, software.time):
        if record is not None:
            facts |= {each.name: getattr(record, each.name) for each in fields(record)}
    return model | asdict(step.layout) | asdict(step.batch) | facts


def _counts(found: Prediction, name: str, value: Any) -> bool:
    """Return whether a value in place of what was read changes the answer."""
    if name not in FACT_NAMES:
        return True
    said = replace(found.step.said, facts=(*found.step.said.facts, (name, value)))
    step = replace(found.step, said=said)
    return not _same(found, answer(replace(found.question, step=step)))


def _same(one: Prediction, other: Prediction) -> bool:
    pairs = ((one.step_time_s, other.step_time_s), (one.total_bytes, other.total_bytes))
    return all(abs(here - there) <= SAME * here for here, there in pairs)
