"""What would make a layout fit: the nearest changes, each with its memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations

from steptime.answer.answer import Prediction
from steptime.answer.peak import OUTLOOKS
from steptime.answer.question import Question
from steptime.inputs.ability import ability_of
from steptime.inputs.training_step import TrainingStep
from steptime.inputs.usual import USUAL_SCHEDULE
from steptime.planning.change import (
    LIKELY,
    SURE,
    Change,
    each_asked,
    outlook,
    resized,
    stated,
    without_ends,
)

MOST_STAGES = 128
MOST_CHANGES = 6
LEAST_GAIN = 0.01
"""Changes that lower the memory by less are not worth showing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """One change, or several at once, and the memory after it.

    Attributes:
        change: What is changed, as options of the command line.
        step: The training step after it.
        num_devices: Devices it takes.
        step_time_s: Seconds of a step after it.
        total_bytes: On the fullest rank.
        fits: Whether what is counted fits.
        fit_probability: The chance of it; None where too few peaks are known.
        outlook: How the fit is worded, as everywhere.
        enough: Whether that is what was looked for.
    """

    change: str
    step: TrainingStep
    num_devices: int
    step_time_s: float
    total_bytes: float
    fits: bool
    fit_probability: float | None
    outlook: str
    enough: bool


def _cost(one: Remedy) -> tuple[bool, int, float]:
    """Return what a change costs: first those that are enough, by devices and by time."""
    if not one.enough:
        return True, 0, 0.0
    return False, one.num_devices, one.step_time_s


def _halves(size: int) -> Iterator[int]:
    while size % 2 == 0:
        size //= 2
        yield size
    if size > 1:
        yield 1


