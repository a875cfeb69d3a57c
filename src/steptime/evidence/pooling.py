"""What few sources of one kind of run cannot tell alone: the kinds' errors taken together.

How errors grow with the share of a step that is no computing is one number for all kinds. Divided
by their scale, errors of sources of one kind vary as those of another: a kind's own variance and
that of the others give one together. Those count as many degrees of freedom as its own, or two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import variance
from typing import NamedTuple

from steptime.evidence.residuals import Miss

FEWEST_RUNS = 3
"""Of a source that has a say."""
LEAST_BORROWED = 2
"""Degrees of freedom that other kinds may lend to a kind of fewer."""
LEAST_BASE = 0.01
"""Nobody measures a step to better than a hundredth."""


class Spread(NamedTuple):
    """How errors divided by their scale vary over the sources of a kind.

    Attributes:
        variance: Of one more value of one more source.
        freedom: Degrees of freedom.
    """

    variance: float
    freedom: int


def mean(values: Sequence[float]) -> float:
    """Return the mean."""
    return math.fsum(values) / len(values)


def by_source(misses: Iterable[Miss]) -> dict[str, list[Miss]]:
    """Return errors by their source.

    Args:
        misses: Errors.
    """
    found: dict[str, list[Miss]] = {}
    for miss in misses:
        found.setdefault(miss.source, []).append(miss)
    return found


def heard(misses: Iterable[Miss]) -> list[list[Miss]]:
    """Return the errors of each source that has a say.

    Args:
        misses: Errors of left-out runs.
    """
    return [group for group in by_source(misses).values() if len(group) >= FEWEST_RUNS]


def middle_of(groups: Sequence[Sequence[Miss]]) -> float:
    """Return the mean of the sources' means."""
    return mean([mean([miss.error for miss in group]) for group in groups])


def line(groups: Iterable[Sequence[Miss]], middle: float) -> tuple[float, float]:
    """Return the line of the errors' sizes over exposed shares, every source weighing the same.

    Args:
        groups: Errors of each source.
        middle: What they lie about.
    """
    points = [
        (1.0 / len(group), miss.exposed, abs(miss.error - middle))
        for group in groups
        for miss in group
    ]
    total = math.fsum(weight for weight, _, _ in points)
    mean_x = math.fsum(w * x for w, x, _ in points) / total
    mean_y = math.fsum(w * y for w, _, y in points) / total
    spread = math.fsum(w * (x - mean_x) ** 2 for w, x, _ in points)
    across = math.fsum(w * (x - mean_x) * (y - mean_y) for w, x, y in points)
    slope = max(across / spread, 0.0) if spread > 0.0 else 0.0
    return max(mean_y - slope * mean_x, LEAST_BASE), slope


def growth_of(kinds: Iterable[Sequence[Miss]]) -> float:
    """Return how many times its base a step adds to an error's scale that does no computing.

    Args:
        kinds: Errors of each kind of run; each is divided by its own mean size first.
    """
    alike: list[list[Miss]] = []
    for misses in kinds:
        groups = heard(misses)
        if len(groups) < 2:
            continue
        middle = middle_of(groups)
        size = mean([mean([abs(miss.error - middle) for miss in group]) for group in groups])
        alike += [
            [Miss(one.source, one.exposed, (one.error - middle) / size) for one in group]
            for group in groups
            if size > 0.0
        ]
    if not alike:
        return 0.0
    base, slope = line(alike, 0.0)
    return slope / base


def base_of(groups: Sequence[Sequence[Miss]], middle: float, growth: float) -> float:
    """Return the mean size of errors of steps that only compute, every source weighing the same.

    Args:
        groups: Errors of each source.
        middle: What they lie about.
        growth: From `growth_of`.
    """
    sizes = [
        mean([abs(one.error - middle) / (1.0 + growth * one.exposed) for one in group])
        for group in groups
    ]
    return max(mean(sizes), LEAST_BASE)


def predictive_variance(groups: Sequence[Sequence[float]]) -> float:
    """Return the variance of one more value of one more group, about a mean of the groups' means.

    Means of groups vary by what groups differ and by their share of what values within one do;
    the first term holds both, and the doubt of the mean.

    Args:
        groups: Values less their common middle: two groups or more, of two values or more.

    References:
        searle1992, Ch. 3, with groups weighing the same.
    """
    count = len(groups)
    between = math.fsum(mean(group) ** 2 for group in groups) / (count - 1)
    within = mean([variance(group) for group in groups])
    in_means = mean([1.0 / len(group) for group in groups])
    return between * (1.0 + 1.0 / count) + within * (1.0 - in_means)


def spread_of(groups: Sequence[Sequence[Miss]], base: float, slope: float) -> Spread:
    """Return how errors divided by their scale vary.

    Args:
        groups: Errors of each source: two or more.
        base: Of the scale.
        slope: What a step adds that does no computing.
    """
    middle = middle_of(groups)
    scaled = [
        [(one.error - middle) / (base + slope * one.exposed) for one in group] for group in groups
    ]
    return Spread(predictive_variance(scaled), len(groups) - 1)


def squeezed(own: Spread, others: Sequence[Spread]) -> Spread:
    """Return a kind's spread with those of other kinds, which weigh as much, or as two.

    Args:
        own: Of the kind.
        others: Of the other kinds.

    References:
        smyth2004, Sec. 3 (a variance squeezed towards that of all).
    """
    freedom = sum(one.freedom for one in others)
    if not freedom:
        return own
    usual = math.fsum(one.variance * one.freedom for one in others) / freedom
    borrowed = min(freedom, max(own.freedom, LEAST_BORROWED))
    total = borrowed + own.freedom
    return Spread((borrowed * usual + own.freedom * own.variance) / total, total)
