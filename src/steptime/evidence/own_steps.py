"""What a few runs teach of a cluster, in order: one factor on all rates, its network, its host.

Errors of sources that were left out of the published fit say how far clusters differ, and runs of
one cluster, for each level of knowledge of the software: the less is known, the more a cluster has
of its own, and the more its runs teach. A step moves as far as these variances allow (empirical
Bayes): a single run moves the factor by the share that differences between clusters have in the
variance of all errors. Network and host are taken where they make the runs as a whole more likely,
with the ranges in ``data/roofline_constants.toml`` as what is known before.

References:
    morris1983, Sec. 1 (a mean shrunk by the variances between and within).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import variance
from typing import TYPE_CHECKING, Any

from steptime.answer.reach import MOST_ATTENTION
from steptime.answer.width import KINDS
from steptime.evidence.pooling import LEAST_BASE, Spread, growth_of, heard, mean, squeezed
from steptime.evidence.residuals import Miss, residuals
from steptime.inputs.constants import RooflineConstants, constant_entries, share_cells

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STEPS = ("factor", "network", "host")
"""What is learned, in this order."""
RATES = ("hbm_efficiency", "link_efficiency", "network_efficiency")
COSTS = ("launch_s", "host_launch_s", "hop_s")
FOLDS = 10
LEAST_SURE = 0.3
"""Standard deviations from nought from which a factor is learned: nearer, its sign is a toss."""
POSITIVE = 1.0
"""Logarithm of how much likelier runs are with a step, from which that is evidence for it.

References:
    kass1995, Sec. 3.2.
