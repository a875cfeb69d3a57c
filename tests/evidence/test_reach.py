"""How far published runs reach, and what an answer says beyond."""

from __future__ import annotations

from typing import Any

import pytest

from steptime.answer import predict
from steptime.answer.answer import answer
from steptime.answer.question import Question
from steptime.answer.reach import BEYOND, cell_of, reaches
from steptime.evidence.reach import compared, reach_text
from steptime.inputs.datafiles import data_path
from steptime.inputs.presets import accelerator

ASKED = {
    "model": "llama3-8b",
    "accelerator": "h100",
    "dp": 8,
    "seq_length": 8192,
    "global_batch_size": 64,
}


def said(**changes: Any) -> list[str]:
    """Return what lies beyond the data in an answer."""
    return [one.value for one in predict(**ASKED | changes).assumed if one.what == BEYOND]


# ---- published


def test_the_kept_reach_is_that_of_the_compared_runs() -> None:
    assert data_path("reach.toml").read_text(encoding="utf-8") == reach_text(compared())


@pytest.mark.parametrize("place", range(0, 700, 70))
def test_no_compared_run_lies_beyond(place: int) -> None:
    step = compared()[place].inputs.step
    found = answer(Question(step=step, predictor="roofline"))
    assert [one for one in found.assumed if one.what == BEYOND] == []


# ---- invariant


def test_each_thing_beyond_is_named_alone() -> None:
    assert said() == []
    most = reaches()["hopper"].most_devices
    assert said(dp=most + 1, global_batch_size=most + 1) == [f"{most + 1:,} devices"]
    assert said(seq_length=2**23, cp=8, dp=1) == ["8,388,608 tokens", "mostly attention"]
    assert said(seq_length=2**20, cp=8, dp=1) == ["mostly attention"]
    assert said(accelerator="a100", model="deepseek-v3", dp=8, pp=16)[0] == "experts in 16 bits"


def test_the_device_is_told_by_its_rate_and_not_by_its_name() -> None:
    rates = {rate for reach in reaches().values() for rate in reach.rates}
    unseen = said(accelerator="h200")
    assert (unseen == []) == (accelerator("h200").matmul_flop_per_s in rates)


def test_the_baseline_says_what_is_beyond_all_runs_as_well() -> None:
    asked = {"dp": 2**14, "global_batch_size": 2**14}
    assert said(predictor="baseline", **asked) == said(**asked) != []


def test_a_cell_is_told_in_bits() -> None:
    assert cell_of(True, "bf16") == "experts in 16 bits"
    assert cell_of(False, "mxfp8") == "dense models in 8 bits"
