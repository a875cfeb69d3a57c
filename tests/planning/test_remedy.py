"""What would make a layout fit."""

from __future__ import annotations

import pytest

from steptime.answer import Prediction, Question, answer
from steptime.inputs.training_step import TrainingStep, training_step
from steptime.planning.remedy import Remedy, remedies


def asked(**changes: object) -> TrainingStep:
    step = {"model": "gpt3-175b", "accelerator": "a100", "seq_length": 2048}
    step |= {"global_batch_size": 64, "tp": 8}
    return training_step(**step | changes)  # type: ignore[arg-type]


def told(step: TrainingStep) -> Prediction:
    return answer(Question(step=step))


def found(step: TrainingStep) -> tuple[Remedy, ...]:
    return remedies(told(step))


# limit


def test_what_fits_needs_no_remedy() -> None:
    assert found(asked(pp=16)) == ()


def test_gpt_3_on_eight_devices_needs_eight_stages() -> None:
    first = found(asked())[0]
    assert first.fits
    assert first.change == "--pp 8"
    assert first.num_devices == 64


def test_growing_stages_takes_data_ranks_where_there_are_some() -> None:
    helps = found(asked(dp=8, zero_stage=0))
    stages = next(one for one in helps if one.change.startswith("--pp"))
    assert stages.change == "--pp 8 --dp 1"
    assert stages.num_devices == 64


@pytest.mark.parametrize("schedule", ["gpipe", "zb-auto"])
def test_a_schedule_that_holds_less_is_tried_on_the_same_devices(schedule: str) -> None:
    step = training_step(
        model="llama3-70b",
        accelerator="h100",
        seq_length=8192,
        global_batch_size=256,
        tp=8,
        pp=4,
        dp=8,
        schedule=schedule,
        recompute="selective",
    )
    one = next(one for one in found(step) if "--schedule" in one.change)
    assert one.change == "--schedule 1f1b"
    assert one.enough
    assert one.num_devices == 256


def test_a_remedy_asks_only_what_the_software_runs() -> None:
    step = training_step(
        model="llama3-70b",
        accelerator="h100",
        seq_length=8192,
        global_batch_size=256,
        pp=4,
        stack="llm-foundry",
    )
    helps = found(step)
    assert helps[0].enough
    for one in helps:
        assert one.step.layout.pp == 1, one.change


# invariant


def test_each_remedy_says_the_chance_of_it() -> None:
    for one in found(asked()):
        assert one.fit_probability == told(one.step).fit_probability


@pytest.mark.parametrize(
    "step",
    [
        asked(),
        asked(dp=8),
        asked(pp=2, dp=2, micro_batch_size=8),
        asked(model="llama3-405b", seq_length=131072, pp=8),
        asked(model="deepseek-v3", tp=1, dp=8, seq_length=4096),
        asked(model="llama2-7b", tp=1, seq_length=65536),
    ],
)
def test_every_remedy_is_what_it_says(step: TrainingStep) -> None:
    before = told(step)
    helps = remedies(before)
    assert helps[0].fits
    for one in helps:
        after = told(one.step)
        assert after.total_bytes == one.total_bytes
        assert after.fits is one.fits
        assert one.total_bytes < before.total_bytes
        assert one.num_devices == one.step.layout.num_devices
        assert len(one.change.split()) >= 1
