"""What would make a layout fit: the nearest changes, each with its memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations

from steptime.answer.answer import Prediction, answer
from steptime.answer.question import Question
from steptime.inputs.errors import ConfigError
from steptime.inputs.habits import check_zero_stage
from steptime.inputs.said import in_its_time
from steptime.inputs.schedule_faults import check_schedule
from steptime.inputs.training_step import TrainingStep

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
        total_bytes: On the fullest rank.
        fits: Whether that fits.
        fit_probability: The chance of it; None where too few peaks are known.
    """

    change: str
    step: TrainingStep
    num_devices: int
    total_bytes: float
    fits: bool
    fit_probability: float | None


Change = tuple[str, TrainingStep]


def _layout(step: TrainingStep, **sizes: object) -> TrainingStep:
    return replace(step, layout=replace(step.layout, **sizes))  # type: ignore[arg-type]


def _grown(step: TrainingStep, name: str, size: int) -> TrainingStep:
    """Return the step with one size grown, on the same devices where dp can shrink for it."""
    layout = step.layout
    factor = size // math.gcd(size, getattr(layout, name))
    shrinks = size % getattr(layout, name) == 0 and layout.dp % factor == 0
    sizes: dict[str, object] = {name: size}
    if shrinks:
        sizes["dp"] = layout.dp * getattr(layout, name) // size
    if name == "pp":
        sizes["vpp"] = min(layout.vpp, -(-step.model.num_layers // size))
    return _layout(step, **sizes)


def _switches(step: TrainingStep) -> Iterator[Change]:
    layout = step.layout
    if layout.tp > 1 and not layout.sequence_parallel:
        yield "--sequence-parallel", _layout(step, sequence_parallel=True)
    if layout.dp * layout.cp > 1:
        for stage in range(layout.zero_stage + 1, 4):
            yield f"--zero {stage}", _layout(step, zero_stage=stage)
    if layout.vpp > 1 and layout.schedule == "interleaved-1f1b":
        yield "--vpp 1 --schedule 1f1b", _layout(step, vpp=1, schedule="1f1b")
    size = step.batch.micro_batch_size
    if size > 1:
        batch = replace(step.batch, micro_batch_size=1)
        yield "--micro-batch-size 1", replace(step, batch=batch)
    modes = {"none": ("selective", "full"), "selective": ("full",), "full": ()}
    for mode in modes[layout.recompute]:
        yield f"--recompute {mode}", _layout(step, recompute=mode)


def _sizes(step: TrainingStep) -> Iterator[list[Change]]:
    """Return for each size of the layout what it can grow to, smallest first."""
    layout, model = step.layout, step.model
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
            grown = _layout(step, ep=size) if name == "ep" else _grown(step, name, size)
            words = f"--{name} {size}"
            if grown.layout.dp != layout.dp:
                words += f" --dp {grown.layout.dp}"
            growing.append((words, grown))
            size *= 2
        yield growing


def _remedy(change: Change) -> Remedy | None:
    words, step = change
    try:
        check_schedule(step.layout, step.batch)
        check_zero_stage(in_its_time(step.said, step.accelerator), step.layout.zero_stage)
        found = answer(Question(step=step))
    except ConfigError:
        return None
    total = found.total_bytes
    return Remedy(
        change=words,
        step=step,
        num_devices=step.layout.num_devices,
        total_bytes=total,
        fits=found.fits,
        fit_probability=found.fit_probability,
    )


def _pairs(step: TrainingStep) -> Iterator[Change]:
    """Return two changes at once: a switch and a size, two switches, or two sizes."""
    switches = list(_switches(step))
    for (first, changed), (second, _) in combinations(switches, 2):
        for words, both in _switches(changed):
            if words == second:
                yield f"{first} {second}", both
    for words, changed in switches:
        for more, both in chain.from_iterable(_sizes(changed)):
            yield f"{words} {more}", both
    for words, changed in chain.from_iterable(_sizes(step)):
        name = words.split()[0]
        for more, both in chain.from_iterable(_sizes(changed)):
            if more.split()[0] > name:
                yield f"{words} {more}", both


def _up_to_the_first_fit(growing: list[Change]) -> Remedy | None:
    """Return the smallest growth that fits, else the one that lowers the memory the most."""
    lowest = None
    for change in growing:
        remedy = _remedy(change)
        if remedy is None:
            continue
        if remedy.fits:
            return remedy
        if lowest is None or remedy.total_bytes < lowest.total_bytes:
            lowest = remedy
    return lowest


def _step_by_step(step: TrainingStep) -> Remedy | None:
    """Return several changes at once: each time the one that leaves the least memory."""
    taken: list[str] = []
    for _ in range(MOST_CHANGES):
        tried = [_remedy(change) for change in _switches(step)]
        tried += [_up_to_the_first_fit(growing) for growing in _sizes(step)]
        known = [one for one in tried if one is not None]
        if not known:
            return None
        best = min(known, key=lambda one: (not one.fits, one.num_devices, one.total_bytes))
        taken.append(best.change)
        if best.fits:
            return replace(best, change=" ".join(taken))
        step = best.step
    return None


def remedies(found: Prediction) -> tuple[Remedy, ...]:
    """Return the changes that lower the memory, nearest first; none if it fits.

    Single changes come in the order of what they cost in time, each with its memory. Where
    none of them fits, the pair of changes that fits on the fewest devices is put first, and
    where no pair does, as many as it takes.

    Args:
        found: The answer for the step.
    """
    if found.fits:
        return ()
    step = found.step
    tried = [_remedy(change) for change in _switches(step)]
    tried += [_up_to_the_first_fit(growing) for growing in _sizes(step)]
    enough = found.total_bytes * (1.0 - LEAST_GAIN)
    singles = [one for one in tried if one is not None and one.total_bytes <= enough]
    if any(one.fits for one in singles):
        return tuple(sorted(singles, key=lambda one: (not one.fits, one.num_devices)))
    pairs = [
        remedy for change in _pairs(step) if (remedy := _remedy(change)) is not None and remedy.fits
    ]
    best = sorted(pairs, key=lambda one: (one.num_devices, one.step.layout.recompute == "full"))
    more = None if best else _step_by_step(step)
    return (*best[:1], *([more] if more else []), *singles)
