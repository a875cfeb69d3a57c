"""The text, SVG and trace forms of a timeline, and the refusals of what makes one."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import SCHEDULES
from steptime.pipeline import schedules
from steptime.pipeline.draw import drawing
from steptime.pipeline.report import report
from steptime.pipeline.svg import svg
from steptime.pipeline.timeline import Timeline, Work, simulate
from steptime.pipeline.trace import trace


def text(timeline: Timeline, columns: int = 80) -> str:
    lines = drawing(timeline, columns)
    return "\n".join("".join(piece for piece, _ in line) for line in lines)


# ---- invariant


def test_the_drawing_is_exact() -> None:
    assert text(simulate("1f1b", 2, 3)) == (
        "2 columns = 1 unit of time\n"
        "rank 0 F0F1....B0--F2B1--..B2--\n"
        "rank 1 ..F0B0--F1B1--F2B2--...."
    )


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("micro_batches", [8, 16, 256])
def test_the_drawing_fits_and_its_columns_add_up(name: str, micro_batches: int) -> None:
    step = simulate(name, 4, micro_batches)
    lines = text(step).split("\n")
    assert max(len(line) for line in lines) <= 80
    rows = [line for line in lines if line.startswith("rank 2 ")]
    drawn = "".join(row[7:] for row in rows)
    totals = report(step)
    if micro_batches < 256:
        width = len(drawn) // totals["makespan"]
        assert len(drawn) == width * totals["makespan"]
        idle = sum(totals["idle_by_cause"][2].values())
        assert drawn.count(".") == idle * width


@pytest.mark.parametrize("work", [Work(), Work(pair=2.5), Work(forward=0.37, send_latency=0.1)])
@pytest.mark.parametrize("name", SCHEDULES)
def test_the_svg_holds_every_action_and_the_verdict(name: str, work: Work) -> None:
    step = simulate(name, 4, 8, work=work)
    root = ET.fromstring(svg(step))
    space = "{http://www.w3.org/2000/svg}"
    boxes = [box for box in root.iter(f"{space}rect") if box.get("class") != "idle"]
    numbers = report(step)
    codes = [code for order in step.orders for code in order]
    marks = sum(code == max(codes) for code in codes) if name.startswith("dualpipe") else 0
    assert len(boxes) == len(codes) - marks
    assert root.get("role") == "img"
    assert f"{numbers['bubble_fraction']:.1%} of the step" in str(root.get("aria-label"))
    assert all(float(str(box.get("x"))) + float(str(box.get("width"))) <= 953 for box in boxes)


def test_the_trace_adds_up_to_the_busy_time() -> None:
    work = Work(send_latency=0.5)
    step = simulate("interleaved-1f1b", 4, 8, work=work)
    data = json.loads(json.dumps(trace(step)))
    numbers = report(step)
    for rank in range(4):
        own = [e for e in data["traceEvents"] if e["ph"] == "X" and e["tid"] == rank]
        assert [event["name"] for event in own] == numbers["ranks"][rank]
        assert sum(event["dur"] for event in own) == 1000 * numbers["busy"][rank]
        assert [event["ts"] for event in own] == [1000 * t for t in numbers["starts"][rank]]
    sent = {event["id"]: event for event in data["traceEvents"] if event["ph"] == "s"}
    got = {event["id"]: event for event in data["traceEvents"] if event["ph"] == "f"}
    assert len(sent) == sum(numbers["sends"])
    assert sent.keys() == got.keys()
    assert all(got[key]["ts"] >= sent[key]["ts"] + 500 for key in sent)


def test_every_schedule_is_listed_and_sourced() -> None:
    assert tuple(schedules.SCHEDULES) == SCHEDULES
    for entry in schedules.SCHEDULES.values():
        assert all((entry.title, entry.inventor, entry.source, entry.constraints, entry.idea))


# ---- refusal


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("1f1b", 4, 8, 2), "1f1b needs chunks=1, got 2"),
        (("zb-v", 4, 8, 3), "zb-v needs chunks=2, got 3"),
        (("interleaved-1f1b", 4, 9, 2), "use micro_batches=8 or 12"),
        (("interleaved-zb", 4, 11, 2), "use micro_batches=8 or 12"),
        (("dualpipe", 3, 8), "even number of stages"),
        (("dualpipe", 4, 9), "use 4 and 10"),
        (("dualpipe-v", 4, 7), "needs micro_batches >= 2 x stages = 8, got 7"),
        (("1f1B", 4, 8), "did you mean '1f1b'"),
        (("1f1b", 0, 8), "stages must be >= 1"),
        (("1f1b", 4, -1), "micro_batches must be >= 1"),
        (("1f1b", True, 8), "stages must be a whole number"),
        (("1f1b", 4, 10**30), "micro_batches must be <="),
        (("gpipe", 10**5, 10**5), "use smaller numbers"),
        (("looped-bfs", 4, 8, 0), "chunks must be >= 1"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        simulate(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes",
    [
        {"forward": 0},
        {"forward": float("nan")},
        {"backward": float("inf")},
        {"backward_input": -1},
        {"send_latency": -0.1},
        {"stage_scale": (1, -1, 1, 1)},
        {"stage_scale": (0, 0)},
        {"pair": 1.5},
        {"forward": "1"},
    ],
)
def test_durations_that_make_no_sense_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        Work(**changes)  # type: ignore[arg-type]


def test_a_scale_must_fit_the_stages() -> None:
    with pytest.raises(ConfigError, match="one number for each of 8 stages, got 2"):
        simulate("zb-v", 4, 8, work=Work(stage_scale=(1, 2)))
