"""Sequence parallelism where nobody says it: what software usually does is said where it is off."""

from __future__ import annotations

import pytest

from steptime.answer import predict
from steptime.inputs.fields import BY_NAME

ASKED = {
    "model": "llama3-8b",
    "accelerator": "h100",
    "tp": 8,
    "dp": 1,
    "seq_length": 4096,
    "global_batch_size": 8,
    "recompute": "none",
}


def said(**changes: object) -> list[str]:
    """Return what an answer says of sequence parallelism that nobody stated."""
    found = predict(**ASKED | changes)  # type: ignore[arg-type]
    told = [str(one) for one in found.assumed if one.what == "sequence_parallel"]
    assert bool(told) == (found.step.layout.tp > 1 and not found.step.layout.sequence_parallel)
    return told


@pytest.mark.parametrize("stack", ["deepspeed", "gpt-neox", "fsdp", "megatron-deepspeed"])
def test_where_software_leaves_it_off_the_answer_says_so(stack: str) -> None:
    (told,) = said(stack=stack)
    assert told.startswith("sequence_parallel: off (usual with ")
    assert said(stack=stack, tp=1, dp=8) == []


@pytest.mark.parametrize("stack", ["megatron", "nemo", "torchtitan", None])
def test_where_it_is_on_nothing_is_to_be_said(stack: str | None) -> None:
    assert said(stack=stack) == []


def test_what_is_stated_is_not_assumed() -> None:
    for stated in (True, False):
        found = predict(**ASKED | {"stack": "fsdp", "sequence_parallel": stated})  # type: ignore[arg-type]
        assert [one for one in found.assumed if one.what == "sequence_parallel"] == []


def test_the_help_promises_no_more_than_that() -> None:
    assert "on where tp > 1" not in BY_NAME["sequence_parallel"].help
    assert "default: as usual with the software" in BY_NAME["sequence_parallel"].help
