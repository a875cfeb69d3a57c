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
from typing import TYPE_CHECKING

from steptime.evidence.ladder import RUNGS
from steptime.evidence.ladder_left_out import published_without
from steptime.evidence.leave_out import asked_as
from steptime.evidence.own_fit import fit_to, known_of, own_line
from steptime.evidence.own_steps import Line, spreads
from steptime.evidence.samples import Sample, all_runs, scored, table
from steptime.inputs.constants import RooflineConstants

if TYPE_CHECKING:
    from steptime.evidence.own_fit import Floats

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
        line: How the errors of its runs change about them.
    """

    name: str
    runs: tuple[Sample, ...]
    constants: RooflineConstants
    line: Line


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
        _left_out(name, asked_as(asked, chosen), constants[name])
        for name, chosen in by_source.items()
        if len(chosen) >= least_runs
    )


def _left_out(name: str, runs: tuple[Sample, ...], constants: RooflineConstants) -> LeftOutSource:
    # Once for all draws: each takes the lines of its runs.
    line = own_line(table(runs), constants, spreads(known_of(runs), name))
    return LeftOutSource(name, runs, constants, line)


def drawn(source: LeftOutSource, count: int, draw: random.Random) -> Draw:
    """Return what some of a source's runs teach of the others.

    Args:
        source: One that was left out.
        count: Runs to learn from; fewer than it has.
        draw: Chooses them.
    """
    own = sorted(draw.sample(range(len(source.runs)), count))
    others = [place for place in range(len(source.runs)) if place not in set(own)]
    chosen, unseen = ([source.runs[place] for place in places] for places in (own, others))
    fit = fit_to(chosen, source.constants, source.name, source.line.of(own))
    before = source.line.of(others).start
    return Draw(
        source=source.name,
        count=count,
        before=_mean_size(before),
        after=_mean_size(table(unseen).errors(fit.constants) if fit.learned else before),
        learned=tuple(one.name for one in fit.learned),
    )


def _mean_size(errors: Floats) -> float:
    return fmean(abs(error) for error in errors.tolist())


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
