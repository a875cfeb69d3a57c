"""What failures leave of a run's time, against what was reported and by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from steptime.inputs.errors import ConfigError
from steptime.planning.asked import search_question
from steptime.planning.cost import run_cost
from steptime.planning.goodput import (
    Failures,
    best_interval_s,
    checkpoint_bytes,
    goodput,
    goodput_fraction,
)
from steptime.planning.question import Question

LLAMA: dict[str, Any] = {
    "model": "llama3-405b",
    "accelerator": "h100",
    "num_gpus": 16384,
    "seq_length": 8192,
    "global_batch_size": 2048,
}


@pytest.fixture(scope="module")
def question() -> Question:
    return search_question(**LLAMA)


# published


def test_a_large_run_keeps_what_its_report_says(question: Question) -> None:
    found = goodput(question, Failures())
    # 54 days, 466 interruptions: one in 2.8 hours.
    assert found.between_failures_s / 3600.0 == pytest.approx(54 * 24 / 466)
    # grattafiori2024, Sec. 3.3.4: "higher than 90% effective training time".
    assert 0.9 < found.fraction < 0.95
    assert len(found.sources) == 3


def test_a_checkpoint_holds_weights_master_copies_and_moments(question: Question) -> None:
    # 405 billion parameters in 2 + 4 + 8 bytes, Adam in mixed precision.
    assert checkpoint_bytes(question) == pytest.approx(405.9e9 * 14, rel=0.01)


@pytest.mark.parametrize(
    ("between_minutes", "best_minutes"), [(24 * 60, 117), (6 * 60, 57), (15, 9.1)]
)
def test_the_best_interval_is_the_papers(between_minutes: float, best_minutes: float) -> None:
    # daly2006, captions of Fig. 3 to 5: a checkpoint takes five minutes.
    found = best_interval_s(5 * 60.0, between_minutes * 60.0) / 60.0
    digits = 0 if best_minutes > 10 else 1
    assert round(found, digits) == best_minutes


# limit


def test_the_best_interval_is_youngs_where_failures_are_far() -> None:
    assert best_interval_s(1.0, 1e8) == pytest.approx(math.sqrt(2e8), rel=1e-3)
    # Daly: never longer than the time between failures, where a checkpoint takes that long.
    assert best_interval_s(7200.0, 3600.0) == 3600.0


@pytest.mark.parametrize(("checkpoint_s", "mean_s"), [(5.0, 1e4), (60.0, 3600.0), (600.0, 7200.0)])
def test_no_other_interval_keeps_noticeably_more(checkpoint_s: float, mean_s: float) -> None:
    best = best_interval_s(checkpoint_s, mean_s)
    kept = goodput_fraction(best, checkpoint_s, 300.0, mean_s)
    for factor in (0.5, 0.8, 0.95, 1.05, 1.25, 2.0):
        other = goodput_fraction(best * factor, checkpoint_s, 300.0, mean_s)
        assert other < kept * 1.0001


def test_without_failures_only_checkpoints_take_time() -> None:
    assert goodput_fraction(90.0, 10.0, 300.0, 1e12) == pytest.approx(0.9)


def test_failures_without_end_leave_nothing(question: Question) -> None:
    assert goodput_fraction(10.0, 10.0, 600.0, 0.5) == 0.0
    with pytest.raises(ConfigError, match="leaves no time to restart"):
        goodput(question, Failures(device_hours=1.0))


@pytest.mark.parametrize("hours", [1e-3, 0.5, 1.0])
def test_a_run_without_progress_never_finishes(hours: float) -> None:
    few = search_question(**LLAMA | {"model": "llama3-8b", "num_gpus": 64, "global_batch_size": 64})
    with pytest.raises(ConfigError, match="the run never finishes; give more device hours"):
        goodput(few, Failures(device_hours=hours))
    # One restart in 35 gets done: slow, but it ends.
    assert 0.01 < goodput(few, Failures(device_hours=3.0)).fraction < 0.5


# invariant


def test_what_is_stated_is_taken_and_names_no_source(question: Question) -> None:
    stated = Failures(device_hours=16384.0, checkpoint_s=10.0, restart_minutes=5.0)
    found = goodput(question, stated)
    assert found.sources == ()
    assert (found.between_failures_s, found.checkpoint_s, found.restart_s) == (3600.0, 10.0, 300.0)


def test_days_and_cost_grow_by_what_failures_take(question: Question) -> None:
    found = goodput(question, Failures())
    plain = run_cost(question, 60.0, 15e12, 2.0, (50.0, 90.0))
    real = run_cost(question, 60.0, 15e12, 2.0, (50.0, 90.0), found)
    assert real.days == pytest.approx(plain.days / found.fraction)
    assert plain.days_low is not None
    assert plain.days_high is not None
    assert (plain.days_low / plain.days, plain.days_high / plain.days) == (
        pytest.approx(50.0 / 60.0),
        pytest.approx(1.5),
    )
    assert plain.cost == pytest.approx(plain.days * 24 * 16384 * 2.0)
    assert plain.cost_high == pytest.approx(1.5 * plain.cost)


# refusal


@pytest.mark.parametrize("name", ["device_hours", "checkpoint_s", "restart_minutes"])
def test_a_number_out_of_range_is_refused(name: str, question: Question) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be a number > 0"):
        goodput(question, Failures(**{name: 0.0}))
    with pytest.raises(ConfigError, match=f"{name} must be a number > 0"):
        goodput(question, Failures(**{name: 1e12 + 1.0}))
