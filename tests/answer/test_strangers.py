"""Questions of people whose software, device or cluster is in no table: no answer is absurd.

Forty steps over what is publicly trained: dense models of 1 to 540 billion parameters and
mixtures of experts, on devices of seven makers, 12 to 400 Gb/s a device, 2021 to 2026. Nothing is
compared with a measurement; what physics and common sense allow is.
"""

from __future__ import annotations

from typing import Any

import pytest

from steptime.answer import predict
from steptime.inputs.model import ModelShape

LEAST_USE, MOST_USE = 0.08, 0.7
"""Shares of the 16-bit peak: below, a run would have been stopped; above, nobody has been."""


def gpt(layers: int, hidden: int, heads: int, **more: Any) -> ModelShape:
    """Return a dense model of usual shape."""
    sizes = {"ffn_hidden_size": 4 * hidden, "num_query_groups": heads, "vocab_size": 50304}
    shape: dict[str, Any] = {"gated": False, "tied": True, **sizes, **more}
    return ModelShape(
        name=f"{layers} x {hidden}",
        num_layers=layers,
        hidden_size=hidden,
        num_attention_heads=heads,
        **shape,
    )


GATED = {"gated": True, "tied": False, "vocab_size": 32000}
DENSE_175 = gpt(96, 12288, 96)
DENSE_130 = gpt(70, 12288, 96, ffn_hidden_size=32768, vocab_size=150528, gated=True)
DENSE_65 = gpt(80, 8192, 64, ffn_hidden_size=22016, **GATED)
DENSE_40 = gpt(60, 8192, 128, num_query_groups=8, ffn_hidden_size=32768)
DENSE_20 = gpt(44, 6144, 64, tied=False)
DENSE_540 = gpt(118, 18432, 48, ffn_hidden_size=73728, num_query_groups=1, vocab_size=256000)
DENSE_7 = gpt(32, 4096, 32, ffn_hidden_size=11008, **GATED)
DENSE_8 = gpt(72, 3072, 32)

SHARED: dict[str, Any] = {"zero_stage": 3}
CUT: dict[str, Any] = {"tp": 8, "pp": 4}
QUESTIONS: dict[str, dict[str, Any]] = {}


def ask(
    name: str, device: str, model: str | ModelShape, gpus: int, batch: int, length: int, **more: Any
) -> None:
    """Keep one question."""
    sizes = {"num_gpus": gpus, "global_batch_size": batch, "seq_length": length}
    QUESTIONS[name] = {"accelerator": device, "model": model, **sizes, **more}


