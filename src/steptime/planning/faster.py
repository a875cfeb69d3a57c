"""What would make a step faster on the same devices: the nearest changes, each with its time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from steptime.answer.answer import Prediction
from steptime.answer.question import Question
from steptime.inputs.face import FITS_WITH
from steptime.inputs.layout import RECOMPUTE
from steptime.inputs.schedule_name import with_one_chunk
from steptime.inputs.training_step import TrainingStep
from steptime.inputs.usual import USUAL_INTERLEAVED, USUAL_SCHEDULE
from steptime.planning.change import Change, may_run, resized, stated, without_ends

SHOWN = 3
LEAST_GAIN = 0.01
"""Changes that save a smaller share of the time are not worth showing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Faster:
    """One change, and the answer after it.

    Attributes:
        change: What is changed, as options of the command line.
        found: The answer.
        gain_fraction: Share of the step time that it saves.
    """

    change: str
    found: Prediction
    gain_fraction: float


def _switches(step: TrainingStep) -> Iterator[Change]:
    layout = step.layout
    for mode in RECOMPUTE:
        if mode != layout.recompute:
            yield stated(recompute=mode)
    if layout.tp > 1 and not layout.sequence_parallel:
        yield stated(sequence_parallel=True)
    for stage in (0, 1, 3):
        if stage != layout.zero_stage and layout.dp * layout.cp > 1:
            yield stated(zero_stage=stage)
    own = step.batch.micro_batch_size
    for size in (own * 8, own * 4, own * 2, own // 2):
        if size:
            yield stated(micro_batch_size=size)


def _pipeline(step: TrainingStep) -> Iterator[Change]:
    """Yield other chunks and schedules of the same stages."""
    layout = step.layout
    if layout.pp == 1:
        return
    for chunks in {layout.vpp * 2, layout.vpp // 2} - {0}:
        name = USUAL_INTERLEAVED if chunks > 1 else USUAL_SCHEDULE
        if with_one_chunk(layout.schedule) == USUAL_SCHEDULE:
            yield stated(vpp=chunks, schedule=name)
    for name, held in (("zb-h1", 1), ("zb-v", 2)):
        if layout.schedule != name:
            yield stated(schedule=name, vpp=held)


def _sizes(step: TrainingStep) -> Iterator[Change]:
    """Yield one size halved or doubled, with data parallelism taking up the difference."""
    layout = step.layout
    for name in ("tp", "cp", "pp"):
        size = getattr(layout, name)
        for other in (size // 2 if size % 2 == 0 else 0, size * 2):
            dp, rest = divmod(layout.dp * size, other or layout.dp * size + 1)
            if other and dp and not rest:
                yield resized(step, **{name: other, "dp": dp})
    for other in (layout.ep // 2, layout.ep * 2):
        if other and step.model.experts is not None:
            yield resized(step, ep=other)


def _kind(change: Change) -> object:
    """Return what changes share of which the best alone is told: sizes of a micro-batch."""
    return "micro_batch_size" if {*change.stated} == {"micro_batch_size"} else change.words


def _as_sure(other: Prediction, found: Prediction) -> bool:
    """Return whether a change fits as surely as a search asks for, or as what it changes does."""
    if other.fit_probability is None or found.fit_probability is None:
        return True
    return other.fit_probability >= min(FITS_WITH, found.fit_probability)


def faster(found: Prediction, question: Question) -> tuple[Faster, ...]:
    """Return the single changes that save the most time on the same devices, and fit as surely.

    Args:
        found: The answer for the step.
        question: What was asked: its predictor and constants answer for the changes too.
    """
    best: dict[object, Faster] = {}
    question = replace(question, step=found.question.step)
    step = replace(question.step, layout=found.step.layout)
    for change in (
        *without_ends(step),
        *_switches(step),
        *_pipeline(step),
        *_sizes(step),
    ):
        other = change.answered(question)
        if other is None:
            continue
        kind = _kind(change)
        gain = 1.0 - other.step_time_s / found.step_time_s
        if may_run(other) and _as_sure(other, found) and gain >= LEAST_GAIN:
            kept, one = best.get(kind), Faster(change=change.words, found=other, gain_fraction=gain)
            best[kind] = one if kept is None or gain > kept.gain_fraction else kept
    return tuple(sorted(best.values(), key=lambda one: -one.gain_fraction)[:SHOWN])
