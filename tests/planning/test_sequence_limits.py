"""Sequences that software cannot cut into equal parts: said, not searched, not written."""

from __future__ import annotations

from typing import Any

import pytest

from steptime.answer import predict
from steptime.inputs.ability import NOT_RUN, not_had
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.presets import model
from steptime.inputs.said import Said
from steptime.planning.asked import search
from steptime.planning.emit import emitted

ASKED: dict[str, Any] = {
    "model": "llama3-8b",
    "accelerator": "h100",
    "num_gpus": 64,
    "global_batch_size": 128,
    "seq_length": 8192,
}


def test_a_sequence_that_the_software_cannot_cut_is_said_and_not_tried() -> None:
    """4100 = 4 x 1025: four context ranks divide it, twice as many parts do not."""
    odd = {**ASKED, "seq_length": 4100, "num_gpus": 8, "global_batch_size": 8}
    for family in ("megatron", "nemo", "torchtitan"):
        told = predict(**odd, cp=4, stack=family, micro_batch_size=1).assumed
        (one,) = (one for one in told if one.what == NOT_RUN and "seq_length" in one.value)
        assert "seq_length=4100 on cp=4" in one.why
        assert one.how == "--seq-length"
        found = search(**odd, stack=family, micro_batch_size=1)
        assert {one.layout.cp for one in found.best} <= {1, 2}
        assert "cp: the software cuts a sequence into more parts" in " ".join(found.dropped)
        even = predict(**{**odd, "seq_length": 4104}, cp=4, stack=family).assumed
        assert not any("seq_length" in one.value for one in even if one.what == NOT_RUN)
    whole = {**odd, "seq_length": 4098, "tp": 8}
    (one,) = (
        one
        for one in predict(**whole, sequence_parallel=True, stack="megatron").assumed
        if one.what == NOT_RUN
    )
    assert one.value == "seq_length=4098 on cp=1 and tp=8 with sequence parallelism"
    plain = predict(**whole, sequence_parallel=False, stack="megatron").assumed
    assert NOT_RUN not in [one.what for one in plain]


def test_torchtitan_cut_every_sequence_by_its_tensor_ranks_until_2026_08() -> None:
    """torchtitan2025: seq_len over seq_len_divisor, then the tokens of a micro-batch."""
    asked = Batch(global_batch_size=8, seq_length=4098)
    for date, broken in (("2026-07", True), ("2026-08", False)):
        told = not_had(Said(stack="torchtitan", date=date), Layout(tp=8), asked)
        assert ("seq_length=4098 on cp=1 and tp=8" in [one.value for one in told]) is broken


@pytest.mark.parametrize("kind", ["megatron", "nemo", "megatron-bridge", "torchtitan"])
def test_no_file_is_written_for_it(kind: str) -> None:
    odd, even = (Batch(global_batch_size=8, seq_length=length) for length in (4100, 4104))
    layout = Layout(cp=4, zero_stage=3 if kind == "torchtitan" else 1)
    assert emitted(kind, model("llama3-8b"), layout, even)
    with pytest.raises(ConfigError, match="seq_length=4100 on cp=4"):
        emitted(kind, model("llama3-8b"), layout, odd)
