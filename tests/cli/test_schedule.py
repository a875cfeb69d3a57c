"""`steptime schedule` and `steptime schedules`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steptime.inputs.layout import SCHEDULES

Call = Callable[..., tuple[int, str, str]]

# ---- published


@pytest.mark.parametrize(
    ("words", "overhead"),
    [
        (("gpipe",), 0.375),
        (("1f1b",), 0.375),
        (("interleaved-1f1b", "--chunks", "2"), 0.1875),
        (("interleaved-1f1b", "--chunks", "4"), 0.09375),
    ],
)
def test_the_chapters_bubbles(steptime: Call, words: tuple[str, ...], overhead: float) -> None:
    status, out, _ = steptime("schedule", *words, "--stages", "4", "--micro-batches", "8", "--json")
    numbers = json.loads(out)
    assert status == 0
    assert numbers["bubble_overhead"] == overhead
    assert numbers["bubble_fraction"] == pytest.approx(overhead / (1 + overhead), rel=1e-15)


def test_megatrons_order_in_pytorchs_names(steptime: Call) -> None:
    _, out, _ = steptime("schedule", "1f1b", "--stages", "2", "--micro-batches", "3", "--json")
    numbers = json.loads(out)
    assert numbers["ranks"] == [
        ["0F0", "0F1", "0B0", "0F2", "0B1", "0B2"],
        ["1F0", "1B0", "1F1", "1B1", "1F2", "1B2"],
    ]
    assert numbers["makespan"] == 12
    assert numbers["peak_in_flight"] == [2, 1]


# ---- invariant


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_prints_in_80_columns(steptime: Call, name: str) -> None:
    status, out, err = steptime("schedule", name)
    assert (status, err) == (0, "")
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "rank 3" in out
    assert re.search(r"idle \d", out)


def test_half_of_the_backward_each_unless_given(steptime: Call) -> None:
    def makespan(*words: str) -> float:
        _, out, _ = steptime("schedule", "zb-h1", "--stages", "1", *words, "--json")
        return json.loads(out)["makespan"] / 8

    assert makespan() == 3
    assert makespan("--backward", "5") == 6
    assert makespan("--weight", "0.5") == 2.5
    assert makespan("--input", "2", "--weight", "0.25") == 3.25


def test_sends_cost_what_is_asked(steptime: Call) -> None:
    words = ("schedule", "gpipe", "--stages", "2", "--micro-batches", "1", "--json")
    for extra, expected in (
        ((), 6),
        (("--send-latency", "0.5"), 7),
        (("--message-bytes", "30", "--bandwidth", "60"), 7),
        (("--message-bytes", "30", "--bandwidth", "60", "--send-latency", "1"), 9),
    ):
        _, out, _ = steptime(*words, *extra)
        assert json.loads(out)["makespan"] == expected
    _, out, _ = steptime(*words, "--message-bytes", "30", "--bandwidth", "60")
    assert json.loads(out)["message_bytes"] == [30, 30]


def test_an_order_of_ones_own(steptime: Call, tmp_path: Path) -> None:
    _, out, _ = steptime("schedule", "zb-v", "--micro-batches", "9", "--json")
    numbers = json.loads(out)
    csv_file, json_file = tmp_path / "order.csv", tmp_path / "order.json"
    csv_file.write_text("\n".join(",".join(rank) for rank in numbers["ranks"]))
    json_file.write_text(out)
    for path in (csv_file, json_file):
        status, again, _ = steptime("schedule", "--order", str(path), "--json")
        assert status == 0
        same = ("ranks", "makespan", "bubble_overhead", "peak_in_flight", "idle_by_cause")
        assert all(json.loads(again)[key] == numbers[key] for key in same)


def test_a_deadlock_is_drawn_and_named(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "stuck.csv"
    path.write_text("0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n")
    status, out, err = steptime("schedule", "--order", str(path))
    assert status == 2
    assert "F0" in out
    assert "deadlocks: rank 1 cannot run 1F1 before 0F1, rank 0 cannot run 0B0 before 1B0" in err
    status, out, _ = steptime("schedule", "--order", str(path), "--json")
    assert status == 2
    assert [wait["rank"] for wait in json.loads(out)["deadlock"]] == [1, 0]
    assert json.loads(out)["actions_run"] == [1, 0]


def test_trace_and_drawing_are_written(steptime: Call, tmp_path: Path) -> None:
    drawn, traced = tmp_path / "a.svg", tmp_path / "a.json"
    words = ("--svg", str(drawn), "--trace", str(traced))
    assert steptime("schedule", "dualpipe", *words)[0] == 0
    assert drawn.read_text().startswith("<svg")
    assert json.loads(traced.read_text())["otherData"]["schedule"] == "dualpipe"


def test_the_list_has_names_constraints_and_sources(steptime: Call) -> None:
    status, out, _ = steptime("schedules", "--json")
    listed = json.loads(out)
    assert status == 0
    assert [entry["name"] for entry in listed] == list(SCHEDULES)
    assert all(entry["constraints"] and entry["source"] for entry in listed)
    status, out, _ = steptime("schedules")
    assert status == 0
    assert "zb-h2" in out


# ---- refusal


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("1f2b",), "did you mean '1f1b'"),
        ((), "name a schedule"),
        (("1f1b", "--stages", "0"), "stages must be >= 1"),
        (("1f1b", "--stages", "two"), "two"),
        (("1f1b", "--micro-batches", "9" * 30), "micro_batches must be <="),
        (("interleaved-1f1b", "--micro-batches", "9"), "use micro_batches=8 or 12"),
        (("gpipe", "--chunks", "2"), "needs chunks=1"),
        (("1f1b", "--forward", "nan"), "forward must be a number"),
        (("1f1b", "--forward", "0"), "forward must be a number > 0"),
        (("1f1b", "--backward", "inf"), "backward must be a number"),
        (("1f1b", "--stage-scale", "1,a"), "--stage-scale must be a number, or numbers"),
        (("1f1b", "--stage-scale", "1,2"), "one number for each of 4 stages"),
        (("1f1b", "--message-bytes", "5"), "needs --bandwidth"),
        (("1f1b", "--bandwidth", "-1"), "--bandwidth must be > 0"),
        (("1f1b", "--bandwidth", "60"), "--bandwidth needs --message-bytes"),
        (("1f1b", "--message-bytes", "inf", "--bandwidth", "inf"), "must be"),
        (("1f1b", "--order", "x.csv"), "not both"),
        (("--order", "/nowhere/x.csv"), "cannot read /nowhere/x.csv: No such file"),
        (("--order", "/"), "cannot read /: Is a directory"),
        (("1f1b", "--svg", "/nowhere/x.svg"), "cannot write /nowhere/x.svg"),
    ],
)
def test_bad_input_is_one_clear_line(steptime: Call, words: tuple[str, ...], message: str) -> None:
    status, _, err = steptime("schedule", *words)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    name=st.sampled_from([*SCHEDULES, "x"]),
    p=st.integers(-1, 9),
    m=st.integers(-1, 20),
    v=st.none() | st.integers(-1, 4),
    forward=st.floats(allow_nan=True, allow_infinity=True),
)
def test_an_answer_or_a_clear_refusal(
    steptime: Call, name: str, p: int, m: int, v: int | None, forward: float
) -> None:
    chunks = () if v is None else (f"--chunks={v}",)
    sizes = (f"--stages={p}", f"--micro-batches={m}", f"--forward={forward!r}")
    status, out, err = steptime("schedule", name, *sizes, *chunks, "--json")
    if status == 0:
        assert 0 <= json.loads(out)["bubble_fraction"] < 1
    else:
        assert status == 2
        assert err.count("\n") == 1


def test_bytes_are_held_as_the_split_says(steptime: Call) -> None:
    words = ("schedule", "zb-h1", "--stages", "2", "--micro-batches", "4", "--json")
    _, out, _ = steptime(*words, "--activation-bytes", "100", "--kept-for-weights", "0.5")
    numbers = json.loads(out)
    for rank in range(2):
        held = numbers["activation_bytes_over_time"][rank]
        counted = numbers["in_flight_over_time"][rank]
        assert held["held"][-1] == 0
        assert counted["peak"] == numbers["peak_in_flight"][rank]
        assert held["time"] == counted["time"]
    # Rank 0 holds two whole; rank 1 one whole and the half that a late W still needs.
    peaks = [held["peak"] for held in numbers["activation_bytes_over_time"]]
    assert peaks == [200, 150]
    status, _, err = steptime(*words, "--kept-for-weights", "2")
    assert status == 2
    assert "--kept-for-weights must be" in err


def test_the_critical_path_is_a_chain_of_named_actions(steptime: Call) -> None:
    _, out, _ = steptime("schedule", "gpipe", "--stages", "2", "--micro-batches", "1", "--json")
    path = json.loads(out)["critical_path"]
    assert [step["action"] for step in path] == ["0F0", "1F0", "1B0", "0B0"]
    assert [step["rank"] for step in path] == [0, 1, 1, 0]


def test_each_stage_may_have_its_own_times(steptime: Call) -> None:
    def makespan(*words: str) -> float:
        size = ("--stages", "2", "--micro-batches", "2", "--json")
        return json.loads(steptime("schedule", "1f1b", *words, *size)[1])["makespan"]

    # The second rank is the bottleneck: 1 + 2 (3 + 4) + 2 of the first rank's last backward.
    assert makespan("--forward", "1,3", "--backward", "2,4") == 17
    assert makespan("--forward", "0.1", "--input", "0.1", "--weight", "0.1") == 0.9
    status, _, err = steptime("schedule", "1f1b", "--forward", "1,2")
    assert status == 2
    assert "forward needs one number for each of 4 stages, got 2" in err
    status, _, err = steptime("schedule", "dualpipe", "--forward", "1,2,1,2", "--pair", "3")
    assert status == 2
    assert "pair needs one forward" in err


def test_parts_of_a_backward_make_the_whole(steptime: Call) -> None:
    for words in (("--input", "1"), ("--input", "1", "--weight", "1"), ("--weight", "3")):
        status, out, err = steptime("schedule", "zb-h1", "--backward", "3", *words)
        assert (status, out) == (2, "")
        assert "--input and --weight together, and these do not make 3" in err
    # On four ranks 1F1B takes m + p - 1 = 11 times F + B, B being I and W.
    for one, whole in ((("--input", "5"), 6), (("--weight", "3"), 4), ((), 2)):
        _, out, _ = steptime("schedule", "1f1b", *one, "--json")
        assert json.loads(out)["makespan"] == 11 * (1 + whole)
    for whole, one, other in (("3", "1", "2"), ("3,4,4,4", "1", "2,3,3,3")):
        words = ("--backward", whole, "--input", one, "--weight", other)
        assert steptime("schedule", "zb-h1", *words)[0] == 0
