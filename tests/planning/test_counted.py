"""What software counts of a layout before it runs it, beside single sizes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from steptime.inputs.ability import not_had
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.said import Said
from steptime.planning.asked import search

ASKED: dict[str, Any] = {"model": "llama3-8b", "accelerator": "h100", "seq_length": 8192}
BESIDE = {"dp": 2, "tp": 4, "sequence_parallel": True}
INTERLEAVED = {"pp": 4, "vpp": 2, "dp": 2, "zero_stage": 1, "schedule": "interleaved-1f1b"}


@pytest.mark.parametrize(
    ("family", "date", "layout", "micro", "says"),
    [
        ("torchtitan", "2025-12", BESIDE, 4, "zero_stage=0 beside dp=2 and tp=4"),
        ("torchtitan", "2025-12", {"dp": 2, "pp": 4}, 4, "zero_stage=0 beside dp=2 and pp=4"),
        ("torchtitan", "2025-12", {"dp": 8}, 4, ""),
        ("torchtitan", "2026-03", BESIDE, 4, ""),
        ("torchtitan", None, {"dp": 8, "ep": 8}, 4, "it runs an ep that divides the ranks that"),
        ("torchtitan", None, {"dp": 8, "ep": 8, "zero_stage": 3}, 4, ""),
        ("torchtitan", None, {"dp": 8, "ep": 8, "zero_stage": 3, "dp_replicate": 2}, 4, "ep=8"),
        ("megatron", "2024-10", INTERLEAVED, 15, "15 micro-batches on pp=4 .* before 2024-11; it"),
        ("megatron", "2024-10", INTERLEAVED, 16, ""),
        ("megatron", "2024-11", INTERLEAVED, 15, ""),
        (
            "megatron",
            None,
            INTERLEAVED,
            3,
            "3 micro-batches on pp=4 .*; it runs pp of them or more",
        ),
        ("fsdp", None, INTERLEAVED, 3, ""),
    ],
)
def test_what_software_counts_before_it_runs_a_layout(
    family: str, date: str | None, layout: dict[str, Any], micro: int, says: str
) -> None:
    """Sources: the lines of data/abilities.toml, each with its commit."""
    asked = Layout(**layout)
    batch = Batch(global_batch_size=micro * asked.dp, seq_length=4096)
    told = not_had(Said(stack=family, date=date), asked, batch)
    own = [one.why for one in told if "models written for it" not in one.why]
    assert len(own) == bool(says)
    assert re.search(says, " ".join(own))


def test_a_search_leaves_out_what_software_counts_and_does_not_run() -> None:
    asked = {**ASKED, "num_gpus": 8, "global_batch_size": 60, "micro_batch_size": (1, 4)}
    asked |= {"pp": 4, "vpp": 2, "tp": 2, "schedule": "interleaved-1f1b", "fits_with": 0.0}
    sizes = {}
    for date in ("2024-10", "2024-11"):
        found = search(**asked, stack="megatron", date=date)
        sizes[date] = {one.batch.micro_batch_size for one in found.best}
    # 60 micro-batches are a multiple of 4; 15 are three rounds of 5.
    assert sizes == {"2024-10": {1}, "2024-11": {1, 4}}
    # What is asked for alone is listed all the same, and told.
    alone = search(**asked | {"micro_batch_size": 4}, stack="megatron", date="2024-10").best
    assert {one.batch.micro_batch_size for one in alone} == {4}
    for one in alone[:3]:
        (told,) = not_had(Said(stack="megatron", date="2024-10"), one.layout, one.batch)
        assert told.value == "15 micro-batches on pp=4 stages of vpp=2 chunks"
