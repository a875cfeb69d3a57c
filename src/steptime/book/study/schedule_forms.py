"""§12b: the closed forms that step times and search use, against the executor."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from steptime.formulas.schedule import bubble_overhead
from steptime.formulas.schedules.registry import place_of
from steptime.inputs.schedule_name import searched_name
from steptime.pipeline.build import build_orders, fixed_chunks, refusal
from steptime.pipeline.durations import slot_times
from steptime.pipeline.execute import execute
from steptime.pipeline.measure import bubble
from steptime.pipeline.schedules import SCHEDULES
from steptime.pipeline.searched import searched_orders

FINEST = 10**6
"""Slots in one unit of time, where a search makes the order."""
Lengths = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormGap:
    """How far a schedule's closed form is from the executor.

    Attributes:
        name: Of the schedule.
        compared: Sizes and ratios of F, I and W.
        many: Largest difference over the step, with two micro-batches a rank or more.
        few: The same with fewer; 0 where the schedule cannot run so.
    """

    name: str
    compared: int
    many: float
    few: float


def form_gaps(cases: int, most_ranks: int, widest: float) -> list[FormGap]:
    """Return the largest difference between closed form and executor, schedule by schedule.

    Args:
        cases: Random sizes and ratios of each schedule.
        most_ranks: Largest number of ranks.
        widest: The longest of F, I and W over the shortest, at most.
    """
    found = []
    for name in SCHEDULES:
        worst = {True: 0.0, False: 0.0}
        for size, lengths in _cases(name, cases, most_ranks, widest):
            many = size[1] >= 2 * size[0]
            worst[many] = max(worst[many], abs(_gap(name, size, lengths)))
        found.append(FormGap(name=name, compared=cases, many=worst[True], few=worst[False]))
    return found


def largest_gap(rows: list[FormGap]) -> float:
    """Return the largest difference with two micro-batches a rank or more.

    Args:
        rows: From `form_gaps`.
    """
    return max(row.many for row in rows)


def _cases(
    name: str, cases: int, most_ranks: int, widest: float
) -> Iterator[tuple[tuple[int, int, int], Lengths]]:
    draw = random.Random(name)
    left = cases
    while left:
        p = draw.randint(1, most_ranks)
        m = draw.randint(1, 6 * p)
        v = fixed_chunks(name) or draw.randint(1, 4)
        f, i, w = (widest ** draw.uniform(-0.5, 0.5) for _ in range(3))
        if not refusal(name, p, m, v):
            yield (p, m, v), (f, i, w)
            left -= 1


def _gap(name: str, size: tuple[int, int, int], lengths: Lengths) -> float:
    p, m, v = size
    if searched_name(name):
        # Whole times, so that equal ones are equal.
        f, i, w = (round(one * FINEST) for one in lengths)
        orders = searched_orders(name, [(f, i, w)] * p, m, 0)
        lengths = (f, i, w)
    else:
        orders = build_orders(name, p, m, v)
    times = slot_times(orders, p * v, m, *lengths)
    found = bubble(orders, execute(orders, p * v, m, times))["makespan"]
    place = float(place_of(name))
    overhead = bubble_overhead(place, float(p), float(m), float(v), *lengths)
    return float(m * v * sum(lengths) * (1.0 + overhead) / found - 1.0)