A, A40, H, H8 = "a100-80gb", "a100-40gb", "h100", "h800"
FULL: dict[str, Any] = {"recompute": "full"}
ask("175b, fsdp", A, DENSE_175, 992, 992, 2048, tp=8, micro_batch_size=8, stack="fsdp", **SHARED)
ask("175b, undated", A, DENSE_175, 1024, 1536, 2048, **CUT)
ask("130b, 2022", A40, DENSE_130, 768, 4224, 2048, tp=4, pp=8, date="2022-07", **FULL)
ask("65b, sharded", A, DENSE_65, 2048, 2048, 2048, network_gbit=200, date="2023-01", **SHARED)
ask("40b, 50 Gb/s", A40, DENSE_40, 384, 1152, 2048, network_gbit=50, date="2023-01", **CUT)
ask("20b, neox", A40, DENSE_20, 96, 1536, 2048, tp=2, pp=4, stack="gpt-neox", date="2022-02")
ask("13b, deepspeed", A, "llama2-13b", 128, 512, 4096, stack="deepspeed", date="2023-06", **FULL)
ask("13b, nemo", A, "llama2-13b", 128, 512, 4096, stack="nemo", date="2023-06", **FULL)
ask("13b, llm-foundry", A, "llama2-13b", 128, 512, 4096, stack="llm-foundry", **FULL, **SHARED)
ask("30b, mosaic", A40, "mpt-30b", 256, 512, 2048, stack="llm-foundry", **FULL, **SHARED)
ask("7b, slow network", A, "llama2-7b", 32, 128, 2048, micro_batch_size=2, network_gbit=25, **FULL)
ask("7b, one server", A, "llama2-7b", 8, 64, 2048, **SHARED)
ask("8.3b, 2020", "v100-32gb", DENSE_8, 512, 512, 1024, tp=8, precision="fp16", date="2021-06")
ask("7b, die", "mi250x-gcd", DENSE_7, 512, 1024, 2048, stack="fsdp", date="2023-10", **SHARED)
ask("70b, die", "mi250x-gcd", "llama2-70b", 1024, 1024, 4096, **CUT)
ask("8b, mi300x", "mi300x", "llama3-8b", 64, 256, 8192, stack="fsdp", date="2024-10", **SHARED)
ask("70b, mi300x", "mi300x", "llama3-70b", 256, 512, 8192, tp=8, **SHARED)
ask("8b, mi355x", "mi355x", "llama3-8b", 8, 64, 8192, precision="fp8")
ask("7b, gaudi", "gaudi2", "llama2-7b", 64, 256, 4096, stack="megatron-deepspeed", date="2024-06")
ask("70b, gaudi", "gaudi2", "llama2-70b", 256, 1024, 4096, **CUT)
ask("7b, ascend", "ascend-910b", "llama2-7b", 64, 512, 4096, stack="mindspeed", date="2024-06")
ask("72b, ascend", "ascend-910b", "qwen2.5-72b", 512, 1024, 4096, stack="mindspeed", **CUT)
ask("7b, trainium", "trainium1-core", "llama2-7b", 512, 1024, 4096, tp=8, stack="neuron")
ask("70b, trainium 2", "trainium2", "llama3-70b", 256, 512, 8192, tp=4, pp=4, stack="neuron")
ask("540b, tpu", "tpu-v4", DENSE_540, 3072, 2048, 2048, tp=12, stack="maxtext", **SHARED)
ask("70b, tpu", "tpu-v5p", "llama2-70b", 512, 1024, 4096, stack="maxtext", **SHARED)
ask("16b, tpu", "tpu-v5e", gpt(32, 6144, 48), 256, 1536, 2048, stack="maxtext", **SHARED)
ask("8b, trillium", "tpu-v6e", "llama3-8b", 256, 1024, 8192, stack="maxtext", **SHARED)
ask("8b, jax", H, "llama3-8b", 256, 1024, 8192, stack="maxtext", date="2024-06", **SHARED)
ask("5b, pax", A, gpt(24, 4096, 32), 256, 2048, 2048, stack="paxml", date="2024-01", **FULL)
ask("70b, torchtitan", H, "llama3-70b", 256, 512, 8192, tp=8, stack="torchtitan", **SHARED)
ask("405b, 16k", H, "llama3-405b", 16384, 2048, 8192, tp=8, pp=16, vpp=8)
ask("340b", H, "nemotron-4-340b", 6144, 2304, 4096, tp=8, pp=12, vpp=8, date="2024-02")
ask("1b, many", H, "llama3.2-1b", 512, 1024, 2048, micro_batch_size=2)
ask("405b, rack, 8 bits", "gb200", "llama3-405b", 512, 1024, 8192, tp=4, pp=8, precision="fp8")
ask("mixtral", H, "mixtral-8x7b", 128, 1024, 4096, ep=8, stack="megatron", date="2024-05")
ask("deepseek", H8, "deepseek-v3", 2048, 15360, 4096, ep=64, pp=16, precision="fp8")
ask("dbrx", H, "dbrx-132b", 1024, 2048, 4096, ep=8, pp=4)
ask("qwen", H, "qwen3-235b-a22b", 1024, 4096, 4096, ep=8, pp=8, date="2025-06")
ask("llama 4", H, "llama4-maverick", 1024, 4096, 8192, ep=16, pp=4, date="2025-05")


# ---- limit


def test_forty_are_asked() -> None:
    assert len(QUESTIONS) == 40


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_device_is_nearly_idle_or_faster_than_any_has_been(name: str) -> None:
    told = predict(**QUESTIONS[name])
    narrow = told.record.fp8 > 0.0
    assert LEAST_USE < told.mfu_causal_fraction < MOST_USE * (2.0 if narrow else 1.0)


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_interval_is_neither_certain_nor_empty(name: str) -> None:
    told = predict(**QUESTIONS[name])
    low_s, high_s = told.step_time_low_s, told.step_time_high_s
    assert low_s is not None
    assert high_s is not None
    assert low_s < told.step_time_s < high_s
    assert 1.25 < high_s / low_s < 3.5


# ---- invariant


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_faster_network_is_never_slower(name: str) -> None:
    asked = QUESTIONS[name]
    times = [predict(**asked | {"network_gbit": gbit}).step_time_s for gbit in (50, 200, 800)]
    assert times == sorted(times, reverse=True)
