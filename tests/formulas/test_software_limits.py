"""What software counts of a layout before it runs it, against counts by hand."""

from __future__ import annotations

from typing import Any

import pytest

from steptime.formulas.software_limits import (
    expert_ranks_left_over,
    round_lacks,
    rounds_left_over,
)
from steptime.inputs.counted import COUNTED, counted
from steptime.inputs.layout import Batch, Layout

CHUNKED: dict[str, Any] = {"pp": 4, "vpp": 2, "schedule": "interleaved-1f1b"}


def batch(micro_batches: int) -> Batch:
    return Batch(global_batch_size=micro_batches, micro_batch_size=1, seq_length=2048)


# Published: Megatron-LM's rounds of pp micro-batches, torchtitan's ranks that share weights


@pytest.mark.parametrize(
    ("sizes", "micro", "left", "lacks"),
    [
        (CHUNKED, 16, 0, 0),
        (CHUNKED, 15, 3, 0),
        (CHUNKED, 3, 3, 1),
        # One chunk a rank, or no pipeline: nothing takes turns.
        ({"pp": 4, "schedule": "1f1b"}, 15, 0, 0),
        ({"vpp": 2}, 3, 0, 0),
        # A V is no round.
        ({"pp": 4, "vpp": 2, "schedule": "zb-v"}, 15, 0, 0),
    ],
)
def test_rounds(sizes: dict[str, Any], micro: int, left: int, lacks: int) -> None:
    layout = Layout(**sizes)
    assert counted("rounds_left_over", layout, batch(micro)) == left
    assert counted("round_lacks", layout, batch(micro)) == lacks


@pytest.mark.parametrize(
    ("sizes", "left"),
    [
        # 8 ranks share the weights of 2 x 8: experts may lie on 8 x 2 = 16 of them.
        ({"dp": 16, "dp_replicate": 2, "tp": 2, "ep": 16, "zero_stage": 3}, 0),
        ({"dp": 16, "dp_replicate": 2, "tp": 2, "ep": 32, "zero_stage": 3}, 16),
        # Plain copies share nothing: what is left are the ranks of a sequence, 2 x 2.
        ({"dp": 8, "cp": 2, "tp": 2, "ep": 4, "zero_stage": 0}, 0),
        ({"dp": 8, "cp": 2, "tp": 2, "ep": 8, "zero_stage": 0}, 4),
    ],
)
def test_expert_ranks(sizes: dict[str, Any], left: int) -> None:
    assert counted("expert_ranks_left_over", Layout(**sizes), batch(64)) == left


# Consistency


def test_each_is_counted_by_its_name() -> None:
    every = (rounds_left_over, round_lacks, expert_ranks_left_over)
    assert {one.__name__: one for one in every} == COUNTED
