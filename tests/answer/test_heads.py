"""Context parallelism by heads: what the software refuses is refused."""

from __future__ import annotations

from typing import Any

import pytest

from steptime.answer import predict
from steptime.formulas.roofline.context import head_ranks, heads_left_over
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import accelerator, model
from steptime.inputs.said import NOTHING_SAID, Said
from steptime.inputs.software import software
from steptime.planning.evaluate import HEADS_LEFT, REASONS
from steptime.planning.question import Question
from steptime.planning.search import search

LLAMA: dict[str, Any] = {
    # 32 heads, 8 of keys and values
    "model": "llama3-8b",
    "accelerator": "h100",
    "seq_length": 131072,
    "global_batch_size": 8,
    "recompute": "full",
}
ULYSSES: dict[str, Any] = {"stack": "megatron-core", "facts": {"cp_comm_type": "a2a"}}
COPIES: dict[str, Any] = {"stack": "deepspeed", "date": "2025-08"}


# Refusal


@pytest.mark.parametrize(("tp", "cp", "most"), [(1, 16, 8), (2, 8, 4), (8, 2, 1), (1, 64, 8)])
def test_each_rank_needs_a_head_of_keys(tp: int, cp: int, most: int) -> None:
    """transformerengine2026, context_parallel.py: heads of Q, K and V divide by the ranks."""
    with pytest.raises(ConfigError, match=rf"to {cp} ranks; use cp={most}, or"):
        predict(**LLAMA, **ULYSSES, tp=tp, cp=cp)
    assert predict(**LLAMA, **ULYSSES, tp=tp, cp=most).step_time_s > 0.0
    assert predict(**LLAMA, stack="megatron-core", tp=tp, cp=cp).step_time_s > 0.0


@pytest.mark.parametrize(("cp", "runs"), [(8, True), (16, True), (32, True), (64, False)])
def test_deepspeed_copies_heads_of_keys_but_not_of_queries(cp: int, runs: bool) -> None:
    """deepspeed2026, ulysses_sp.py: 4 heads of keys and 8 ranks are two copies of each."""
    asked = LLAMA | {"zero_stage": 3, "cp": cp}
    if runs:
        assert predict(**asked, **COPIES).step_time_s > 0.0
    else:
        with pytest.raises(ConfigError, match="use cp=32"):
            predict(**asked, **COPIES)


def test_deepspeed_of_before_copies_none() -> None:
    with pytest.raises(ConfigError, match="use cp=8"):
        predict(**LLAMA, stack="deepspeed", date="2024-08", zero_stage=3, cp=16)


def test_a_stated_inner_group_is_held_to_the_same() -> None:
    facts = {"cp_comm_type": "a2a+p2p", "cp_head_ranks": 16}
    with pytest.raises(ConfigError, match="use --fact cp_head_ranks=8"):
        predict(**LLAMA, stack="megatron-core", facts=facts, cp=32)


def test_three_ranks_do_not_share_eight_heads() -> None:
    with pytest.raises(ConfigError, match="use cp=1,"):
        predict(**LLAMA | {"seq_length": 3 * 4096}, **ULYSSES, cp=3)


# Invariants


@pytest.mark.parametrize(("tp", "inner"), [(1, 8), (2, 4), (4, 2), (8, 1)])
def test_an_inner_group_left_open_fits_domain_and_heads(tp: int, inner: int) -> None:
    facts = {"cp_comm_type": "a2a+p2p"}
    for domain in (8, 64):
        found = predict(
            **LLAMA, stack="megatron-core", facts=facts, tp=tp, cp=64, nvlink_domain=domain
        )
        assert found.software.time is not None
        assert head_ranks(found.record, found.software.time) == inner


def test_a_search_drops_what_an_answer_refuses() -> None:
    question = Question(
        model=model("llama3-8b"),
        accelerator=accelerator("h100"),
        num_devices=32,
        global_batch_size=32,
        seq_length=32768,
        said=Said(stack="megatron-core", facts=(("cp_comm_type", "a2a"),)),
    )
    found = search(question)
    assert found.dropped[REASONS[int(HEADS_LEFT) - 1]] > 0
    for one in found.best:
        assert 8 % (one.layout.tp * one.layout.cp) == 0


def test_no_mixture_cuts_by_heads() -> None:
    """The page's search knows mixtures only, and leaves the rule out."""
    for name in ("h100", "a100-80gb", "b200"):
        for sharded in (False, True):
            one = software(NOTHING_SAID, accelerator(name), model("llama3-8b"), "bf16", sharded)
            assert one.time is not None
            record = predict(**LLAMA, cp=64).record
            assert not heads_left_over(record, one.time)
