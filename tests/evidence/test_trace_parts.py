"""Where a measured step goes: made traces whose sums are known, and recorded ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_traces import ADAM, ADD, FLASH, GEMM, REDUCE, SEND, kernel, mark, message, steps, write

from steptime.evidence.trace_groups import message_part
from steptime.evidence.trace_own_time import own_time
from steptime.evidence.trace_parts import MeasuredStep, measured_step
from steptime.evidence.trace_steps import steady
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Layout
from steptime.readers.trace.rank import Message, Spans, read_rank, read_ranks

RECORDED = Path(__file__).parents[1] / "readers" / "traces"
US = 1e-6

# A step of 1000 µs by hand: a product to 300, attention to 400, element-wise work to 450, a
# message from 420 to 520 (30 hidden, 70 shown), a gap to 600, an unknown kernel to 640, the
# optimizer to 800, then nothing.
BY_HAND = [
    kernel(GEMM, 0, 300),
    kernel(FLASH, 300, 100),
    kernel(ADD, 400, 50),
    message(REDUCE, 420, 100, "allreduce", **{"Process Group Description": "mesh_tp"}),
    kernel("mine", 600, 40),
    kernel(ADAM, 640, 160),
]


def measured(tmp_path: Path, events: list[Any], layout: Layout | None = None) -> MeasuredStep:
    return measured_step([read_rank(write(tmp_path / "trace.json", events))], layout)


def shown(step: MeasuredStep) -> dict[str, float]:
    return {name: round(value / US, 3) for name, value in step.parts_s.items() if value > 1e-9}


# limit


def test_each_moment_counts_once(tmp_path: Path) -> None:
    found = measured(tmp_path, steps(BY_HAND, 1000))
    assert shown(found) == {
        "products": 300,
        "attention": 100,
        "elementwise": 50,
        "tensor_parallel": 70,
        "unknown": 40,
        "optimizer": 160,
        "host": 280,
    }
    assert found.hidden_s["tensor_parallel"] / US == pytest.approx(30)
    assert found.step_time_s / US == pytest.approx(1000)
    assert list(found.unknown_s) == ["mine"]
    assert found.unknown_s["mine"] / US == pytest.approx(40)


def test_two_kernels_at_once_take_the_time_of_one(tmp_path: Path) -> None:
    events = [kernel(GEMM, 0, 100), kernel(ADD, 50, 100, stream=9), kernel(GEMM, 60, 20, stream=9)]
    assert shown(measured(tmp_path, steps(events, 200))) == {
        "products": 100,
        "elementwise": 50,
        "host": 50,
    }


def test_what_runs_in_the_optimizers_annotation_is_its_own(tmp_path: Path) -> None:
    events = [kernel(GEMM, 0, 50), kernel(ADD, 60, 30), mark("Optimizer.step#AdamW.step", 55, 40)]
    assert shown(measured(tmp_path, steps(events, 100))) == {
        "products": 50,
        "optimizer": 30,
        "host": 20,
    }


def test_waiting_for_another_stage_is_bubble(tmp_path: Path) -> None:
    # The same bytes take 10 µs once and 210 µs once: 200 of them are waiting.
    sent = {"Process Group Description": "mesh_pp", "In msg nelems": 4096}
    events = [
        message(SEND, 0, 210, "recv", **sent),
        kernel(GEMM, 210, 100),
        message(SEND, 310, 10, "send", **sent),
    ]
    assert shown(measured(tmp_path, steps(events, 400))) == {
        "products": 100,
        "pipeline_sends": 20,
        "bubble": 200,
        "host": 80,
    }


def test_the_middle_step_is_taken_and_the_first_left_out(tmp_path: Path) -> None:
    marks, at = [], 0
    for name, length in enumerate((900, 110, 100, 130, 120)):
        marks += [mark(f"ProfilerStep#{name}", at, length), kernel(GEMM, at, 50)]
        at += length
    found = steady([read_rank(write(tmp_path / "trace.json", marks))])
    assert found.name == "ProfilerStep#1"
    assert sorted(found.durations_s) == pytest.approx([100 * US, 110 * US, 120 * US, 130 * US])


def test_without_marks_steps_are_found_by_what_repeats(tmp_path: Path) -> None:
    events = [event for event in steps(BY_HAND, 1000, 5) if event["cat"] == "kernel"]
    found = steady([read_rank(write(tmp_path / "trace.json", events))])
    assert found.durations_s == pytest.approx([1000 * US] * 3)
    with pytest.raises(ConfigError, match="no step is marked"):
        steady([read_rank(write(tmp_path / "one.json", BY_HAND))])


# whose messages


LAYOUT = Layout(tp=2, cp=2, dp=2, pp=2)


@pytest.mark.parametrize(
    ("ranks", "does", "part"),
    [
        # By hand, tp nearest, then cp, dp, pp.
        ((0, 1), "all_reduce", "tensor_parallel"),
        ((0, 2), "all_gather", "context_parallel"),
        ((0, 4), "reduce_scatter", "data_parallel"),
        ((0, 2, 4, 6), "all_reduce", "data_parallel"),
        ((0, 8), "send_recv", "pipeline_sends"),
        ((0, 1, 2, 3), "all_reduce", "messages"),
        ((), "all_reduce", "messages"),
    ],
)
def test_ranks_tell_whose_message_it_is(ranks: tuple[int, ...], does: str, part: str) -> None:
    message = Message(start_s=0, end_s=1, does=does, ranks=ranks)
    assert message_part(message, LAYOUT) == part


def test_the_description_of_a_group_comes_first() -> None:
    message = Message(start_s=0, end_s=1, does="all_reduce", described="expert_parallel")
    assert message_part(message, LAYOUT) == message_part(message, None) == "expert_parallel"


def test_size_or_the_only_degree_tells_where_ranks_do_not() -> None:
    one = Message(start_s=0, end_s=1, does="all_reduce", group_size=8)
    assert message_part(one, Layout(tp=8, dp=4)) == "tensor_parallel"
    assert message_part(one, Layout(tp=4, dp=8)) == "data_parallel"
    assert message_part(one, Layout(tp=8, dp=8)) == "messages"
    plain = Message(start_s=0, end_s=1, does="send_recv")
    assert message_part(plain, Layout(pp=4)) == "pipeline_sends"
    assert message_part(plain, Layout(cp=4)) == "context_parallel"
    assert message_part(plain, Layout(tp=4)) == message_part(plain, None) == "messages"


# invariant


def test_own_time_is_the_innermost_operators() -> None:
    spans = Spans()
    for name, start, end in (("a", 0, 10), ("b", 2, 6), ("c", 3, 4), ("d", 12, 14)):
        spans.add(name, start, end, 1)
    told = [(start, end, spans.texts[spans.names[i]]) for start, end, i in own_time(spans, 1, 13)]
    assert told == [(1, 2, "a"), (2, 3, "b"), (3, 4, "c"), (4, 6, "b"), (6, 10, "a"), (12, 13, "d")]


@pytest.mark.parametrize(
    ("kind", "part", "degree"),
    [
        ("tensor", "tensor_parallel", "tp"),
        ("fsdp", "data_parallel", "dp"),
        ("pipe", "bubble", "pp"),
    ],
)
def test_recorded_runs_add_up_and_show_their_messages(kind: str, part: str, degree: str) -> None:
    traces = read_ranks([RECORDED / f"{kind}-{rank}.json.gz" for rank in (1, 0)])
    assert [one.rank for one in traces] == [0, 1]
    found = measured_step(traces, Layout(**{degree: 2}))
    assert not found.on_device
    assert len(found.steady.durations_s) == 3
    assert found.unknown_s == {}
    for own, (start, end) in zip(found.ranks_s, found.steady.spans, strict=True):
        assert sum(own.values()) == pytest.approx(end - start, rel=1e-9)
    assert sum(found.parts_s.values()) == pytest.approx(found.step_time_s, rel=1e-9)
    messages = ("tensor_parallel", "context_parallel", "expert_parallel", "data_parallel", "bubble")
    assert {one for one in messages if found.parts_s[one]} == {part}
    assert found.parts_s["products"] > found.parts_s["attention"] > 0.0
    # No layout, so nobody knows whose messages they are; nothing is lost.
    blind = measured_step(traces)
    assert blind.parts_s["messages"] > 0.0
    assert sum(blind.parts_s.values()) == pytest.approx(found.step_time_s, rel=1e-9)
