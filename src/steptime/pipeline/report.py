"""A timeline in numbers and names: what `steptime schedule --json` prints."""

from __future__ import annotations

from typing import Any

from steptime.pipeline.codes import action_name, action_names, pair_code
from steptime.pipeline.durations import crossing_rows
from steptime.pipeline.held import held_over_time, peak_in_flight, sends
from steptime.pipeline.idle_causes import critical_path, deadlock_cycle
from steptime.pipeline.measure import bubble, idle_by_cause
from steptime.pipeline.timeline import Timeline


def summary(timeline: Timeline) -> dict[str, Any]:
    """Return what a timeline amounts to, in the unit that its durations came in.

    Args:
        timeline: From `timeline.simulate`, of orders that finish.

    Returns:
        ``makespan``, ``bubble_overhead`` (idle over busy), ``bubble_fraction`` (idle over
        all), ``span_overhead`` (idle over busy where ranks need not wait for each other
        between steps), ``peak_in_flight`` (micro-batches times stages, per rank),
        ``peak_micro_batches`` (in micro-batches of a whole rank), ``busy``,
        ``idle_by_cause`` and ``sends`` per rank.
    """
    orders, stages, count = timeline.orders, timeline.stages, timeline.micro_batches
    totals = bubble(orders, timeline.result)
    causes = idle_by_cause(orders, stages, count, timeline.result, timeline.times)
    peaks = [peak_in_flight(order, stages, count) for order in orders]
    unit = timeline.in_units
    return {
        "schedule": timeline.name,
        "stages": timeline.ranks,
        "micro_batches": count,
        "chunks": timeline.chunks,
        "makespan": unit(totals["makespan"]),
        "bubble_overhead": totals["bubble_overhead"],
        "bubble_fraction": totals["bubble_fraction"],
        "span_overhead": span_overhead(totals),
        "peak_in_flight": peaks,
        "peak_micro_batches": [peak / timeline.chunks for peak in peaks],
        "busy": [unit(worked) for worked in totals["busy"]],
        "idle_by_cause": [{key: unit(value) for key, value in cause.items()} for cause in causes],
        "sends": sends(orders, stages, count, crossing_rows(orders, stages, count)),
    }


def report(timeline: Timeline) -> dict[str, Any]:
    """Return everything that a timeline tells; several times as large as the timeline.

    Args:
        timeline: From `timeline.simulate`, of orders that finish.

    Returns:
        What `summary` does, and ``in_flight_over_time``, ``critical_path`` (the chain of
        actions that sets the makespan), ``ranks`` (action names in order), ``starts`` and
        ``ends`` beside them.
    """
    orders, stages, count = timeline.orders, timeline.stages, timeline.micro_batches
    mark, unit = pair_code(stages, count), timeline.in_units
    spans = [intervals(timeline, rank) for rank in range(len(orders))]
    return {
        **summary(timeline),
        "in_flight_over_time": [held_series(timeline, rank) for rank in range(len(orders))],
        "critical_path": [
            {"rank": rank, "action": action_name(orders[rank][i], stages, count)}
            for rank, i in critical_path(orders, stages, count, timeline.result)
            if orders[rank][i] != mark
        ],
        "ranks": [action_names(order, stages, count) for order in orders],
        "starts": [[unit(begin) for begin, _ in row] for row in spans],
        "ends": [[unit(end) for _, end in row] for row in spans],
    }


def held_series(
    timeline: Timeline, rank: int, stage_bytes: float = 1, kept: float = 1
) -> dict[str, Any]:
    """Return what a rank holds for its backwards after each change.

    Args:
        timeline: Any.
        rank: Whose.
        stage_bytes: Activations of one micro-batch in one stage; 1 counts micro-batches.
        kept: Share of them that W still needs once I is done.

    Returns:
        ``time`` of each change, ``held`` from then on, and the ``peak``.
    """
    result, stages = timeline.result, timeline.stages
    held = held_over_time(
        timeline.orders[rank][: len(result["ends"][rank])],
        result["starts"][rank],
        result["ends"][rank],
        stages,
        timeline.micro_batches,
        [stage_bytes] * stages,
        kept,
    )
    times = [timeline.in_units(time) for time in held["time"]]
    return {"time": times, "held": held["held"], "peak": max(held["held"], default=0)}


def span_overhead(totals: dict[str, Any]) -> float:
    """Return idle over busy time where a step may start on a rank while others still end one.

    Then the longest of the ranks' own spans is what a step costs, as in qi2023.

    Args:
        totals: From `measure.bubble`.
    """
    busy = max(totals["busy"])
    return float((totals["span"] - busy) / busy)


def intervals(timeline: Timeline, rank: int) -> list[tuple[Any, Any]]:
    """Return start and end, in slots, of each action of a rank; a pair counts as one.

    Args:
        timeline: Any.
        rank: Whose.
    """
    order = timeline.orders[rank]
    start, end = timeline.result["starts"][rank], timeline.result["ends"][rank]
    mark = pair_code(timeline.stages, timeline.micro_batches)
    found = []
    i = 0
    while i < len(end):
        if order[i] == mark and i + 2 < len(end):
            found.append((start[i + 1], end[i + 2]))
            i += 3
        else:
            found.append((start[i], end[i]))
            i += 1
    return found


def deadlock(timeline: Timeline) -> list[dict[str, Any]]:
    """Return the ring of waits that stopped a timeline; empty if it finished.

    Args:
        timeline: Any.

    Returns:
        One entry a wait: ``rank``, its ``action`` that cannot run, what it ``waits_for``,
        which the rank of the next entry would run later, and the first after the last.
    """
    orders, stages, count = timeline.orders, timeline.stages, timeline.micro_batches
    return [
        {
            "rank": rank,
            "action": action_name(code, stages, count),
            "waits_for": action_name(need, stages, count),
        }
        for rank, code, need in deadlock_cycle(orders, stages, count, timeline.result)
    ]


def deadlock_line(cycle: list[dict[str, Any]]) -> str:
    """Return a ring of waits in one line.

    Args:
        cycle: From `deadlock`, not empty.
    """
    steps = [
        f"rank {wait['rank']} cannot run {wait['action']} before {wait['waits_for']}"
        for wait in cycle
    ]
    where = f", which rank {cycle[0]['rank']} has later" if len(cycle) == 1 else ""
    return "the order deadlocks: " + ", ".join(steps) + where
