"""A timeline in the trace format that Chrome and Perfetto open."""

from __future__ import annotations

from typing import Any

from steptime.pipeline.codes import action_name, pair_code
from steptime.pipeline.durations import crossing_rows
from steptime.pipeline.idle_causes import positions, producer
from steptime.pipeline.report import held_series
from steptime.pipeline.timeline import Timeline

CATEGORIES = {
    "F": "forward",
    "B": "backward",
    "I": "backward for inputs",
    "W": "backward for weights",
}
# Perfetto picks from a fixed list of names; these are nearest to blue, orange and green.
_COLOURS = {"F": "thread_state_runnable", "B": "bad", "I": "bad", "W": "good"}
MICROSECONDS_PER_UNIT = 1000


def trace(timeline: Timeline) -> dict[str, Any]:
    """Return trace events: actions, the messages between ranks, and micro-batches held.

    One unit of time is shown as one millisecond.

    Args:
        timeline: Any.

    Returns:
        The object form of the format: ``traceEvents`` and ``otherData``.
    """
    events: list[dict[str, Any]] = []
    for rank in range(timeline.ranks):
        name = {"name": f"rank {rank}"}
        events.append({"ph": "M", "pid": 0, "tid": rank, "name": "thread_name", "args": name})
        events.extend(_actions(timeline, rank))
        events.extend(_held(timeline, rank))
    events.extend(_messages(timeline))
    return {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {
            "schedule": timeline.name,
            "stages": timeline.ranks,
            "micro_batches": timeline.micro_batches,
            "chunks": timeline.chunks,
            "one unit of time": "1 ms",
        },
    }


def _at(timeline: Timeline, slots: Any) -> float:
    return float(slots * MICROSECONDS_PER_UNIT / timeline.slots_per_unit)


def _actions(timeline: Timeline, rank: int) -> list[dict[str, Any]]:
    stages, count = timeline.stages, timeline.micro_batches
    mark = pair_code(stages, count)
    starts, ends = timeline.result["starts"][rank], timeline.result["ends"][rank]
    events = []
    for i, code in enumerate(timeline.orders[rank][: len(ends)]):
        if code == mark:
            continue
        name = action_name(code, stages, count)
        kind = next(letter for letter in name if letter.isalpha())
        events.append(
            {
                "ph": "X",
                "pid": 0,
                "tid": rank,
                "name": name,
                "cat": CATEGORIES[kind],
                "cname": _COLOURS[kind],
                "ts": _at(timeline, starts[i]),
                "dur": _at(timeline, ends[i] - starts[i]),
            }
        )
    return events


def _held(timeline: Timeline, rank: int) -> list[dict[str, Any]]:
    series = held_series(timeline, rank)
    return [
        {
            "ph": "C",
            "pid": 0,
            "name": f"micro-batches held, rank {rank}",
            "ts": float(time * MICROSECONDS_PER_UNIT),
            "args": {"held": amount},
        }
        for time, amount in zip(series["time"], series["held"], strict=True)
    ]


def _messages(timeline: Timeline) -> list[dict[str, Any]]:
    orders, stages, count = timeline.orders, timeline.stages, timeline.micro_batches
    result = timeline.result
    place = positions(orders, stages, count)
    crossing = crossing_rows(orders, stages, count)
    mark = pair_code(stages, count)
    events = []
    for rank, order in enumerate(orders):
        for i, code in enumerate(order[: len(result["ends"][rank])]):
            if code == mark:
                continue
            source = producer(code, stages, count, place)
            if source < 0 or not crossing[source // count]:
                continue
            origin, index = place["rank"][source], place["index"][source]
            common = {"pid": 0, "cat": "message", "name": "message", "id": code}
            sent = _at(timeline, result["ends"][origin][index])
            events.append({**common, "ph": "s", "tid": origin, "ts": sent})
            got = _at(timeline, result["starts"][rank][i])
            events.append({**common, "ph": "f", "bp": "e", "tid": rank, "ts": got})
    return events
