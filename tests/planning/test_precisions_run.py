"""Precisions that software does not run are said, beside its other limits."""

from __future__ import annotations

from typing import Any

import pytest

from steptime.answer import predict
from steptime.inputs.ability import not_had
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.said import Said
from steptime.planning.asked import search

BATCH = Batch(global_batch_size=64, seq_length=4096)


@pytest.mark.parametrize(
    ("stack", "date", "precision", "runs"),
    [
        ("nanotron", None, "fp8", False),
        ("nanotron", None, "bf16", True),
        ("deepspeed", None, "fp8", False),
        ("gpt-neox", "2024-06", "fp8", False),
        ("gpt-neox", None, "fp8", True),
        ("gpt-neox", None, "mxfp8", False),
        ("megatron", "2023-06", "fp8", False),
        ("megatron", "2024-08", "fp8", True),
        ("megatron", "2024-08", "mxfp8", False),
        ("torchtitan", None, "fp16", False),
        ("torchtitan", "2025-01", "mxfp8", False),
        ("torchtitan", "2025-06", "mxfp8", True),
    ],
)
def test_precisions_that_software_lacks_are_said(
    stack: str, date: str | None, precision: str, runs: bool
) -> None:
    """Flags and commits that the sources of abilities.toml name."""
    found = not_had(Said(stack=stack, date=date), Layout(precision=precision), BATCH)
    assert [one.value for one in found] == ([] if runs else [f"precision={precision}"])


def test_an_answer_and_a_search_say_that_eight_bits_are_not_run() -> None:
    given: dict[str, Any] = {
        "model": "llama3-8b",
        "accelerator": "h100",
        "num_gpus": 8,
        "seq_length": 4096,
    }
    given |= {"seq_length": 4096, "global_batch_size": 64}
    given |= {"stack": "nanotron", "precision": "fp8"}
    said = "not run: nanotron does not run precision=fp8; it runs fp16 or bf16"
    assert said in map(str, predict(**given).assumed)
    assert said in map(str, search(**given).answered().assumed)
