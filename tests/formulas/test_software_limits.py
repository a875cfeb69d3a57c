"""What software counts of a layout before it runs it, against counts by hand."""

from __future__ import annotations

from typing import Any

import pytest

from steptime.formulas.software_limits import (
    expert_ranks_left_over,
    parts_left_over,
    round_lacks,
    rounds_left_over,
    sequence_ranks_left_over,
    tokens_left_over,
    zigzag_left_over,
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


# Published: Megatron-LM's 2 cp parts of a sequence, torchtitan's of a micro-batch's tokens


@pytest.mark.parametrize(
    ("sizes", "seq_length", "micro", "left"),
    [
        # 8 parts of 4100 tokens leave 4; two sequences folded into one are 8 x 1025.
        ({"cp": 4}, 4100, 1, {"zigzag": 4, "tokens": 4, "parts": 4, "sequence_ranks": 0}),
        ({"cp": 4}, 4100, 2, {"zigzag": 4, "tokens": 0, "parts": 4, "sequence_ranks": 0}),
        ({"cp": 4}, 4104, 1, {"zigzag": 0, "tokens": 0, "parts": 0, "sequence_ranks": 0}),
        # Tensor ranks alone cut a sequence where they are asked to; 4098 = 8 x 512 + 2.
        ({"tp": 8}, 4098, 1, {"zigzag": 0, "tokens": 0, "parts": 2, "sequence_ranks": 0}),
        (
            {"tp": 8, "sequence_parallel": True},
            4098,
            1,
            {"zigzag": 0, "tokens": 0, "parts": 2, "sequence_ranks": 2},
        ),
        # 4104 = 8 x 513 for 2 cp, 16 x 256 + 8 for cp tp, 32 x 128 + 8 for 2 cp tp.
        (
            {"cp": 4, "tp": 4, "sequence_parallel": True},
            4104,
            1,
            {"zigzag": 0, "tokens": 0, "parts": 8, "sequence_ranks": 8},
        ),
        ({}, 4097, 1, {"zigzag": 0, "tokens": 0, "parts": 0, "sequence_ranks": 0}),
    ],
)
def test_parts_of_a_sequence(
    sizes: dict[str, Any], seq_length: int, micro: int, left: dict[str, int]
) -> None:
    asked = Batch(global_batch_size=8, micro_batch_size=micro, seq_length=seq_length)
    for name, count in left.items():
        assert counted(f"{name}_left_over", Layout(**sizes), asked) == count


# Consistency


def test_each_is_counted_by_its_name() -> None:
    every = (
        *(rounds_left_over, round_lacks, expert_ranks_left_over, zigzag_left_over),
        *(tokens_left_over, parts_left_over, sequence_ranks_left_over),
    )
    assert {one.__name__: one for one in every} == COUNTED