def _grown(step: TrainingStep, name: str, size: int) -> Change:
    """Return one size grown, on the same devices where dp can shrink for it."""
    layout = step.layout
    own = getattr(layout, name)
    if name == "ep":
        return resized(step, ep=size)
    factor = size // math.gcd(size, own)
    shrinks = size % own == 0 and layout.dp % factor == 0
    return resized(step, **{name: size, "dp": layout.dp * own // size if shrinks else layout.dp})


def _switches(step: TrainingStep) -> Iterator[Change]:
    layout = step.layout
    yield from without_ends(step)
    if layout.tp > 1 and not layout.sequence_parallel:
        yield stated(sequence_parallel=True)
    if layout.dp * layout.cp > 1:
        for stage in range(layout.zero_stage + 1, 4):
            yield stated(zero_stage=stage)
    if layout.pp > 1 and layout.schedule != USUAL_SCHEDULE:
        chunks = {"vpp": 1} if layout.vpp > 1 else {}
        yield stated(**chunks, schedule=USUAL_SCHEDULE)
    if step.batch.micro_batch_size > 1:
        yield stated(micro_batch_size=1)
    modes = {"none": ("selective", "full"), "selective": ("full",), "full": ()}
    for mode in modes[layout.recompute]:
        yield stated(recompute=mode)


def _sizes(step: TrainingStep) -> Iterator[list[Change]]:
    """Return for each size of the layout what it can change to, nearest first."""
    layout, model = step.layout, step.model
    yield [resized(step, dp_replicate=copies) for copies in _halves(layout.dp_replicate)]
    limits = {
        "pp": min(model.num_layers, MOST_STAGES),
        "tp": min(step.accelerator.nvlink_domain, model.num_attention_heads),
        "cp": 64,
        "ep": model.experts.num_experts if model.experts else 0,
    }
    for name, most in limits.items():
        growing = []
        size = getattr(layout, name) * 2
        while size <= most:
            growing.append(_grown(step, name, size))
            size *= 2
        yield growing


def _pairs(question: Question) -> Iterator[Change]:
    """Return two changes at once: a switch and a size, two switches, or two sizes."""
    step = question.step
    switches = list(each_asked(_switches(step), question))
    for (first, changed), (second, _) in combinations(switches, 2):
        if second in _switches(changed.step):
            yield first.beside(second)
    for first, changed in switches:
        for more in chain.from_iterable(_sizes(changed.step)):
            yield first.beside(more)
    for first, changed in each_asked(chain.from_iterable(_sizes(step)), question):
        name = next(iter(first.stated))
        for more in chain.from_iterable(_sizes(changed.step)):
            if next(iter(more.stated)) > name:
                yield first.beside(more)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sought:
    """A question that its software runs, how its fit shall be worded, and what led to it."""

    question: Question
    goal: int
    first: Change

    def remedy(self, change: Change) -> Remedy | None:
        """Return a change with its memory, if it can be asked."""
        found = change.answered(self.question)
        if found is None:
            return None
        word = outlook(found)
        return Remedy(
            change=self.first.beside(change).words,
            step=found.question.step,
            num_devices=found.step.layout.num_devices,
            step_time_s=found.step_time_s,
            total_bytes=found.total_bytes,
            fits=found.fits,
            fit_probability=found.fit_probability,
            outlook=OUTLOOKS[word],
            enough=word >= self.goal,
        )

    def up_to_the_first(self, growing: list[Change]) -> Remedy | None:
        """Return the smallest growth that is enough, else that of the least memory."""
        lowest = None
        for change in growing:
            remedy = self.remedy(change)
            if remedy is None:
                continue
            if remedy.enough:
                return remedy
            if lowest is None or remedy.total_bytes < lowest.total_bytes:
                lowest = remedy
        return lowest

    def singles(self) -> list[Remedy]:
        """Return every single change, in the order in which they are tried."""
        step = self.question.step
        alone = [self.remedy(Change(stated={}))] if self.first.stated else []
        tried = [*alone, *(self.remedy(change) for change in _switches(step))]
        tried += [self.up_to_the_first(growing) for growing in _sizes(step)]
        return [one for one in tried if one is not None]

    def pairs(self) -> list[Remedy]:
        """Return the pairs of changes that are enough, the cheapest first."""
        tried = (self.remedy(change) for change in _pairs(self.question))
        enough = [one for one in tried if one is not None and one.enough]
        return sorted(enough, key=_cost)


def _run_by_software(question: Question) -> tuple[Change, Question]:
    """Return the sizes that the named software runs, on the same devices, where it is asked more.

    What no size mends, and what cannot be asked, stays as it is.
    """
    layout = question.step.layout
    sizes = {}
    for limit in ability_of(question.step.said).lacking(layout, question.step.batch).values():
        if limit.of in ("pp", "tp", "cp") and limit.most:
            sizes[limit.of] = limit.most
    ranks = math.prod(getattr(layout, name) // size for name, size in sizes.items())
    change = resized(question.step, **sizes, dp=layout.dp * ranks)
    asked = change.asked(question) if sizes else None
    return (Change(stated={}), question) if asked is None else (change, asked)


def _step_by_step(sought: _Sought, total_bytes: float) -> Remedy | None:
    """Return several changes at once: each time the one that leaves the least memory."""
    first, taken = sought, Change(stated={})
    for _ in range(MOST_CHANGES):
        step = sought.question.step
        tried = {}
        for change in chain(_switches(step), chain.from_iterable(_sizes(step))):
            remedy = sought.remedy(change)
            if remedy is not None and remedy.total_bytes < total_bytes:
                tried[change.words] = change, remedy
        if not tried:
            return None
        change, best = min(
            tried.values(),
            key=lambda one: (not one[1].enough, one[1].num_devices, one[1].total_bytes),
        )
        taken, total_bytes = taken.beside(change), best.total_bytes
        if best.enough:
            return first.remedy(taken)
        sought = replace(sought, question=replace(sought.question, step=best.step))
    return None


def remedies(found: Prediction) -> tuple[Remedy, ...]:
    """Return the changes that lower the memory, nearest first; none if it fits for sure.

    Single changes that are enough come by devices and time, the others as they are tried. Where
    none of them fits, the pair of changes that fits on the fewest devices is put first, and
    where no pair does, as many as it takes. Where the devices are stated, what those can do
    comes before what takes more. Of a tight fit only single changes are told, that make it sure.

    Args:
        found: The answer for the step.
    """
    word, question = outlook(found), found.question
    if word >= SURE:
        return ()
    first, run = _run_by_software(question)
    sought = _Sought(question=run, goal=max(LIKELY, word + 1), first=first)
    enough = found.total_bytes * (1.0 - LEAST_GAIN)
    singles = [one for one in sought.singles() if one.total_bytes <= enough]
    singles.sort(key=_cost)
    if word >= LIKELY:
        return tuple(one for one in singles if one.enough)
    most = question.step.layout.num_devices if question.step.gpus_stated else math.inf
    if singles and singles[0].enough and singles[0].num_devices <= most:
        return tuple(singles)
    best = sought.pairs()[:1]
    if singles and singles[0].enough:
        return (*(one for one in best if one.num_devices <= most), *singles)
    more = None if best else _step_by_step(sought, found.total_bytes)
    return (*best, *([more] if more else []), *singles)
