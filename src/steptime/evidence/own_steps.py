"""What a few runs teach of a cluster, in order: one factor on all rates, its network, its host.

Each step is added where runs that were left out of the fit are predicted better with it. A few
runs move a step only as far as sources are known to differ: the spread of the factor is that of
sources that were left out of the published fit, the others that of the ranges in
``data/roofline_constants.toml``.

References:
    derived here, book/rerun.md.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from steptime.evidence.calibration import SCATTER
from steptime.evidence.residuals import residuals
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
FEWEST_FOR = {"factor": 1, "network": 4, "host": 4}
"""Runs that a step takes: with fewer, one left out leaves nothing to tell it from the factor."""
LEAST_GAIN = 0.1
"""Share of the left-out error that a step must take away, after the factor."""
LEAST_SURE = 0.3
"""Standard deviations from nought from which a factor is learned: nearer, its sign is a toss."""
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
        runs: Of one run about its cluster's mean.
    """

    steps: tuple[float, ...]
    runs: float


@functools.cache
def spreads() -> Spreads:
    """Return how far clusters differ, and runs of one cluster, known by family and date.

    A user's cluster is a new source, in no table of stacks.
    """
    by_source: dict[str, list[float]] = {}
    for one in residuals():
        if one.family_error is not None:
            by_source.setdefault(one.source, []).append(one.family_error)
    large = [errors for errors in by_source.values() if len(errors) > 2]
    means = [fmean(errors) for errors in large]
    within = [fmean((e - m) ** 2 for e in errors) for errors, m in zip(large, means, strict=True)]
    between = fmean(mean**2 for mean in means)
    entries = {one.name: one for one in constant_entries()}
    ranges = [entries["network_efficiency"], entries["launch_s"]]
    rest = [math.log(one.high / one.low) / (2.0 * _NINETY) for one in ranges]
    return Spreads((math.sqrt(between), *rest), math.sqrt(fmean(within)))


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
    """

    start: Floats
    slopes: Floats

    def at(self, x: Floats) -> Floats:
        """Return the errors at some steps, shape (n,)."""
        return self.start + self.slopes @ x


def line_at(errors: Errors, x: Floats) -> Line:
    """Return how errors change about some steps.

    Args:
        errors: Of each run.
        x: The steps.
    """
    import numpy as np

    here = errors(tuple(x.tolist()))
    columns = []
    for place in range(len(STEPS)):
        there = x.copy()
        there[place] += _NUDGE
        columns.append((errors(tuple(there.tolist())) - here) / _NUDGE)
    slopes = np.stack(columns, axis=1)
    return Line(here - slopes @ x, slopes)


def solved(line: Line, used: Floats, taken: int, scatter: float) -> tuple[Floats, Floats]:
    """Return the steps that some runs tell, held near nought, and their standard deviations.

    Least squares with a prior; a run that is far off weighs less (Huber's weights).

    Args:
        line: Errors about the steps.
        used: Weight of each run: 0 for one that is left out.
        taken: How many of ``STEPS`` may move.
        scatter: Of a run.
    """
    import numpy as np

    kept = np.array(spreads().steps)[:taken]
    slopes = line.slopes[:, :taken]
    x = np.zeros(taken)
    for _ in range(_ROUNDS):
        left = np.abs(line.start + slopes @ x) / scatter
        weight = used * np.minimum(1.0, _HUBER / np.maximum(left, _HUBER)) / scatter**2
        inverse = np.linalg.inv(slopes.T @ (weight[:, None] * slopes) + np.diag(1.0 / kept**2))
        x = -inverse @ (slopes.T @ (weight * line.start))
    full = np.zeros((2, len(STEPS)))
    full[0, :taken], full[1, :taken] = x, np.sqrt(np.diag(inverse))
    return full[0], full[1]


def left_out_mean(line: Line, taken: int, scatter: float) -> float:
    """Return the mean error of runs, each or each tenth of them left out of its fit.

    Args:
        line: Errors about the steps.
        taken: How many of ``STEPS`` may move.
        scatter: Of a run.
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


def least_scatter(count: int) -> float:
    """Return the scatter that is trusted of so many runs: few cannot tell it themselves."""
    return max(SCATTER, spreads().runs) if count < FOLDS else SCATTER


def steps_taken(line: Line, scatter: float) -> int:
    """Return how many of ``STEPS`` runs that were left out are predicted better with.

    Few runs can be left out of nothing: below three the factor alone is learned, which moves only
    as far as sources are known to differ. Nothing is where the factor itself is a toss.

    Args:
        line: Errors about the steps.
        scatter: Of a run.
    """
    import numpy as np

    count = len(line.start)
    x, deviation = solved(line, np.ones(count), 1, scatter)
    if abs(float(x[0])) < LEAST_SURE * float(deviation[0]):
        return 0
    if count < FEWEST_LEFT_OUT:
        return 1
    best, taken = float(np.abs(line.start).mean()), 0
    for number, name in enumerate(STEPS, start=1):
        if count < FEWEST_FOR[name]:
            break
        mean = left_out_mean(line, number, scatter)
        if mean < best * (1.0 if number == 1 else 1.0 - LEAST_GAIN):
            best, taken = mean, number
        elif number == 1:
            break
    return taken
