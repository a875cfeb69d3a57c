"""How sure a prediction is: intervals from the errors of comparable runs that were left out.

Split conformal: the errors of left-out runs are divided by a scale, which grows with the
share of the step that is no computing; nine tenths of them, and one for luck, set the width.
Where the software is assumed, errors lie around a middle that is not 0: what most software does
beside the assumed one. Both choices, and to compare such runs with their own kind alone, were
made after a look at the coverage and width that they give when units are left out.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from steptime.evidence.adding import step_of
from steptime.evidence.residuals import DENSE, EXPERTS, NARROW, Residual, kind_of, residuals

__all__ = [
    "Coverage",
    "Width",
    "coverage",
    "interval_s",
    "kind_of",
    "step_interval_s",
    "width",
    "width_of",
]

COVERAGE = 0.9
FEWEST = 20
# Eight bits change products, not what else goes wrong: dense runs are compared together.
_TOGETHER = {DENSE: (DENSE, NARROW), NARROW: (DENSE, NARROW), EXPERTS: (EXPERTS,)}


@dataclass(frozen=True, slots=True)
class Width:
    """Half-width of an interval in ln(step time): ``factor`` times the scale, about ``middle``.

    Attributes:
        factor: Times the scale.
        base: Scale of a step that only computes.
        slope: What a step adds that does nothing else.
        runs: Left-out runs it rests on.
        middle: ln(predicted / measured) that is usual for such runs.
    """

    factor: float
    base: float
    slope: float
    runs: int
    middle: float = 0.0

    def half(self, exposed: float) -> float:
        """Return the half-width for a step.

        Args:
            exposed: Share of it that is no computing.
        """
        return self.factor * (self.base + self.slope * exposed)

    def ends_s(self, step_time_s: float, exposed: float) -> tuple[float, float]:
        """Return the ends of the interval of a step; they hold the prediction itself.

        Args:
            step_time_s: Predicted.
            exposed: Share of it that is no computing.
        """
        half = self.half(exposed)
        low = min(math.exp(-(self.middle + half)), 1.0)
        high = max(math.exp(half - self.middle), 1.0)
        return step_time_s * low, step_time_s * high

    def holds(self, error: float, exposed: float) -> bool:
        """Return whether the interval of a run holds its measured step.

        Args:
            error: ln(predicted / measured).
            exposed: Share of the predicted step that is no computing.
        """
        half = self.half(exposed)
        return min(self.middle - half, 0.0) <= error <= max(self.middle + half, 0.0)


def _line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return the least-squares line, its base at least a hundredth and its slope at least 0."""
    count = len(xs)
    mean_x, mean_y = math.fsum(xs) / count, math.fsum(ys) / count
    spread = math.fsum((x - mean_x) ** 2 for x in xs)
    across = math.fsum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    slope = max(across / spread, 0.0) if spread > 0.0 else 0.0
    return max(mean_y - slope * mean_x, 0.01), slope


def width(
    errors: Sequence[tuple[float, float]], coverage: float = COVERAGE, middle: float = 0.0
) -> Width | None:
    """Return the width that covers a share of runs like these, or None where there are too few.

    Args:
        errors: Exposed share and error of each left-out run.
        coverage: The share to cover.
        middle: What the errors lie around.

    References:
        vovk2005, Sec. 2.2; barber2021 for leaving groups out.
    """
    count = len(errors)
    if count < FEWEST:
        return None
    sizes = [abs(error - middle) for _, error in errors]
    base, slope = _line([x for x, _ in errors], sizes)
    scores = sorted(size / (base + slope * x) for (x, _), size in zip(errors, sizes, strict=True))
    rank = min(math.ceil(coverage * (count + 1)), count)
    return Width(scores[rank - 1], base, slope, count, middle)


def comparable_runs(
    rows: Iterable[Residual], kind: str, *, assumed: bool, without: str = ""
) -> list[Residual]:
    """Return the left-out runs that a prediction is compared with.

    Args:
        rows: Left-out errors.
        kind: Of the prediction.
        assumed: Whether its software is assumed, not known: what that costs differs by kind.
        without: A unit that may not be used.
    """
    kinds = (kind,) if assumed else _TOGETHER[kind]
    return [row for row in rows if row.kind in kinds and row.unit != without]


def width_of(
    rows: Iterable[Residual], kind: str, *, assumed: bool, without: str = ""
) -> Width | None:
    """Return the width of a prediction's interval, or None where too few runs are comparable.

    Args:
        rows: Left-out errors.
        kind: Of the prediction.
        assumed: Whether its software is assumed, not known.
        without: A unit that may not be used.
    """
    runs = comparable_runs(rows, kind, assumed=assumed, without=without)
    if not assumed:
        return width([(row.exposed, row.error) for row in runs])
    # What it costs in the middle not to know the software: the rest is error like any other.
    cost = median(row.assumed_error - row.error for row in runs) if runs else 0.0
    return width([(row.exposed, row.assumed_error) for row in runs], middle=cost)


@functools.cache
def _kept_width(kind: str, assumed: bool) -> Width | None:
    return width_of(residuals(), kind, assumed=assumed)


def interval_s(
    step_time_s: float, kind: str, exposed: float, *, assumed: bool
) -> tuple[float, float] | None:
    """Return the ends between which the measured step lies nine times in ten, or None.

    Args:
        step_time_s: Predicted.
        kind: One of `steptime.evidence.residuals.KINDS`.
        exposed: Share of the predicted step that is no computing.
        assumed: Whether the software is assumed, not known.
    """
    found = _kept_width(kind, assumed)
    if found is None:
        return None
    return found.ends_s(step_time_s, exposed)


def step_interval_s(
    parts: Mapping[str, float], kind: str, *, assumed: bool
) -> tuple[float, float] | None:
    """Return the interval of a step from its parts, or None.

    Args:
        parts: Exposed seconds of each part, as the roofline model gives them.
        kind: One of `steptime.evidence.residuals.KINDS`.
        assumed: Whether the software is assumed, not known.
    """
    total = float(step_of(parts))
    exposed = 1.0 - (parts["compute"] + parts["recompute"]) / total
    return interval_s(total, kind, exposed, assumed=assumed)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often intervals made without a unit hold that unit's runs.

    Attributes:
        kind: Of the runs.
        runs: How many.
        covered: Share of them inside.
        half_width: Median half-width, as a fraction of the prediction.
    """

    kind: str
    runs: int
    covered: float
    half_width: float


def coverage(rows: Sequence[Residual], kind: str, *, assumed: bool) -> Coverage:
    """Return the coverage of a kind's intervals, each unit's made from the other units.

    Args:
        rows: Left-out errors.
        kind: One of `steptime.evidence.residuals.KINDS`.
        assumed: Whether the software is assumed.
    """
    inside, halves = 0, []
    chosen = [row for row in rows if row.kind == kind]
    for row in chosen:
        found = _width_without(tuple(rows), kind, assumed, row.unit)
        if found is None:
            continue
        half = found.half(row.exposed)
        halves.append(math.exp(half) - 1.0)
        inside += found.holds(row.assumed_error if assumed else row.error, row.exposed)
    halves.sort()
    return Coverage(
        kind, len(halves), inside / max(len(halves), 1), halves[len(halves) // 2] if halves else 0.0
    )


@functools.lru_cache(maxsize=256)
def _width_without(rows: tuple[Residual, ...], kind: str, assumed: bool, unit: str) -> Width | None:
    return width_of(rows, kind, assumed=assumed, without=unit)
