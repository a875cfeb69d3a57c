"""How sure a prediction is: intervals from the errors of comparable runs that were left out.

Split conformal: the errors of left-out runs are divided by a scale, which grows with the
share of the step that is no computing; nine tenths of them, and one for luck, set the width.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from steptime.evidence.residuals import DENSE, EXPERTS, NARROW, Residual, kind_of, residuals

__all__ = ["Coverage", "Width", "coverage", "interval_s", "kind_of", "step_interval_s", "width"]

COVERAGE = 0.9
FEWEST = 20
# Eight bits change products, not what else goes wrong: dense runs are compared together.
_TOGETHER = {DENSE: (DENSE, NARROW), NARROW: (DENSE, NARROW), EXPERTS: (EXPERTS,)}


@dataclass(frozen=True, slots=True)
class Width:
    """Half-width of an interval in ln(step time): ``factor`` times the scale.

    Attributes:
        factor: Times the scale.
        base: Scale of a step that only computes.
        slope: What a step adds that does nothing else.
        runs: Left-out runs it rests on.
    """

    factor: float
    base: float
    slope: float
    runs: int

    def half(self, exposed: float) -> float:
        """Return the half-width for a step.

        Args:
            exposed: Share of it that is no computing.
        """
        return self.factor * (self.base + self.slope * exposed)


def _line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return the least-squares line, its base at least a hundredth and its slope at least 0."""
    count = len(xs)
    mean_x, mean_y = math.fsum(xs) / count, math.fsum(ys) / count
    spread = math.fsum((x - mean_x) ** 2 for x in xs)
    across = math.fsum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    slope = max(across / spread, 0.0) if spread > 0.0 else 0.0
    return max(mean_y - slope * mean_x, 0.01), slope


def width(errors: Sequence[tuple[float, float]], coverage: float = COVERAGE) -> Width | None:
    """Return the width that covers a share of runs like these, or None where there are too few.

    Args:
        errors: Exposed share and error of each left-out run.
        coverage: The share to cover.

    References:
        vovk2005, Sec. 2.2; barber2021 for leaving groups out.
    """
    count = len(errors)
    if count < FEWEST:
        return None
    base, slope = _line([x for x, _ in errors], [abs(e) for _, e in errors])
    scores = sorted(abs(error) / (base + slope * exposed) for exposed, error in errors)
    rank = min(math.ceil(coverage * (count + 1)), count)
    return Width(scores[rank - 1], base, slope, count)


def comparable(
    rows: Iterable[Residual], kind: str, *, assumed: bool, without: str = ""
) -> list[tuple[float, float]]:
    """Return the exposed shares and errors of the runs that a prediction is compared with.

    Args:
        rows: Left-out errors.
        kind: Of the prediction.
        assumed: Whether its software is assumed, not known.
        without: A unit that may not be used.
    """
    return [
        (row.exposed, row.assumed_error if assumed else row.error)
        for row in rows
        if row.kind in _TOGETHER[kind] and row.unit != without
    ]


@functools.cache
def _kept_width(kind: str, assumed: bool) -> Width | None:
    return width(comparable(residuals(), kind, assumed=assumed))


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
    factor = math.exp(found.half(exposed))
    return step_time_s / factor, step_time_s * factor


def step_interval_s(
    parts: Mapping[str, float], kind: str, *, assumed: bool
) -> tuple[float, float] | None:
    """Return the interval of a step from its parts, or None.

    Args:
        parts: Exposed seconds of each part, as the roofline model gives them.
        kind: One of `steptime.evidence.residuals.KINDS`.
        assumed: Whether the software is assumed, not known.
    """
    total = sum(parts.values())
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
        inside += abs(row.assumed_error if assumed else row.error) <= half
    halves.sort()
    return Coverage(
        kind, len(halves), inside / max(len(halves), 1), halves[len(halves) // 2] if halves else 0.0
    )


@functools.lru_cache(maxsize=256)
def _width_without(rows: tuple[Residual, ...], kind: str, assumed: bool, unit: str) -> Width | None:
    return width(comparable(rows, kind, assumed=assumed, without=unit))
