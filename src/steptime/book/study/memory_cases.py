"""§18: layouts of which it is known whether they fit."""

from __future__ import annotations

from typing import Any

from steptime.answer import predict
from steptime.answer.peak import Memory

GPT3_SERVER: dict[str, Any] = {
    "model": "gpt3-175b",
    "accelerator": "a100-80gb",
    "tp": 8,
    "seq_length": 2048,
    "global_batch_size": 1536,
    "recompute": "full",
    "sequence_parallel": False,
    "zero_stage": 0,
}
"""GPT-3 on one server: what the home page tells, and what the explorer opens with."""


def known_cases() -> list[tuple[str, Memory]]:
    """Return layouts of which it is known whether they fit, with their memory.

    The software of Llama 3 is not public: it is counted as if it kept what Megatron-LM keeps.
    """
    llama: dict[str, Any] = {"model": "llama3-405b", "accelerator": "h100", "tp": 8, "pp": 16}
    llama |= {"stack": "megatron"}
    short: dict[str, Any] = {"seq_length": 8192, "global_batch_size": 2048}
    eight: dict[str, Any] = {"vpp": 8, "schedule": "interleaved-1f1b"}
    long: dict[str, Any] = {"seq_length": 131_072, "global_batch_size": 128}
    deepseek: dict[str, Any] = {"model": "deepseek-v3", "accelerator": "h800", "pp": 16}
    deepseek |= {"dp": 128, "ep": 64, "seq_length": 4096, "global_batch_size": 15_360}
    deepseek |= {"zero_stage": 1, "schedule": "dualpipe", "precision": "fp8"}
    cases = (
        ("Llama 3 405B, 8,192 GPUs", llama | short | {"dp": 64}),
        ("Llama 3 405B, 16,384 GPUs", llama | short | {"dp": 128}),
        ("Llama 3 405B, 131,072 tokens", llama | long | {"cp": 16, "dp": 8}),
        ("Llama 3 405B, 8,192 GPUs, v = 8", llama | short | {"dp": 64} | eight),
        ("Llama 3 405B, 16,384 GPUs, v = 8", llama | short | {"dp": 128} | eight),
        ("GPT-3 175B, t = 8 alone", GPT3_SERVER),
        ("GPT-3 175B, t = 8, p = 8", GPT3_SERVER | {"pp": 8, "vpp": 1}),
    )
    found = [(name, predict(**asked).memory) for name, asked in cases]
    own = predict(**deepseek, stack="deepseek-v3").memory
    return [*found, ("DeepSeek-V3, 2,048 GPUs", own)]
