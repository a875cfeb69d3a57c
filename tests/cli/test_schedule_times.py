"""Stage times of papers, seconds and bytes, and schedules at equal parameters."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from steptime.pipeline.stage_times import compared, presets, stage_times_named
from steptime.pipeline.timeline import simulate

Call = Callable[..., tuple[int, str, str]]

# ---- published


@pytest.mark.parametrize(("name", "share"), [("dualpipe", "6.25%"), ("dualpipe-v", "7.29%")])
def test_dualpipes_idle_as_their_formulas_say(steptime: Call, name: str, share: str) -> None:
    _, out, _ = steptime("schedule", name, "--stages", "8", "--micro-batches", "32")
    assert f"= {share} of useful work" in out


def test_papers_times_are_a_ranks_and_shared_by_its_chunks(steptime: Call) -> None:
    words = ("--times", "qi2023-1.5b", "--stages", "1", "--micro-batches", "1", "--json")
    for name in ("1f1b", "zb-h1", "zb-v"):
        _, out, _ = steptime("schedule", name, *words)
        # 18.522 + 18.086 + 9.337 ms, whatever the chunks.
        assert json.loads(out)["makespan_s"] == pytest.approx(0.045945, rel=1e-12)


# ---- invariant


def test_seconds_and_bytes_beside_slots(steptime: Call) -> None:
    words = ("schedule", "1f1b", "--unit-seconds", "0.02", "--activation-bytes", "5e8")
    _, out, _ = steptime(*words)
    assert "makespan 33 = 0.66 s" in out
    assert "GB" in out
    assert "│   0 │    4 │" in out
    assert out.splitlines()[-5].rstrip("│ ").endswith(" 2")


def test_at_equal_parameters_both_dualpipes_are_one() -> None:
    found = {one.name: one for one in compared(8, 32, stage_times_named("equal"))}
    folded, both = found["dualpipe-v"], found["dualpipe"]
    assert (both.ranks, both.micro_batches) == (16, 64)
    assert (both.step, both.idle, both.held) == (folded.step, folded.idle, folded.held)
    assert found["1f1b"].step == simulate("1f1b", 8, 32).result["ends"][0][-1]
    assert all(one.step > 32 * 3 for one in found.values())


def test_every_preset_is_listed_with_its_source(steptime: Call) -> None:
    _, out, _ = steptime("schedules", "--times", "list", "--json")
    listed = json.loads(out)
    assert [one["name"] for one in listed] == list(presets())
    assert all(one["source"] and one["title"] for one in listed)
    for one in listed:
        words = ("--times", one["name"], "-p", "2", "-m", "4", "--activation-bytes", "1e9")
        status, out, _ = steptime("schedules", *words)
        assert status == 0
        assert "dualpipe-v" in out


def test_a_papers_times_answer_in_seconds_and_gigabytes(steptime: Call) -> None:
    # qi2023, Table 3: 6 sequences of 1,024 tokens a micro-batch, 2,304 wide, three layers a rank;
    # korthikanti2022, Sec. 4.1: 34 bytes a token and unit of width in each, scores apart.
    one = 34 * 6 * 1024 * 2304 * 3
    assert presets()["qi2023-1.5b"].activation_bytes == one
    assert presets()["equal"].activation_bytes == 0.0
    asked = ("-p", "8", "-m", "24", "--times", "qi2023-1.5b", "--json")
    status, out, _ = steptime("schedule", "1f1b", *asked)
    found = json.loads(out)
    assert status == 0
    assert found["makespan_s"] == found["makespan"]
    assert found["activation_bytes_over_time"][0]["peak"] == pytest.approx(8 * one)
    # Two chunks share a rank's layers.
    _, out, _ = steptime("schedule", "zb-v", *asked)
    assert json.loads(out)["activation_bytes_over_time"][0]["peak"] == pytest.approx(8 * one)


# ---- refusal


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("schedule", "zb-1p", "--chunks", "2"), "zb-1p needs chunks=1, got 2"),
        (("schedule", "ZB2P", "-p", "200", "-m", "400"), "makes over 100,000 actions"),
        (("schedule", "1f1b", "--times", "qi2023"), "unknown stage times 'qi2023'; did you mean"),
        (("schedule", "1f1b", "--times", "equal", "--forward", "2"), "leave out --forward"),
        (("schedule", "--times", "equal"), "needs the name of a schedule"),
        (
            ("schedule", "1f1b", "--times", "qi2023-1.5b", "--unit-seconds", "1"),
            "is in seconds; leave out --unit-seconds",
        ),
        (("schedule", "1f1b", "--unit-seconds", "0"), "--unit-seconds must be a number > 0"),
        (("schedule", "1f1b", "--times", "equal", "--chunks", "0"), "chunks must be >= 1"),
        (("schedules", "-p", "4", "-m", "8"), "-p, -m: a comparison needs --times NAME too"),
        (("schedules", "--times", "equal", "-p", "0"), "stages must be >= 1"),
        (("schedules", "--times", "equal", "-m", "1000"), "micro_batches must be <= 512"),
        (("predict", "-m", "llama3-8b", "-a", "h100", "-s", "4096", "-B", "64", "--pp", "2",
          "--schedule", "zb-1q"), "unknown schedule 'zb-1q'; did you mean 'zb-1p'?"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_line(steptime: Call, words: tuple[str, ...], message: str) -> None:
    status, _, err = steptime(*words)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1
