"""Large runs that readers know, each predicted from what its own report states."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from steptime.answer import Prediction, Question, answer, predict
from steptime.evidence.measured import published_step_time_s
from steptime.evidence.row_question import RunQuestion, question_of_run
from steptime.evidence.runs import run_of
from steptime.evidence.samples import main_samples
from steptime.evidence.schema import published_rows
from steptime.formulas.schedule_rules import chunks_held
from steptime.formulas.validity import ends_count
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.datafiles import data_table
from steptime.inputs.layout import SCHEDULES
from steptime.inputs.usual import USUAL_INTERLEAVED

FILE = "headline_runs.toml"
SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """One large run, measured and predicted.

    Attributes:
        name: Key in ``data/headline_runs.toml``.
        title: What it is called in a table.
        num_devices: Devices it ran on.
        measured_s: Seconds of one step, as published.
        answers: What the door says; one a number of chunks that the report leaves open.
        source: Key in ``references.bib`` and place in it.
        miss: Why it is known to lie outside, or empty.
        seen: What was known of it while the model was made, or empty.
        fitted_to: Whether it played a part in a fitted constant.
    """

    name: str
    title: str
    num_devices: int
    measured_s: float
    answers: tuple[Prediction, ...]
    source: str
    miss: str
    seen: str
    fitted_to: bool

    @property
    def predicted_s(self) -> tuple[float, float]:
        """Return the shortest and the longest step predicted; alike where all is stated."""
        times = [one.step_time_s for one in self.answers]
        return min(times), max(times)

    @property
    def interval_s(self) -> tuple[float, float]:
        """Return the interval, over all that the report leaves open."""
        low = min(one.step_time_low_s or one.step_time_s for one in self.answers)
        high = max(one.step_time_high_s or one.step_time_s for one in self.answers)
        return low, high

    @property
    def inside(self) -> bool:
        """Return whether the measured step lies in the interval."""
        low_s, high_s = self.interval_s
        return low_s <= self.measured_s <= high_s

    @property
    def error(self) -> float:
        """Return predicted over measured, less 1: of the nearest of the steps predicted."""
        times = [one.step_time_s for one in self.answers]
        nearest = min(times, key=lambda time: abs(time / self.measured_s - 1.0))
        return nearest / self.measured_s - 1.0

    @property
    def errors(self) -> tuple[float, float]:
        """Return predicted over measured, less 1: of the shortest and the longest step."""
        low_s, high_s = self.predicted_s
        return low_s / self.measured_s - 1.0, high_s / self.measured_s - 1.0


def headlines(constants: RooflineConstants | None = None) -> tuple[Headline, ...]:
    """Return every run of ``data/headline_runs.toml``, in its order.

    Args:
        constants: Of the roofline model; the published ones if None.
    """
    return tuple(
        _of_row(name, entry, constants) if "row" in entry else _of_inputs(name, entry, constants)
        for name, entry in data_table(FILE).items()
    )


def _of_inputs(
    name: str, entry: Mapping[str, Any], constants: RooflineConstants | None
) -> Headline:
    """Return a run that states its inputs, and the device hours of so many tokens."""
    found = predict(constants=constants, **entry["inputs"])
    devices = found.step.layout.num_devices
    tokens = found.step.batch.global_batch_size * found.step.batch.seq_length
    hours = entry["device_hours"] / entry["tokens"] * tokens / devices
    return Headline(
        name=name,
        title=entry["title"],
        num_devices=devices,
        measured_s=hours * SECONDS_PER_HOUR,
        answers=(found,),
        source=entry["source"],
        miss=entry.get("miss", ""),
        seen=entry.get("seen", ""),
        fitted_to=False,
    )


def _of_row(name: str, entry: Mapping[str, Any], constants: RooflineConstants | None) -> Headline:
    """Return a run of ``data/published_runs.csv``."""
    run = run_of(_rows()[entry["row"]])
    asked = question_of_run(run)
    return Headline(
        name=name,
        title=entry["title"],
        num_devices=run.layout.num_devices,
        measured_s=published_step_time_s(run),
        answers=tuple(answer(one) for one in _questions(asked, constants)),
        source=f"{run.row.source}, {run.row.location}",
        miss=entry.get("miss", ""),
        seen=entry.get("seen", ""),
        fitted_to=run.id in _fitted(),
    )


@functools.cache
def _fitted() -> frozenset[str]:
    return frozenset(sample.id for sample in main_samples() if sample.fitted_to)


@functools.cache
def _rows() -> dict[str, Any]:
    return {row.id: row for row in published_rows()}


def _questions(asked: RunQuestion, constants: RooflineConstants | None) -> list[Question]:
    """Return the question, or one for each number of chunks where the report leaves it open."""
    question = replace(asked.question("roofline"), constants=constants)
    step, row = asked.step, asked.run.row
    place = float(SCHEDULES.index(step.layout.schedule))
    if row.vpp is not None or "interleaved" not in row.schedule or chunks_held(place) == 2.0:
        return [question]
    return [
        replace(
            question,
            step=replace(step, layout=replace(step.layout, vpp=chunks, schedule=USUAL_INTERLEAVED)),
        )
        for chunks in open_chunks(step.model.num_layers, step.layout.pp)
    ]


def open_chunks(num_layers: int, pp: int) -> list[int]:
    """Return the numbers of chunks, two and more, that cut layers alike: ends count as a layer.

    Args:
        num_layers: Layers, l.
        pp: Pipeline stages, p.
    """
    most = -(-num_layers // pp)
    return [
        chunks
        for chunks in range(2, most + 1)
        if num_layers % (pp * chunks) == 0
        or float(ends_count(float(num_layers), float(pp * chunks))) > 0.0
    ]
