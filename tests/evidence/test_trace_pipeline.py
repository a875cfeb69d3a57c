"""A measured pipeline on the predicted one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from made_traces import ADAM, GEMM, SEND, ZERO_US, kernel, mark, message, steps, write

from steptime.cli.main import run
from steptime.evidence.trace_pipeline import measured_pipeline
from steptime.pipeline.codes import kind_of
from steptime.pipeline.timeline import simulate

RECORDED = [
    Path(__file__).parents[1] / "readers" / "traces" / f"pipe-{rank}.json.gz" for rank in (0, 1)
]
SVG = "{http://www.w3.org/2000/svg}"


def kinds(rows: Any) -> list[str]:
    return ["".join(way for *_, way in row) for row in rows]


# invariant


def test_the_recorded_run_did_what_one_forward_one_backward_says() -> None:
    found = measured_pipeline(RECORDED, 2)
    timeline = simulate("1f1b", 2, 4, 1)
    stages, count = timeline.stages, timeline.micro_batches
    predicted = [
        "".join("FB"[kind_of(code, stages, count)] for code in order) for order in timeline.orders
    ]
    assert kinds(found.rows) == predicted == ["FFBFBFBB", "FBFBFBFB"]
    for row in found.rows:
        clock = 0.0
        for start, end, _ in row:
            assert clock <= start < end <= found.step_time_s
            clock = end
    # The first stage starts, the second waits for it.
    assert found.rows[0][0][0] < found.rows[1][0][0]


def test_what_the_backward_thread_launched_goes_back(tmp_path: Path) -> None:
    paths = []
    for rank in (0, 1):
        start = 100 * rank
        launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 1}
        engine = {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: Mm"}
        events = [
            kernel(GEMM, start, 100, correlation=1),
            message(SEND, start + 100, 5, "send"),
            kernel(GEMM, start + 110, 200, correlation=2),
            kernel(ADAM, start + 310, 50, correlation=1),
        ]
        every = [
            *steps(events, 500),
            {**launch, "tid": 1, "ts": ZERO_US, "args": {"correlation": 1}},
            {**launch, "tid": 2, "ts": ZERO_US, "args": {"correlation": 2}},
            {**engine, "tid": 2, "ts": ZERO_US, "dur": 3},
            mark("unrelated", 0, 500),
        ]
        paths.append(write(tmp_path / f"{rank}.json", every, rank, 2))
    found = measured_pipeline(paths, 2)
    assert kinds(found.rows) == ["FB", "FB"]
    assert found.rows[0][0][:2] == pytest.approx((0.0, 100e-6), abs=1e-12)
    assert found.rows[1][1][:2] == pytest.approx((210e-6, 410e-6))


def test_clocks_that_do_not_agree_start_at_zero(tmp_path: Path) -> None:
    events = [kernel(GEMM, 0, 100), message(SEND, 100, 5, "send")]
    late = [{**one, "ts": one["ts"] + 1e6} for one in steps(events, 200)]
    paths = write(tmp_path / "0", steps(events, 200)), write(tmp_path / "1", late, 1)
    found = measured_pipeline(paths, 2)
    assert found.rows[0][0][0] == pytest.approx(found.rows[1][0][0], abs=1e-9)
    assert found.step_time_s == pytest.approx(200e-6)


def overlaid(tmp_path: Path, *words: str) -> tuple[Path, Path]:
    drawing, events = tmp_path / "both.svg", tmp_path / "both.json"
    overlay = [word for path in RECORDED for word in ("--overlay", str(path))]
    files = ("--svg", str(drawing), "--trace", str(events))
    assert run(["schedule", "1f1b", "-p", "2", "-m", "4", *files, *overlay, *words]) == 0
    return drawing, events


def test_both_are_drawn_to_one_scale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawing, events = overlaid(tmp_path)
    assert "so that both steps are as long" in " ".join(capsys.readouterr().out.split())
    root = ElementTree.fromstring(drawing.read_text())
    rows = [box for box in root.iter(f"{SVG}rect") if box.get("class") == "idle"]
    assert len(rows) == 4
    wide = [float(str(box.get("width"))) for box in rows]
    assert wide == pytest.approx([wide[0]] * 4, abs=0.02)
    found = json.loads(events.read_text())["traceEvents"]
    step_us = measured_pipeline(RECORDED, 2).step_time_s * 1e6
    ends = {
        pid: max(one["ts"] + one["dur"] for one in found if one["ph"] == "X" and one["pid"] == pid)
        for pid in (0, 1)
    }
    assert ends[0] == pytest.approx(step_us)
    assert 0.9 * step_us < ends[1] <= step_us
    names = [one["args"]["name"] for one in found if one["name"] == "process_name"]
    assert names == ["predicted", "measured"]


def test_a_stated_unit_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, events = overlaid(tmp_path, "--unit-seconds", "0.01", "--json")
    json.loads(capsys.readouterr().out)
    found = json.loads(events.read_text())["traceEvents"]
    predicted = [one for one in found if one["ph"] == "X" and one["pid"] == 0]
    # Fifteen units by the closed form of 1F1B: (m + p - 1) (F + B).
    assert max(one["ts"] + one["dur"] for one in predicted) == pytest.approx(15 * 0.01 * 1e6)


# refusal


def test_what_cannot_be_laid_over_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    svg = ("--svg", str(tmp_path / "x.svg"))
    one = ("--overlay", str(RECORDED[0]))
    for words, says in (
        (("-p", "2", "-m", "4", *one), "needs a drawing"),
        (("-p", "4", "-m", "8", *svg, *one), "a trace for each of the 4 stages, got 1"),
        (("-p", "1", "-m", "8", *svg, "--overlay", "/dev/zero"), "not a regular file"),
    ):
        assert run(["schedule", "1f1b", *words]) == 2
        assert says in capsys.readouterr().err
