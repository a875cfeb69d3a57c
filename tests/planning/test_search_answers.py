"""What a search finds is what every other way to ask says of the same layout, to the last bit."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from steptime.answer import predict
from steptime.formulas.candidates import row_rule
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.presets import accelerator, model
from steptime.inputs.said import Said
from steptime.inputs.stack import stack_named
from steptime.planning.evaluate import (
    base_job,
    bytes_of,
    crossed_job,
    over_software,
    rows_job,
    step_function,
    switches,
)
from steptime.planning.question import Question
from steptime.planning.result import answered
from steptime.planning.search import search
from steptime.planning.space import ROW_FIELDS, row_blocks


def question(
    name: str = "llama3-8b", devices: int = 16, batch: int = 64, **more: object
) -> Question:
    return Question(
        model=model(name),
        accelerator=accelerator("h100"),
        num_devices=devices,
        global_batch_size=batch,
        seq_length=4096,
        **more,  # type: ignore[arg-type]
    )


# --- invariant


@pytest.mark.parametrize("zero_stage", [0, 1, 2, 3])
@pytest.mark.parametrize("stack", [None, "torch-fsdp", "megatron-core"])
def test_what_a_search_finds_is_what_predict_says(zero_stage: int, stack: str | None) -> None:
    stages = stack_named(stack).zero_stages if stack else (0, 1, 2, 3)
    if zero_stage not in stages:
        with pytest.raises(ConfigError, match="has no such sharding"):
            question(said=Said(stack=stack), zero_stages=(zero_stage,))
        return
    asked = question(
        "llama3-70b",
        512,
        512,
        zero_stages=(zero_stage,),
        said=Said(stack=stack, date="2024-06"),
        # Trainers with FSDP have few sizes: all are asked for by name.
        pinned=tuple((name, (1, 2, 4, 8)) for name in ("tp", "cp", "pp", "vpp")),
    )
    found = search(asked, keep=30).best
    assert len(found) == 30
    for one in found:
        layout = {field.name: getattr(one.layout, field.name) for field in fields(Layout)}
        batch = {field.name: getattr(one.batch, field.name) for field in fields(Batch)}
        told = predict(
            model="llama3-70b", accelerator="h100", stack=stack, date="2024-06", **layout, **batch
        )
        assert (told.step_time_s, told.total_bytes) == (one.step_time_s, one.memory_bytes)
        again = answered(asked, one)
        assert again.breakdown_s == told.breakdown_s
        ends = (again.step_time_low_s, again.step_time_high_s)
        assert ends == (told.step_time_low_s, told.step_time_high_s)


def test_layouts_with_nobody_to_share_with_keep_their_weights_whole() -> None:
    asked = question("llama3-8b", 8, 16, zero_stages=(0, 3))
    rows = np.vstack(list(row_blocks(asked, 10**6)))
    rows = rows[row_rule(rows_job(base_job(asked), rows)) == 0.0]
    ranks = rows[:, ROW_FIELDS.index("dp")] * rows[:, ROW_FIELDS.index("cp")]
    choices = switches(asked)
    record, shape = crossed_job(base_job(asked), rows, choices), (len(rows), *choices.shape)
    for of in (step_function(asked), bytes_of):
        found = over_software(asked, record, choices, shape, of)
        alike = (found[:, :, 0, :] == found[:, :, 1, :]).all(axis=(1, 2))
        assert alike[ranks == 1].all()
        assert not alike[ranks > 1].any()
