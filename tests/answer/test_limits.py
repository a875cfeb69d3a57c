"""What is not modelled is said by name in each answer that touches it, and in no other."""

from __future__ import annotations

from dataclasses import fields

import pytest

from steptime.answer import predict
from steptime.answer.limits import NOT_MODELLED, PLACES, Limit, limits
from steptime.formulas.records import Job, MemoryFacts, TimeFacts
from steptime.inputs.model import ModelShape

KINDS = {"model": ModelShape, "job": Job, "time": TimeFacts, "memory": MemoryFacts}
FIELDS = {place: {one.name for one in fields(kind)} for place, kind in KINDS.items()}
DENSE = {"model": "llama3-8b", "accelerator": "h100", "seq_length": 4096, "global_batch_size": 8}


def said(**changes: object) -> dict[str, str]:
    found = predict(**DENSE | changes)
    return {one.what: str(one) for one in found.assumed if one.value == NOT_MODELLED}


# Limits


def test_a_plain_question_touches_none() -> None:
    assert said() == {}


@pytest.mark.parametrize(
    "limit", [one for one in limits() if one.place == "memory"], ids=lambda one: one.name
)
def test_what_memory_alone_counts_is_said(limit: Limit) -> None:
    lines = said(facts={limit.name: limit.above + 1.0})
    assert list(lines) == [limit.title]
    assert lines[limit.title].startswith(f"{limit.name}: counted in memory alone")


def test_experts_are_taken_as_evenly_loaded() -> None:
    lines = said(model="mixtral-8x22b", accelerator="b200", ep=8, dp=8)
    assert "dropped tokens" in lines["load of experts"]


def test_deepseek_v3_has_one_more_layer_that_predicts() -> None:
    """deepseek2024, Sec. 4.2: the depth of multi-token prediction is 1."""
    lines = said(model="deepseek-v3", ep=64, dp=64, global_batch_size=64)
    assert "neither in time nor in memory" in lines["multi-token prediction"]


# Invariants


def test_every_limit_says_what_and_where_it_looks() -> None:
    assert len({one.title for one in limits()}) == len(limits())
    for one in limits():
        assert one.says
        assert one.since
        assert (one.place in PLACES) == bool(one.name)
        assert not one.place or one.name in FIELDS[one.place]


def test_a_fact_that_no_formula_of_time_knows_is_a_limit() -> None:
    """Whatever is recomputed or moved away in memory alone costs time that nobody counts."""
    memory, time = (set(kind.__dataclass_fields__) for kind in (MemoryFacts, TimeFacts))
    moved = {name for name in memory if name.startswith(("recompute_", "offloaded"))}
    alone = {one.name for one in limits() if one.place == "memory"}
    assert moved - time <= alone
    assert alone & time == set()
