"""§12b: all schedules at one size, and against the best possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steptime.pipeline.build import refusal
from steptime.pipeline.measure import bubble
from steptime.pipeline.optimum import Problem, shortest_step
from steptime.pipeline.report import report
from steptime.pipeline.schedules import SCHEDULES, default_chunks
from steptime.pipeline.timeline import Work, simulate

EQUAL = Work(forward=1, backward=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRow:
    """One schedule at the size that all share.

    Attributes:
        name: Of the schedule.
        chunks: Chunks a rank holds, v.
        overhead: Idle over useful time; the step ends on all ranks together.
        fraction: Idle over step time.
        span_overhead: Idle over useful time where ranks need not wait for each other
            between steps.
        uneven_overhead: As ``overhead``, with the given F, I and W instead of equal ones.
        most_held: Micro-batches of everything on a rank, held by the fullest rank.
        least_held: The same for the emptiest rank.
        copies: Copies of the weights.
        messages: Messages that the busiest rank sends in a step.
    """

    name: str
    chunks: int
    overhead: float
    fraction: float
    span_overhead: float
    uneven_overhead: float
    most_held: float
    least_held: float
    copies: int
    messages: int


def schedule_rows(
    stages: int, micro_batches: int, chunks: int, lengths: Sequence[float]
) -> list[ScheduleRow]:
    """Return every schedule at one size.

    Args:
        stages: Pipeline ranks, p.
        micro_batches: Micro-batches, m.
        chunks: Chunks of the interleaved schedules, v.
        lengths: F, I and W of the uneven column.
    """
    forward, backward_input, backward_weight = lengths
    uneven = Work(
        forward=forward,
        backward=backward_input + backward_weight,
        backward_input=backward_input,
        backward_weight=backward_weight,
    )
    rows = []
    for name in SCHEDULES:
        usual = default_chunks(name, stages)
        held = usual if refusal(name, stages, micro_batches, chunks) else chunks
        step = report(simulate(name, stages, micro_batches, held, EQUAL))
        other = simulate(name, stages, micro_batches, held, uneven)
        rows.append(
            ScheduleRow(
                name=name,
                chunks=held,
                overhead=step["bubble_overhead"],
                fraction=step["bubble_fraction"],
                span_overhead=step["span_overhead"],
                uneven_overhead=bubble(other.orders, other.result)["bubble_overhead"],
                most_held=max(step["peak_micro_batches"]),
                least_held=min(step["peak_micro_batches"]),
                copies=int(SCHEDULES[name].copies),
                messages=max(step["sends"]),
            )
        )
    return rows


def by_name(rows: Sequence[ScheduleRow]) -> dict[str, ScheduleRow]:
    """Return the rows by the schedule's name.

    Args:
        rows: From `schedule_rows`.
    """
    return {row.name: row for row in rows}


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """How far one schedule is from the shortest step in the same memory.

    Attributes:
        name: Of the schedule.
        stages: Pipeline ranks, p.
        micro_batches: Micro-batches, m.
        held: Micro-batches times chunks that its fullest rank holds.
        slots: Its step, F = I = W = 1 and B = 2.
        best: The shortest step with the same placement of stages and no rank holding more.
        best_unbound: The same without a limit on memory.
        proven: Whether both searches ended.
    """

    name: str
    stages: int
    micro_batches: int
    held: int
    slots: int
    best: int
    best_unbound: int
    proven: bool


def num_shortest(rows: Sequence[Distance]) -> int:
    """Return how many schedules are as short as their memory allows.

    Args:
        rows: From `distances`.
    """
    return sum(row.slots == row.best for row in rows)


def distances(sizes: Sequence[Sequence[int]]) -> list[Distance]:
    """Return each schedule beside the true optimum at small sizes.

    Args:
        sizes: Pairs of stages and micro-batches; a schedule is left out of those that it
            refuses.
    """
    found = []
    for name in SCHEDULES:
        for stages, count in sizes:
            chunks = default_chunks(name, stages)
            if refusal(name, stages, count, chunks):
                continue
            step = report(simulate(name, stages, count, chunks, EQUAL))
            held, slots = max(step["peak_in_flight"]), int(step["makespan"])
            best, sure = shortest_step(_problem(name, stages, count, chunks, held), slots)
            free = _problem(name, stages, count, chunks, stages * chunks * count)
            unbound, sure_too = shortest_step(free, best)
            found.append(
                Distance(
                    name=name,
                    stages=stages,
                    micro_batches=count,
                    held=held,
                    slots=slots,
                    best=best,
                    best_unbound=unbound,
                    proven=sure and sure_too,
                )
            )
    return found


def _problem(name: str, stages: int, count: int, chunks: int, held: int) -> Problem:
    down = tuple(range(stages))
    up = tuple(reversed(down))
    if SCHEDULES[name].copies > 1:
        routes: tuple[tuple[int, ...], ...] = (down, up)
        count //= 2
    else:
        routes = ((down + up) if SCHEDULES[name].vee else down * chunks,)
    return Problem(
        routes=routes,
        micro_batches=count,
        most_held=held,
        split=SCHEDULES[name].splits_backward,
    )
