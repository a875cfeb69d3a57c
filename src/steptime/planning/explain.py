"""What the models say of a launch file, and the layout they would take instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from steptime.answer.answer import Prediction, answer
from steptime.answer.question import Question as Asked
from steptime.answer.remarks import OVERLAP
from steptime.inputs.ability import ability_of
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.assumed import Assumed, taken
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.errors import ConfigError
from steptime.inputs.habits import sharding
from steptime.inputs.layout import check_layout
from steptime.inputs.precision import check_precision
from steptime.inputs.said import Said
from steptime.inputs.schedule_faults import check_schedule
from steptime.inputs.shown import Row, Shown, seconds
from steptime.inputs.training_step import TrainingStep
from steptime.inputs.usual import network_taken
from steptime.planning.causes import wide_time_s
from steptime.planning.measured import Comparison
from steptime.planning.question import Question
from steptime.planning.result import Candidate, answered
from steptime.planning.search import search
from steptime.readers.common.precision import asks_wide
from steptime.readers.completed import completed
from steptime.readers.keys.reading import Reading, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Shown):
    """Time, memory and a suggestion for one launch file.

    Attributes:
        question: Model, devices and batch of the file, with every layout open.
        own: The answer for the file's own layout.
        best: The fastest layout that fits, None if none does.
        gain_fraction: Time that it saves; None where there is nothing to compare.
        tie_fraction: Differences up to here the model cannot tell.
        asks_wide: Whether the file asks for products in 32 bits: time and memory are of bf16 then.
        beside: What a run of the file measured beside the answer; None where nothing is said.
    """

    question: Question
    own: Prediction
    best: Candidate | None
    gain_fraction: float | None
    tie_fraction: float
    asks_wide: bool = False
    beside: Comparison | None = None

    @property
    def wide_time_s(self) -> float | None:
        """About what a step takes in the 32 bits that the file asks for; None if not known."""
        return wide_time_s(self.own) if self.asks_wide else None

    @property
    def wide_remark(self) -> str:
        """What a reader must know of a file that asks for 32 bits; empty for others."""
        if not self.asks_wide:
            return ""
        found = self.wide_time_s
        about = "how long 32 bits take on this device is not known"
        if found is not None:
            about = f"a step in 32 bits takes about {seconds(found)}"
        return f"the file asks for 32 bits, time and memory here are those of bf16: {about}"

    @property
    def lost_there(self) -> tuple[Assumed, ...]:
        """What the file's own facts on overlap mean for the other layout, and not for its own."""
        time = self.own.software.time
        if self.best is None or time is None or not time.overlap_tp:
            return ()
        own = {one.why for one in self.own.assumed}
        there = answered(self.question, self.best).assumed
        return tuple(one for one in there if one.what == OVERLAP and one.why not in own)

    def title(self) -> str:
        """Return the time of the file's own layout, and whether another is faster."""
        told = self.own.title() + (f"; {self.wide_remark}" if self.asks_wide else "")
        if self.gain_fraction is None or self.gain_fraction <= self.tie_fraction:
            return told
        return f"{told}; another layout is faster by {self.gain_fraction:.1%}"

    def records(self) -> list[Row]:
        """Return the parts of the step of the file's own layout."""
        return self.own.records()

    def _draw(self, axes: Any) -> None:
        self.own.plot(axes)


def step_of(
    reading: Reading, accelerator: Accelerator, given: Mapping[str, Value], said: Said
) -> TrainingStep:
    """Return the training step that a file describes.

    Args:
        reading: What was understood of the file; ``model`` is set.
        accelerator: The device and its links.
        given: What the file leaves out.
        said: What is said of the software; the framework that the file is for if nothing.

    Raises:
        ConfigError: If something is missing or contradicts the model.
    """
    if reading.model is None:
        raise ConfigError(f"{reading.path} does not give the sizes of a model; give --model")
    if reading.kind == "huggingface":
        raise ConfigError(
            f"{reading.path} describes a model, not a run: use it as `steptime search --model`"
        )
    if said.stack is None and reading.software:
        said = replace(said, stack=reading.software)
    said = said.without_nobody
    layout, batch = completed(reading, given, said)
    check_layout(reading.model, layout, batch)
    check_schedule(layout, batch)
    check_precision(accelerator, layout.precision)
    said = sharding(said, accelerator, layout.zero_stage)
    # What its user says comes last, and so before what the file says.
    own = tuple((one.name, one.value) for one in reading.software_facts)
    said = replace(said, facts=(*own, *said.facts))
    return TrainingStep(
        model=reading.model,
        accelerator=accelerator,
        layout=layout,
        batch=batch,
        said=said,
        assumed=(
            *_assumed(reading, layout.precision),
            *network_taken(accelerator, layout.num_devices),
        ),
    )


def _assumed(reading: Reading, precision: str) -> list[Assumed]:
    """Return what the reading took, and the precision where the file asks for 32 bits."""
    assumed = [taken(one.name, str(one.value), one.why) for one in reading.assumptions]
    if not asks_wide(reading):
        return assumed
    others = [one for one in assumed if one.what != "precision"]
    return [*others, taken("precision", precision, "the file asks for 32 bits")]


def explained(
    step: TrainingStep,
    predictor: str | None = None,
    constants: RooflineConstants | None = None,
    *,
    asks_wide: bool = False,
) -> Explanation:
    """Return what the models say of a file's step, and of every other layout of it.

    Args:
        step: What the file describes.
        predictor: A name of `steptime.answer.PREDICTORS`; the better one if None.
        constants: Of the roofline model; the published ones if None.
        asks_wide: Whether the file asks for products in 32 bits.

    Raises:
        ConfigError: If the step is beyond the model.
    """
    own = answer(Asked(step=step, predictor=predictor, constants=constants))
    question = Question(
        model=step.model,
        accelerator=step.accelerator,
        num_devices=step.layout.num_devices,
        global_batch_size=step.batch.global_batch_size,
        seq_length=step.batch.seq_length,
        precision=step.layout.precision,
        order=step.layout.order,
        predictor=predictor,
        said=step.said,
        # A file that runs what its software does not is of a branch, or has a loop of its own.
        beyond=tuple(ability_of(step.said).lacking(step.layout, step.batch)),
        constants=constants,
    )
    result = search(question, keep=1)
    best = result.best[0] if result.best else None
    gain = None
    if best is not None and own.fits:
        gain = max(0.0, 1.0 - best.step_time_s / own.step_time_s)
    return Explanation(
        question=question,
        own=own,
        best=best,
        gain_fraction=gain,
        tie_fraction=result.tie_fraction,
        asks_wide=asks_wide,
    )
