"""Words for software, kernels and schedules are those that a table of runs takes."""

from typing import Any

import pytest

import steptime
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import accelerator
from steptime.inputs.said import Said

ASKED: dict[str, Any] = {
    **{"model": "llama3-8b", "accelerator": "h100", "seq_length": 4096},
    **{"global_batch_size": 64, "recompute": "none"},
}


@pytest.mark.parametrize("word", ["flash-3", "flash3", "fa3", "FlashAttention-3", "cuDNN"])
def test_a_kernel_goes_by_its_words(word: str) -> None:
    # data/run_words.toml: both at the rates of shah2024.
    found = steptime.predict(**ASKED, facts={"kernel": word})
    assert found.step_time_s == steptime.predict(**ASKED, facts={"kernel": "cudnn"}).step_time_s


@pytest.mark.parametrize(
    ("word", "name"),
    [("Megatron-LM", "megatron"), ("NVIDIA NeMo", "nemo"), ("FSDP2", "fsdp"), ("fsdp", "fsdp")],
)
def test_software_goes_by_its_words(word: str, name: str) -> None:
    assert Said(stack=word) == Said(stack=name)


@pytest.mark.parametrize("word", ["zb1p", "ZB-1P", "zero-bubble-1p"])
def test_a_schedule_goes_by_its_words(word: str) -> None:
    assert steptime.training_step(**ASKED, pp=4, schedule=word).layout.schedule == "zb-1p"
    found = steptime.search(**ASKED, num_gpus=8, pp=4, tp=2, schedule=word)
    assert {one.layout.schedule for one in found.best} == {"zb-1p"}


@pytest.mark.parametrize(
    ("word", "name"),
    [
        *(("v5p", "tpu-v5p"), ("trn2", "trainium2"), ("NVIDIA H100 80GB HBM3", "h100")),
        *(("H100-SXM", "h100"), ("A100 PCIe", "a100-pcie-80gb")),
    ],
)
def test_a_device_goes_by_its_words(word: str, name: str) -> None:
    assert accelerator(word) == accelerator(name)


def test_another_part_of_a_name_is_no_known_device() -> None:
    with pytest.raises(ConfigError, match="unknown accelerator 'H100 NVL'; did you mean"):
        accelerator("H100 NVL")


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown attention kernel 'flush-3'"):
        steptime.predict(**ASKED, facts={"kernel": "flush-3"})
    with pytest.raises(ConfigError, match="unknown stack 'megatrn'; did you mean 'megatron'"):
        Said(stack="megatrn")
