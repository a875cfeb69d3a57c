"""§17e: what a few runs of one's own teach of the others on the same cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from steptime.evidence.own_curve import Draw, draws, sources_left_out
from steptime.evidence.own_steps import STEPS

NONE = 0
"""Runs learned from where nothing is."""


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
        sources: Names, as the runs' ids begin.
        draws: By the count of runs learned from.
    """

    sources: tuple[str, ...]
    draws: Mapping[int, tuple[Draw, ...]]

    @property
    def num_draws(self) -> int:
        """Return the draws of all counts together."""
        return sum(map(len, self.draws.values()))

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


def own_runs_study(counts: Sequence[int], times: int, least_runs: int) -> OwnRunsStudy:
    """Return what so many runs of a source teach of its others, the source left out of the fit.

    Args:
        counts: Runs to learn from.
        times: Draws of each count from each source.
        least_runs: Sources of fewer runs are left out; more than any count.
    """
    sources = sources_left_out(max(least_runs, max(counts) + 1))
    return OwnRunsStudy(tuple(one.name for one in sources), draws(sources, counts, times))
