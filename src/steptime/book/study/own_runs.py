"""§17e: what a few runs of one's own teach of the others on the same cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from steptime.evidence.ladder import RUNGS
from steptime.evidence.own_curve import Draw, draws, sources_left_out
from steptime.evidence.own_steps import STEPS, Spreads, spreads
from steptime.inputs.said import KNOWLEDGE

NONE = 0
"""Runs learned from where nothing is."""
LEVELS = dict(zip(RUNGS, KNOWLEDGE, strict=True))
"""The level of knowledge that a rung of the ladder stands for."""


@dataclass(frozen=True, slots=True)
class Point:
    """The error after so many own runs, each source weighing the same.

    Attributes:
        count: Runs learned from.
        mean: Mean size of ln(predicted / measured) of the other runs.
        worst: The largest mean of one source.
        worse: Share of draws after which the others are predicted worse than before.
        learned: Share of draws that learned each of `steptime.evidence.own_steps.STEPS`.
    """

    count: int
    mean: float
    worst: float
    worse: float
    learned: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class OwnRunsStudy:
    """The errors of sources that were left out, before and after learning from a few runs.

    Attributes:
        rung: What is known of the software, of `steptime.evidence.ladder.RUNGS`.
        sources: Names, as the runs' ids begin.
        draws: By the count of runs learned from.
    """

    rung: str
    sources: tuple[str, ...]
    draws: Mapping[int, tuple[Draw, ...]]

    @property
    def num_draws(self) -> int:
        """Return the draws of all counts together."""
        return sum(map(len, self.draws.values()))

    @property
    def spreads(self) -> Spreads:
        """Return how far sources differ, and runs of one, where a step only computes."""
        return spreads(LEVELS[self.rung])

    @property
    def first_share(self) -> float:
        """Return the share of one run's error that is learned as its cluster's."""
        between, within = self.spreads.steps[0] ** 2, self.spreads.runs**2
        return between / (between + within)

    def by_source(self, source: str) -> dict[int, float]:
        """Return the mean error of one source after each count of runs, none first.

        Args:
            source: Its name.
        """
        own = {count: _of(chosen, source) for count, chosen in self.draws.items()}
        before = fmean(one.before for chosen in own.values() for one in chosen)
        return {NONE: before} | {
            count: fmean(one.after for one in chosen) for count, chosen in own.items()
        }

    def points(self) -> tuple[Point, ...]:
        """Return the curve: the error after each count of runs, none first."""
        curves = [self.by_source(source) for source in self.sources]
        return tuple(self._point(count, curves) for count in (NONE, *self.draws))

    def _point(self, count: int, curves: Sequence[Mapping[int, float]]) -> Point:
        chosen = self.draws.get(count, ())
        means = [curve[count] for curve in curves]
        worse = [one.after > one.before for one in chosen]
        return Point(
            count=count,
            mean=fmean(means),
            worst=max(means),
            worse=fmean(worse) if worse else 0.0,
            learned={
                name: fmean(name in one.learned for one in chosen) if chosen else 0.0
                for name in STEPS
            },
        )


def _of(chosen: Sequence[Draw], source: str) -> list[Draw]:
    return [one for one in chosen if one.source == source]


def own_runs_studies(
    counts: Sequence[int], times: int, least_runs: int
) -> tuple[OwnRunsStudy, ...]:
    """Return what so many runs of a source teach of its others, for each rung of knowledge.

    Args:
        counts: Runs to learn from.
        times: Draws of each count from each source.
        least_runs: Sources of fewer runs are left out; more than any count.
    """
    found = []
    for rung in RUNGS:
        sources = sources_left_out(max(least_runs, max(counts) + 1), rung)
        names = tuple(one.name for one in sources)
        found.append(OwnRunsStudy(rung, names, draws(sources, counts, times)))
    return tuple(found)


def points_of(studies: Sequence[OwnRunsStudy]) -> tuple[tuple[Point, ...], ...]:
    """Return the curve of each study.

    Args:
        studies: One for each rung of knowledge.
    """
    return tuple(study.points() for study in studies)


def draws_of(studies: Sequence[OwnRunsStudy]) -> int:
    """Return the draws of all studies together.

    Args:
        studies: One for each rung of knowledge.
    """
    return sum(study.num_draws for study in studies)
