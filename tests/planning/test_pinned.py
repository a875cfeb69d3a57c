"""Sizes that a search may not change, and questions asked by name."""

from __future__ import annotations

from typing import Any

import pytest

from steptime.cli.search import refuse_without_layout
from steptime.inputs.errors import ConfigError
from steptime.inputs.fields import SIZES
from steptime.inputs.layout import SCHEDULES
from steptime.planning.asked import search, search_question, several

STEP: dict[str, Any] = {
    "model": "qwen3-30b-a3b",
    "accelerator": "h100",
    "num_gpus": 32,
    "seq_length": 4096,
    "global_batch_size": 128,
}


def sizes(**pinned: Any) -> dict[str, set[int]]:
    best = search(**STEP, **pinned).best
    assert best
    return {name: {getattr(one.layout, name) for one in best} for name in SIZES}


@pytest.mark.parametrize(
    ("name", "values"),
    [("tp", (2, 4)), ("cp", 1), ("pp", 2), ("dp", (4, 8)), ("ep", 8), ("vpp", (1, 3)), ("etp", 1)],
)
def test_a_pinned_size_takes_those_values_alone(name: str, values: Any) -> None:
    assert sizes(**{name: values})[name] <= set(several(name, values))


def test_pinned_searches_find_what_the_open_one_finds() -> None:
    whole = search(**STEP)
    best = whole.best[0]
    pinned = {name: getattr(best.layout, name) for name in SIZES}
    found = search(**STEP, **pinned, micro_batch_size=best.batch.micro_batch_size)
    assert found.best[0] == best
    assert found.num_evaluated < whole.num_evaluated / 100


def test_parts_of_the_space_add_up_to_it() -> None:
    whole = search(**STEP)
    parts = [search(**STEP, pp=pp) for pp in (1, 2, 4, 8, 16, 32)]
    assert sum(one.num_evaluated for one in parts) == whole.num_evaluated
    assert min(one.best[0].step_time_s for one in parts if one.best) == whole.best[0].step_time_s


def test_chunks_that_nobody_would_try_can_be_asked_for() -> None:
    # 48 layers over 2 stages: 5 chunks leave uneven ones, and are no shorter than 4 would be.
    assert sizes(pp=2, vpp=5)["vpp"] == {5}


def test_every_schedule_can_be_asked_for() -> None:
    assert search_question(**STEP, schedule="all").schedules == SCHEDULES
    found = search(**STEP, schedule="all", pp=4, recompute="full")
    assert len({one.layout.schedule for one in found.best}) > 4


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"tp": 3}, "tp=3 does not divide the 32 GPUs"),
        ({"pp": (5, 7)}, "pp=5, 7 does not divide the 32 GPUs"),
        ({"ep": 7}, "ep=7 does not divide num_experts=128"),
        ({"model": "llama3-8b", "ep": 8}, "ep=8 needs experts, and Llama 3 8B is dense; use ep=1"),
        ({"model": "llama3-8b", "etp": 4}, "etp=4 needs experts, and Llama 3 8B is dense"),
        ({"model": "llama3-8b", "etp": (2, 4)}, "etp=2, 4 needs experts, and Llama 3 8B is dense"),
        ({"cp": 0}, "cp must be >= 1"),
        ({"schedule": "zb-h9"}, "unknown schedule 'zb-h9'"),
    ],
)
def test_a_size_that_cannot_be_is_refused(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        search(**(STEP | asked))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"pp": 1, "vpp": 2}, "with pp=1 and vpp=2: one stage makes no chunks; use vpp=1 or more"),
        # What the software runs at most (cp=1 here) was asked for by nobody.
        ({"pp": 1, "vpp": 2, "stack": "gpt-neox"}, "with pp=1 and vpp=2: one stage"),
        ({"vpp": 64}, "with vpp=64; leave it open"),
        ({"pp": 2, "vpp": 64}, "with pp=2 and vpp=64; leave one of them open"),
    ],
)
def test_sizes_that_leave_nothing_to_try_are_named(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        refuse_without_layout(search(**(STEP | {"model": "llama3-8b"} | asked)))
