"""Which devices named software starts on: facts of ``data/abilities.toml``."""

from __future__ import annotations

import re
from typing import Any

import pytest

from steptime.answer import predict
from steptime.evidence.row_question import question_of_run
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import published_rows
from steptime.inputs.ability import check_starts, starts_on
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.generation import generations
from steptime.inputs.presets import accelerator
from steptime.inputs.said import Said
from steptime.inputs.stack import families
from steptime.planning.asked import search

ASKED: dict[str, Any] = {
    "model": "llama3-8b",
    "num_gpus": 64,
    "global_batch_size": 64,
    "seq_length": 4096,
}


def test_the_lists_name_families_and_generations_with_a_source() -> None:
    for family, entry in data_table("abilities.toml").items():
        assert family in families()
        lists = [entry[key] for key in ("runs_on", "never_on") if key in entry]
        assert len(lists) < 2
        for one in lists:
            assert {*one["generations"]} < {*generations()}
            assert re.match(r"[a-z]+\d{4}\w*[,:]", one["source"])


@pytest.mark.parametrize(
    ("stack", "device", "instead"),
    [
        ("neuron", "h100", "megatron"),
        ("neuron-2023", "tpu-v5p", "maxtext"),
        ("mindspeed", "h100", "megatron"),
        ("megatron", "tpu-v5p", "maxtext"),
        ("megatron-core", "trainium2", "neuron"),
        ("nemo", "tpu-v4", "maxtext"),
        ("deepspeed", "trainium2", "neuron"),
        ("gpt-neox", "tpu-v5p", "maxtext"),
        ("maxtext", "ascend-910b", "mindspeed"),
        ("maxtext", "gaudi2", "megatron"),
    ],
)
def test_software_that_does_not_start_on_a_device_is_refused(
    stack: str, device: str, instead: str
) -> None:
    with pytest.raises(ConfigError, match=f"{stack!r} does not run on {device}") as told:
        predict(**ASKED, accelerator=device, stack=stack, recompute="full")
    assert instead in str(told.value).partition("such as ")[2]
    with pytest.raises(ConfigError, match=f"{stack!r} does not run on {device}"):
        search(**ASKED, accelerator=device, stack=stack, recompute="full", zero_stage=0)


@pytest.mark.parametrize(
    ("stack", "device"),
    [
        ("neuron", "trainium2"),
        ("mindspeed", "ascend-910b"),
        ("megatron", "mi300x"),
        ("megatron", "ascend-910b"),
        ("deepspeed", "gaudi2"),
        ("maxtext", "tpu-v5p"),
        ("maxtext", "h100"),
        ("usual", "tpu-v5p"),
        (None, "tpu-v5p"),
    ],
)
def test_other_pairs_are_answered(stack: str | None, device: str) -> None:
    assert predict(**ASKED, accelerator=device, stack=stack, recompute="full").step_time_s > 0.0


def test_of_a_generation_without_a_table_nothing_is_known() -> None:
    assert starts_on("neuron", "")
    assert starts_on("neuron", "a chip of my own")
    assert not starts_on("neuron", "hopper")


def test_every_published_run_is_of_software_that_starts_on_its_device() -> None:
    checked = 0
    for row in published_rows():
        try:
            step = question_of_run(run_of(row)).step
        except (Incomplete, ConfigError):
            continue
        check_starts(step.said, step.accelerator)
        checked += step.said.stack is not None
    assert checked > 700


def test_whoever_names_software_is_told_by_its_own_word() -> None:
    with pytest.raises(ConfigError, match="or 'usual'"):
        check_starts(Said(stack="megatron"), accelerator("tpu-v5p"))