"""
FEWEST_LEFT_OUT = 3
"""Runs from which on each can be left out of a fit to the others."""
_NINETY = 1.645
_HUBER = 1.5
_ROUNDS = 4
_NUDGE = 1e-3


@dataclass(frozen=True, slots=True)
class Spreads:
    """How far clusters differ, in logarithms.

    Attributes:
        steps: Standard deviation of each of ``STEPS`` between clusters.
        runs: Of one run about its cluster's mean, where its step only computes.
        growth: How many times that a step adds which computes nothing.
        freedom: Degrees of freedom of the factor's: a few sources tell it.
    """

    steps: tuple[float, ...]
    runs: float
    growth: float
    freedom: int


@functools.cache
def spreads(knowledge: str, without: str = "") -> Spreads:
    """Return how far clusters differ, and runs of one cluster, of left-out sources.

    Args:
        knowledge: What is known of the software, of `steptime.inputs.said.KNOWLEDGE`.
        without: A source that may not be used.
    """
    kinds: dict[str, list[Miss]] = {kind: [] for kind in KINDS}
    for one in residuals():
        miss = one.at(knowledge) if one.attention <= MOST_ATTENTION else None
        if miss is not None and miss.source != without:
            kinds[one.kind].append(miss)
    growth = growth_of(kinds.values())
    groups = heard(miss for several in kinds.values() for miss in several)
    scaled = [[one.error / (1.0 + growth * one.exposed) for one in group] for group in groups]
    within = mean([variance(group) for group in scaled])
    # Means differ by what runs within a source do, too.
    means = [mean(group) ** 2 - variance(group) / len(group) for group in scaled]
    between = max(mean(means), LEAST_BASE**2)
    entries = {one.name: one for one in constant_entries()}
    ranges = [entries["network_efficiency"], entries["launch_s"]]
    rest = [math.log(one.high / one.low) / (2.0 * _NINETY) for one in ranges]
    return Spreads((math.sqrt(between), *rest), math.sqrt(within), growth, len(groups) - 1)


def moved(
    base: RooflineConstants, generations: frozenset[str], x: tuple[float, ...]
) -> RooflineConstants:
    """Return constants with a cluster's steps taken.

    Args:
        base: The published ones.
        generations: Whose shares of matrix rates move.
        x: Logarithm of each of ``STEPS``: all times longer by the factor, the network and fixed
            costs besides.
    """
    factor, network, host = x
    cells = share_cells()
    changes = {
        name: value * math.exp(-factor)
        for name, value in base.values().items()
        if name in RATES or (name in cells and cells[name][0] in generations)
    }
    changes["network_efficiency"] *= math.exp(-network)
    changes |= {name: getattr(base, name) * math.exp(factor + host) for name in COSTS}
    return base.changed(changes)


Errors = Callable[[tuple[float, ...]], "Floats"]
"""From steps to ln(predicted / measured) of each run."""


@dataclass(frozen=True, slots=True)
class Line:
    """Errors of runs near some steps, as a line: errors = start + slopes x.

    Attributes:
        start: Shape (n,).
        slopes: Shape (n, steps).
        exposed: Share of each run's step that is no computing, shape (n,).
        spreads: How far clusters differ.
    """

    start: Floats
    slopes: Floats
    exposed: Floats
    spreads: Spreads

    @property
    def scale(self) -> Floats:
        """Return how much more each run scatters than one that only computes, shape (n,)."""
        return 1.0 + self.spreads.growth * self.exposed

    def of(self, places: Any) -> Line:
        """Return the line of some of the runs: none depends on which others there are.

        Args:
            places: Their indices, or whether each is one.
        """
        return Line(self.start[places], self.slopes[places], self.exposed[places], self.spreads)

    def at(self, x: Floats) -> Floats:
        """Return the errors at some steps, shape (n,)."""
        return self.start + self.slopes @ x


def spread_of(errors: Floats) -> tuple[float, float]:
    """Return the middle of some errors and how far they typically lie from it.

    Args:
        errors: Any.
    """
    import numpy as np

    middle = float(np.median(errors))
    return middle, 1.4826 * float(np.median(np.abs(errors - middle)))


def line_at(errors: Errors, exposed: Floats, known: Spreads) -> Line:
    """Return how errors change about no steps.

    Args:
        errors: Of each run.
        exposed: Share of each run's step that is no computing.
        known: How far clusters differ.
    """
    import numpy as np

    here = errors((0.0,) * len(STEPS))
    columns = []
    for place in range(len(STEPS)):
        there = [0.0] * len(STEPS)
        there[place] = _NUDGE
        columns.append((errors(tuple(there)) - here) / _NUDGE)
    return Line(here, np.stack(columns, axis=1), exposed, known)


def solved(line: Line, used: Floats, taken: int, scatter: float) -> tuple[Floats, Floats]:
    """Return the steps that some runs tell, held near nought, and their standard deviations.

    Least squares with a prior; a run that is far off weighs less (Huber's weights). So does what
    sources say of a factor that lies far beyond them (weights of Student's t): many runs that agree
    are believed.

    Args:
        line: Errors about the steps.
        used: Weight of each run: 0 for one that is left out.
        taken: How many of ``STEPS`` may move.
        scatter: Of a run that only computes.
    """
    import numpy as np

    kept, freedom = np.array(line.spreads.steps)[:taken], line.spreads.freedom
    slopes, each = line.slopes[:, :taken], scatter * line.scale
    x = np.zeros(taken)
    if taken:
        x[0] = -np.median(line.start[used > 0.0])
    for _ in range(_ROUNDS):
        left = np.abs(line.start + slopes @ x) / each
        weight = used * np.minimum(1.0, _HUBER / np.maximum(left, _HUBER)) / each**2
        held = 1.0 / kept**2
        held[:1] *= (freedom + 1.0) / (freedom + (x[:1] / kept[:1]) ** 2)
        inverse = np.linalg.inv(slopes.T @ (weight[:, None] * slopes) + np.diag(held))
        x = -inverse @ (slopes.T @ (weight * line.start))
    full = np.zeros((2, len(STEPS)))
    full[0, :taken], full[1, :taken] = x, np.sqrt(np.diag(inverse))
    return full[0], full[1]


def left_out_mean(line: Line, taken: int, scatter: float) -> float:
    """Return the mean error of runs, each or each tenth of them left out of its fit.

    Args:
        line: Errors about the steps.
        taken: How many of ``STEPS`` may move.
        scatter: Of a run that only computes.
    """
    import numpy as np

    count = len(line.start)
    folds = np.arange(count) % min(count, FOLDS)
    errors = np.empty(count)
    for fold in np.unique(folds):
        out = folds == fold
        x, _ = solved(line, np.where(out, 0.0, 1.0), taken, scatter)
        errors[out] = np.abs(line.at(x))[out]
    return float(errors.mean())


def likelihood(line: Line, taken: int, scatter: float) -> float:
    """Return the logarithm of how likely the errors are, whatever the steps taken may be.

    Args:
        line: Errors about the steps.
        taken: How many of ``STEPS`` clusters differ by.
        scatter: Of a run that only computes.

    References:
        morris1983, Sec. 1 (the marginal distribution of the data).
    """
    import numpy as np

    slopes = line.slopes[:, :taken] * np.array(line.spreads.steps)[:taken]
    covariance = np.diag((scatter * line.scale) ** 2) + slopes @ slopes.T
    _, size = np.linalg.slogdet(covariance)
    return -0.5 * float(size + line.start @ np.linalg.solve(covariance, line.start))


def scatter_of(line: Line, taken: int) -> float:
    """Return how runs scatter that only compute: as they do themselves, and as sources' runs do.

    Args:
        line: Errors about the steps.
        taken: How many of ``STEPS`` may move.
    """
    import numpy as np

    count, usual = len(line.start), line.spreads.runs
    x, _ = solved(line, np.ones(count), taken, usual)
    own = Spread(spread_of(line.at(x) / line.scale)[1] ** 2, count - taken)
    if own.freedom < 1:
        return usual
    return math.sqrt(squeezed(own, [Spread(usual**2, line.spreads.freedom)]).variance)


def steps_taken(line: Line) -> int:
    """Return how many of ``STEPS`` the runs can tell.

    Nothing is learned where the factor is a toss. Network and host are where clusters that differ
    by them, too, make these runs more likely.

    Args:
        line: Errors about the steps.
    """
    import numpy as np

    count = len(line.start)
    taken, likely = 1, likelihood(line, 1, scatter_of(line, 1))
    # As many runs as steps leave nothing to tell one step from another.
    while taken < min(len(STEPS), count - 1):
        more = likelihood(line, taken + 1, scatter_of(line, taken + 1))
        if more < likely + POSITIVE:
            break
        taken, likely = taken + 1, more
    x, deviation = solved(line, np.ones(count), taken, scatter_of(line, taken))
    sure = np.abs(x[:taken]) >= LEAST_SURE * deviation[:taken]
    return taken if bool(sure.any()) else 0
