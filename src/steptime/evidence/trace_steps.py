"""Which step of some traces stands for the run: marked, or found by what repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, median_low

from steptime.inputs.errors import ConfigError
from steptime.readers.trace.rank import RankTrace, Spans

# The first step of a trace warms up; with so many there is one to spare.
_FEWEST_TO_DROP = 3
# Once-a-step kernels follow each other evenly: no distance is further off the middle one.
_UNEVEN = 0.5
_FEWEST_REPEATS = 3

Span = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Steady:
    """The step that stands for a run.

    Attributes:
        name: As the trace marks it.
        spans: Its start and end on each rank.
        durations_s: Of every step that was compared, the slowest rank's.
        how: How steps were found, in words.
    """

    name: str
    spans: tuple[Span, ...]
    durations_s: tuple[float, ...]
    how: str


def steady(ranks: Sequence[RankTrace]) -> Steady:
    """Return the step of middle length, warm-up left out.

    Args:
        ranks: One or more traces of the same steps.

    Raises:
        ConfigError: If no step is marked and nothing repeats, or ranks have no step in common.
    """
    found = [_steps(rank) for rank in ranks]
    names = [name for name in found[0][0] if all(name in steps for steps, _ in found)]
    if not names:
        raise ConfigError(
            f"{ranks[0].path} and the other traces have no step in common; trace the same steps "
            "on every rank"
        )
    kept = names[1:] if len(names) >= _FEWEST_TO_DROP else names
    lengths = {name: max(steps[name][1] - steps[name][0] for steps, _ in found) for name in kept}
    middle = median_low(lengths.values())
    name = next(name for name in kept if lengths[name] == middle)
    if not middle > 0.0:
        raise ConfigError(f"{ranks[0].path}: {name} takes no time; write the trace again")
    return Steady(
        name=name,
        spans=tuple(steps[name] for steps, _ in found),
        durations_s=tuple(lengths.values()),
        how=found[0][1],
    )


def _steps(rank: RankTrace) -> tuple[dict[str, Span], str]:
    """Return the steps of a rank by name, each up to the start of the next one."""
    if rank.steps:
        every = sorted(rank.steps.items(), key=lambda step: step[1])
        starts = [span[0] for _, span in every[1:]]
        ends = [*starts, every[-1][1][1]]
        return {name: (span[0], end) for (name, span), end in zip(every, ends, strict=True)}, (
            "marked in the trace"
        )
    name, starts = _once_a_step(rank.kernels if rank.on_device else rank.operators)
    if not starts:
        raise ConfigError(
            f"{rank.path}: no step is marked and no kernel repeats evenly; call "
            "profiler.step() after each step, and trace three or more"
        )
    spans = pairwise(starts)
    return {f"step {i}": span for i, span in enumerate(spans)}, f"from one {name[:60]} to the next"


def _once_a_step(spans: Spans) -> tuple[str, list[float]]:
    """Return the rarest name that repeats evenly, and when it starts.

    What runs once a step is rarer than what runs for each layer or micro-batch.
    """
    starts: dict[int, list[float]] = {}
    for name, start_s in zip(spans.names, spans.starts_s, strict=True):
        starts.setdefault(name, []).append(start_s)
    for name, times in sorted(starts.items(), key=lambda one: (len(one[1]), one[0])):
        if len(times) >= _FEWEST_REPEATS:
            times.sort()
            gaps = [after - before for before, after in pairwise(times)]
            middle = median(gaps)
            if middle > 0 and all(abs(gap - middle) <= _UNEVEN * middle for gap in gaps):
                return spans.texts[name], times
    return "", []
