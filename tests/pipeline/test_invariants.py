"""What holds for every schedule at any sizes and durations."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steptime.inputs.layout import SCHEDULES
from steptime.pipeline.build import fixed_chunks, refusal
from steptime.pipeline.codes import action_names, kind_of, pair_code, stage_of
from steptime.pipeline.held import held_over_time, peak_in_flight
from steptime.pipeline.idle_causes import critical_path, positions, producer
from steptime.pipeline.measure import bubble, idle_by_cause
from steptime.pipeline.report import deadlock, report
from steptime.pipeline.timeline import Timeline, Work, simulate

lengths = st.integers(1, 20).map(lambda quarters: quarters / 4)
waits = st.sampled_from([0.0, 0.25, 1.0])


@st.composite
def timelines(draw: st.DrawFn) -> Timeline:
    name = draw(st.sampled_from(SCHEDULES))
    p, m = draw(st.integers(1, 6)), draw(st.integers(1, 14))
    v = fixed_chunks(name) or draw(st.integers(1, 3))
    if refusal(name, p, m, v):
        p += p % 2
        m = 4 * p  # fits all of them
    forward, backward = draw(lengths), draw(lengths)
    scale = draw(st.lists(st.sampled_from([0.5, 1.0, 1.5]), min_size=p * v, max_size=p * v))
    work = Work(
        forward=forward,
        backward=backward,
        backward_input=draw(lengths),
        backward_weight=draw(lengths),
        stage_scale=tuple(scale) if draw(st.booleans()) else (),
        send_latency=draw(waits),
        send_transfer=draw(waits),
        blocking_sends=draw(st.booleans()),
        pair=max(forward, backward) + draw(st.sampled_from([0.0, 0.25])) * min(forward, backward)
        if draw(st.booleans())
        else None,
    )
    return simulate(name, p, m, v, work)


def actions(timeline: Timeline) -> dict[tuple[int, int, int], tuple[int, Any, Any]]:
    """Return rank, start and end by kind, stage and micro-batch."""
    stages, count = timeline.stages, timeline.micro_batches
    found = {}
    for rank, order in enumerate(timeline.orders):
        for i, code in enumerate(order):
            if code == pair_code(stages, count):
                continue
            key = (kind_of(code, stages, count), stage_of(code, stages, count), code % count)
            assert key not in found
            start, end = timeline.result["starts"][rank][i], timeline.result["ends"][rank][i]
            found[key] = (rank, start, end)
    return found


# ---- invariant


@settings(max_examples=150, deadline=None)
@given(timelines())
def test_all_work_is_done_once(timeline: Timeline) -> None:
    found = actions(timeline)
    for stage in range(timeline.stages):
        for micro_batch in range(timeline.micro_batches):
            kinds = [kind for kind in range(4) if (kind, stage, micro_batch) in found]
            assert kinds in ([0, 1], [0, 2, 3])
            assert len({found[kind, stage, micro_batch][0] for kind in kinds}) == 1
    assert deadlock(timeline) == []


@settings(max_examples=150, deadline=None)
@given(timelines())
def test_nothing_starts_before_its_data_is_there(timeline: Timeline) -> None:
    found, times = actions(timeline), timeline.times
    message = max(times["delay"]) + max(times["port"])

    def backward(stage: int, micro_batch: int) -> tuple[int, Any, Any]:
        return found.get((1, stage, micro_batch)) or found[2, stage, micro_batch]

    for (kind, stage, micro_batch), (rank, start, _) in found.items():
        if kind == 3:
            origin = found[2, stage, micro_batch]
        elif kind == 0 and stage > 0:
            origin = found[0, stage - 1, micro_batch]
        elif kind in (1, 2) and stage < timeline.stages - 1:
            origin = backward(stage + 1, micro_batch)
        elif kind in (1, 2):
            origin = found[0, stage, micro_batch]
        else:
            continue
        assert start >= origin[2] + (message if origin[0] != rank else 0)


@settings(max_examples=150, deadline=None)
@given(timelines())
def test_a_rank_runs_one_action_at_a_time_or_a_pair(timeline: Timeline) -> None:
    mark = pair_code(timeline.stages, timeline.micro_batches)
    for rank, order in enumerate(timeline.orders):
        start, end = timeline.result["starts"][rank], timeline.result["ends"][rank]
        for i in range(1, len(order)):
            together = timeline.times["paired"] and i >= 2 and order[i - 2] == mark
            if together:
                assert (start[i], end[i]) == (start[i - 1], end[i - 1])
            else:
                assert start[i] >= end[i - 1]


@settings(max_examples=100, deadline=None)
@given(timelines())
def test_idle_time_by_cause_adds_up(timeline: Timeline) -> None:
    orders, stages, count = timeline.orders, timeline.stages, timeline.micro_batches
    totals = bubble(orders, timeline.result)
    causes = idle_by_cause(orders, stages, count, timeline.result, timeline.times)
    for busy, cause in zip(totals["busy"], causes, strict=True):
        assert min(cause.values()) >= 0
        assert busy + sum(cause.values()) == totals["makespan"]
    if not timeline.times["messages"] and not max(timeline.times["delay"]):
        assert all(cause["send"] == 0 for cause in causes)


@settings(max_examples=100, deadline=None)
@given(timelines())
def test_what_is_held_ends_at_nothing_and_peaks_where_counted(timeline: Timeline) -> None:
    for rank, order in enumerate(timeline.orders):
        held = held_over_time(
            order,
            timeline.result["starts"][rank],
            timeline.result["ends"][rank],
            timeline.stages,
            timeline.micro_batches,
            [1] * timeline.stages,
            1,
        )
        assert held["held"][-1] == 0
        assert min(held["held"]) >= 0
        assert max(held["held"]) == peak_in_flight(order, timeline.stages, timeline.micro_batches)


@settings(max_examples=100, deadline=None)
@given(timelines())
def test_the_critical_path_runs_from_zero_to_the_makespan(timeline: Timeline) -> None:
    orders, stages, count = timeline.orders, timeline.stages, timeline.micro_batches
    result = timeline.result
    path = critical_path(orders, stages, count, result)
    assert result["starts"][path[0][0]][path[0][1]] == 0
    last_rank, last = path[-1]
    assert result["ends"][last_rank][last] == bubble(orders, result)["makespan"]
    place = positions(orders, stages, count)
    mark = pair_code(stages, count)
    for (rank, i), (after, j) in pairwise(path):
        assert result["starts"][rank][i] <= result["starts"][after][j]
        if rank != after:
            codes = orders[after][max(0, j - 2) : j + 2]
            sources = [producer(c, stages, count, place) for c in codes if c != mark]
            assert orders[rank][i] in sources


@settings(max_examples=60, deadline=None)
@given(timelines())
def test_the_report_is_finite_and_consistent(timeline: Timeline) -> None:
    numbers = report(timeline)
    assert 0 <= numbers["bubble_fraction"] < 1
    assert numbers["bubble_overhead"] >= numbers["bubble_fraction"]
    assert numbers["bubble_overhead"] >= numbers["span_overhead"] - 1e-12
    for rank, order in enumerate(timeline.orders):
        names = action_names(order, timeline.stages, timeline.micro_batches)
        assert numbers["ranks"][rank] == names
        assert len(numbers["starts"][rank]) == len(numbers["ends"][rank]) == len(names)


def test_slower_messages_never_help_an_order() -> None:
    for name in SCHEDULES:
        spans = [
            report(simulate(name, 4, 8, work=Work(send_latency=latency)))["makespan"]
            for latency in (0, 0.1, 0.5, 2)
        ]
        assert spans == sorted(spans)


def test_whole_slots_add_up_exactly() -> None:
    tenths = report(simulate("1f1b", 3, 10, work=Work(forward=0.1, backward=0.2)))
    assert tenths["makespan"] == 3.6
    assert tenths["bubble_overhead"] == 0.2


# ---- limit


@pytest.mark.parametrize("name", [name for name in SCHEDULES if name != "dualpipe"])
def test_one_rank_is_never_idle(name: str) -> None:
    assert report(simulate(name, 1, 5))["bubble_overhead"] == 0
