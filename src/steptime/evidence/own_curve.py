"""What a source's first few runs teach of its others: the error before and after a fit to them.

Every source is left out of the published fit whole, as in `steptime.evidence.leave_out`, and of
what is known of how clusters differ. Then some of its runs, drawn by chance, are learned from as a
user's own, and the rest are predicted: with as much known of the software as a rung of the ladder.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from steptime.evidence.ladder import RUNGS
from steptime.evidence.ladder_left_out import published_without
from steptime.evidence.leave_out import asked_as
from steptime.evidence.own_fit import fit_to
from steptime.evidence.samples import Sample, Table, all_runs, scored, table
from steptime.inputs.constants import RooflineConstants

SEED = 20_260


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw of runs to learn from.

    Attributes:
        source: Whose they are.
        count: How many.
        before: Mean size of ln(predicted / measured) of the source's other runs.
        after: The same with what was learned.
        learned: What that was, of `steptime.evidence.own_steps.STEPS`.
    """

    source: str
    count: int
    before: float
    after: float
    learned: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeftOutSource:
    """A source with the constants that were fitted without it.

    Attributes:
        name: The source.
        runs: Its scored runs.
        constants: Fitted to all others.
    """

    name: str
    runs: tuple[Sample, ...]
    constants: RooflineConstants


def sources_left_out(least_runs: int, rung: str) -> tuple[LeftOutSource, ...]:
    """Return the sources that are large enough, each with constants fitted without it.

    Args:
        least_runs: Of a source.
        rung: What is known of its software, of `steptime.evidence.ladder.RUNGS`.
    """
    asked = RUNGS[rung]
    runs = all_runs()
    constants = published_without()
    by_source: dict[str, list[Sample]] = {}
    for sample in runs.samples:
        if scored(sample):
            by_source.setdefault(sample.origin, []).append(sample)
    return tuple(
        LeftOutSource(name, asked_as(asked, chosen), constants[name])
        for name, chosen in by_source.items()
        if len(chosen) >= least_runs
    )


def drawn(source: LeftOutSource, count: int, draw: random.Random) -> Draw:
    """Return what some of a source's runs teach of the others.

    Args:
        source: One that was left out.
        count: Runs to learn from; fewer than it has.
        draw: Chooses them.
    """
    own = set(draw.sample(range(len(source.runs)), count))
    unseen = table([run for place, run in enumerate(source.runs) if place not in own])
    fit = fit_to([source.runs[place] for place in sorted(own)], source.constants, source.name)
    return Draw(
        source=source.name,
        count=count,
        before=_mean_size(unseen, source.constants),
        after=_mean_size(unseen, fit.constants),
        learned=tuple(one.name for one in fit.learned),
    )


def _mean_size(runs: Table, constants: RooflineConstants) -> float:
    return fmean(abs(error) for error in runs.errors(constants).tolist())


def draws(
    sources: Sequence[LeftOutSource], counts: Sequence[int], times: int
) -> Mapping[int, tuple[Draw, ...]]:
    """Return draws of each count of runs from each source.

    Args:
        sources: Left out.
        counts: Of runs to learn from.
        times: Draws of each count from each source.
    """
    draw = random.Random(SEED)
    return {
        count: tuple(drawn(one, count, draw) for one in sources for _ in range(times))
        for count in counts
    }
