"""How well a model orders layouts: published runs that differ in their layout alone."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass

from steptime.evidence.judge import validation
from steptime.evidence.row_device import measured
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.evidence.sweeps import playbook_rows
from steptime.evidence.validate import RowResult

NEAR_BEST = 1.5
"""Only layouts predicted within this factor of their group's best count: a search ends there."""

RIGHT_SHARE = 0.8
"""Pairs count as told apart from the difference on at which this share is in the right order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Published runs of one model, on the same devices, with the same batch.

    Attributes:
        source: Where they were published.
        model: What was trained.
        num_devices: On how many.
        points: Predicted and measured step time of each layout, seconds.
    """

    source: str
    model: str
    num_devices: int
    points: tuple[tuple[float, float], ...]

    @property
    def regret_fraction(self) -> float:
        """What the layout predicted to be best costs over the one that was, measured."""
        chosen = min(self.points)[1]
        return chosen / min(measured for _, measured in self.points) - 1.0

    def near_best(self) -> list[tuple[float, float]]:
        """Return the points within `NEAR_BEST` of the best predicted."""
        best = min(predicted for predicted, _ in self.points)
        return [point for point in self.points if point[0] <= NEAR_BEST * best]


def results(predictor: str, rows: list[PublishedRow]) -> tuple[RowResult, ...]:
    """Return a predictor's result on each row, through the door that the search uses.

    Args:
        predictor: baseline or roofline.
        rows: Published runs.
    """
    return validation(rows, predictor).rows


def groups(predictor: str, *, sweep: bool = False) -> list[Group]:
    """Return the groups of published runs that differ in their layout alone.

    Args:
        predictor: Whose predictions to pair with the measurements.
        sweep: Take the Ultra-Scale Playbook's sweep instead of the table of runs.
    """
    rows = playbook_rows() if sweep else [row for row in published_rows() if measured(row)]
    by_id = {row.id: row for row in rows}
    found: dict[tuple[object, ...], list[tuple[float, float]]] = defaultdict(list)
    for result in results(predictor, rows):
        row = by_id[result.id]
        key = (row.source, row.model, row.gpu, row.gpus, row.gbs, row.seq_len, row.precision)
        found[key].append((result.step_time_s, result.published_step_time_s))
    return [
        Group(
            source=str(key[0]),
            model=str(key[1]),
            num_devices=int(str(key[3])),
            points=tuple(points),
        )
        for key, points in found.items()
        if len(set(points)) > 1
    ]


def pairs(chosen: list[Group]) -> list[tuple[float, bool]]:
    """Return the predicted difference of each pair of layouts, and whether its order is right.

    Args:
        chosen: Groups; only layouts near the best predicted are paired.
    """
    found = []
    for group in chosen:
        for (a, measured_a), (b, measured_b) in itertools.combinations(group.near_best(), 2):
            difference = abs(math.log(a / b))
            found.append((difference, (a < b) == (measured_a < measured_b)))
    return found


def right_share(found: list[tuple[float, bool]], low: float, high: float) -> float | None:
    """Return the share of pairs in the right order, among those that differ by so much.

    Args:
        found: From `pairs`.
        low: Smallest predicted difference.
        high: Largest.
    """
    right = [order for difference, order in found if low <= difference < high]
    return sum(right) / len(right) if right else None


def steepness(found: list[tuple[float, bool]]) -> float:
    """Return how fast a predicted difference becomes certain: k of ``1 / (1 + exp(-k x))``.

    The most likely k for the pairs. A difference of 0 says nothing, so the curve starts at a
    half.

    Args:
        found: From `pairs`.

    References:
        derived here, book/search.md.
    """
    low, high = 0.0, 1000.0
    for _ in range(60):
        k = (low + high) / 2.0
        pull = math.fsum(x * (right - 1.0 / (1.0 + math.exp(-k * x))) for x, right in found)
        low, high = (k, high) if pull > 0.0 else (low, k)
    return low


def measured_tie_fraction(predictor: str) -> float:
    """Return the difference from which published pairs are told apart, in whole percent.

    There, by the curve of `steepness`, `RIGHT_SHARE` of the pairs are in the order they were
    measured in.

    Args:
        predictor: baseline or roofline.
    """
    k = steepness(pairs(groups(predictor)))
    return round(math.log(RIGHT_SHARE / (1.0 - RIGHT_SHARE)) / k, 2)
