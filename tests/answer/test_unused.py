"""Stated facts that a layout does not ask for are said; those that it asks for are not."""

from __future__ import annotations

from typing import Any

import pytest

import steptime
from steptime.answer.unused import UNUSED

DENSE: dict[str, Any] = {"model": "llama3-70b", "accelerator": "h100", "seq_length": 8192}
DENSE |= {"tp": 8, "pp": 4, "dp": 2, "global_batch_size": 64}


def unused(facts: dict[str, float], **changes: Any) -> list[str]:
    answer = steptime.predict(**DENSE | changes, facts=facts)
    return [one.what for one in answer.assumed if one.why == UNUSED]


@pytest.mark.parametrize(
    ("fact", "value"),
    [("recompute_up_projection", 1), ("expert_imbalance", 1.5), ("cp_ring", 1), ("overlap_ep", 1)],
)
def test_a_fact_of_what_the_layout_lacks_is_said(fact: str, value: float) -> None:
    assert unused({fact: value}) == [fact]
    plain, told = (steptime.predict(**DENSE, facts=one) for one in ({}, {fact: value}))
    assert told.step_time_s == plain.step_time_s
    assert told.total_bytes == plain.total_bytes


def test_a_fact_that_counts_is_not_said_though_its_value_is_the_usual_one() -> None:
    usual = steptime.predict(**DENSE).software.memory.fragmentation
    assert unused({"fragmentation": float(usual), "overlap_dp": 0, "offloaded_layers": 4}) == []
    # Context parallelism asks for what it did not.
    assert unused({"overlap_cp": 0}, cp=2, tp=4) == []
    assert unused({"overlap_cp": 0}) == ["overlap_cp"]
