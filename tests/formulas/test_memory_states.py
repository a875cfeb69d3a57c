"""Bytes of weights, gradients and optimizer states against what the makers of each stack state."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from steptime.formulas.memory import states
from steptime.formulas.memory.states import unshared_bytes
from steptime.formulas.records import MemoryFacts

Facts = Callable[..., MemoryFacts]
GIB = 2**30


def job(**values: float) -> Any:
    base = {"zero_stage": 0.0, "fp8": 0.0, "dp": 1.0, "cp": 1.0, "tp": 1.0, "ep": 1.0, "etp": 1.0}
    base |= {"pp": 1.0, "dp_replicate": 1.0, "schedule": 0.0}
    return SimpleNamespace(**base | values)


def bytes_per_parameter(record: Any, facts: MemoryFacts, ranks: float) -> float:
    return (
        states.weight_bytes(record, facts, ranks)
        + states.gradient_bytes(record, facts, ranks)
        + states.exchange_bytes(facts, ranks)
        + states.optimizer_bytes(record, facts, ranks)
    )


# published


@pytest.mark.parametrize(("stage", "printed"), [(0, 120), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_zero_paper_figure_1(stage: int, printed: float) -> None:
    """rajbhandari2020, Fig. 1: 7.5B parameters over 64 ranks, 16-bit gradients, GB of 1e9."""
    facts = MemoryFacts(gradient_bytes=2.0)
    held = 7.5 * bytes_per_parameter(job(zero_stage=float(stage)), facts, 64.0)
    assert held == pytest.approx(printed, abs=0.05)


@pytest.mark.parametrize("ranks", [1.0, 2.0, 64.0])
def test_megatron_lm_distributed_optimizer_table(ranks: float) -> None:
    """megatronlm2026, dist_optimizer.md: 18 bytes a parameter, 6 + 12/d when distributed."""
    assert bytes_per_parameter(job(), MemoryFacts(), ranks) == 18.0
    sharded = bytes_per_parameter(job(zero_stage=1.0), MemoryFacts(), ranks)
    assert sharded == 6.0 + 12.0 / ranks


@pytest.mark.parametrize("stage", [0.0, 1.0, 3.0])
def test_before_sharding_megatron_lm_keeps_18_bytes(stage: float) -> None:
    """megatronlm2026, dist_optimizer.md, whatever the ranks share; a narrow copy comes on top."""
    assert unshared_bytes(job(zero_stage=stage, dp=8.0), MemoryFacts()) == 18.0
    more = MemoryFacts(fp8_copy_bytes=2.0, extra_gradient_bytes=2.0, update_bytes=4.0)
    assert unshared_bytes(job(fp8=1.0), more) == 26.0


def test_megatron_lm_16_bit_gradients() -> None:
    """The same table: 20 bytes, 4 + 16/d: 32-bit gradients belong to the optimizer's shard."""
    facts = MemoryFacts(gradient_bytes=2.0, update_bytes=4.0)
    assert bytes_per_parameter(job(), facts, 8.0) == 20.0
    assert bytes_per_parameter(job(zero_stage=1.0), facts, 8.0) == 4.0 + 16.0 / 8.0


def test_deepspeed_zero_2_prints_15_93_gb() -> None:
    """deepspeed2026, Memory Requirements: 4 P + 16 P / n with P = 2851e6, n = 8."""
    facts = MemoryFacts(gradient_bytes=0.0, extra_gradient_bytes=2.0, update_bytes=4.0)
    held = 2851e6 * bytes_per_parameter(job(zero_stage=2.0), facts, 8.0)
    assert held / GIB == pytest.approx(15.93, abs=0.005)


def test_deepspeed_zero_3_prints_6_09_gb() -> None:
    """The same page: the largest layer (32e6) in 4 bytes, and 18 P / n."""
    facts = MemoryFacts(gradient_bytes=0.0, update_bytes=4.0)
    record = job(zero_stage=3.0, dp=8.0)
    held = 2851e6 * bytes_per_parameter(record, facts, 8.0)
    held += 32e6 * facts.gathered_layers * states.whole_terms(record, facts)["weight"]
    assert held / GIB == pytest.approx(6.09, abs=0.005)


def test_nanotron_holds_a_flat_copy_where_ranks_exchange(memory_facts: Facts) -> None:
    """tazi2025, nanotron: 16-bit weights, 32-bit gradients and a flat 16-bit copy, 12/d more."""
    facts = memory_facts("nanotron-playbook")
    assert bytes_per_parameter(job(zero_stage=1.0), facts, 4.0) == 2.0 + 4.0 + 2.0 + 12.0 / 4.0
    assert bytes_per_parameter(job(), facts, 4.0) == 2.0 + 4.0 + 2.0 + 12.0
    assert bytes_per_parameter(job(), facts, 1.0) == 2.0 + 4.0 + 12.0


# limit


@pytest.mark.parametrize("stage", [0.0, 1.0, 2.0, 3.0])
def test_one_rank_shards_nothing(stage: float) -> None:
    assert bytes_per_parameter(job(zero_stage=stage), MemoryFacts(), 1.0) == 18.0
    assert states.whole_terms(job(zero_stage=stage), MemoryFacts())["shared"] == 0.0


def test_8_bit_copies_stand_beside_the_weights() -> None:
    assert states.weight_bytes(job(fp8=1.0), MemoryFacts(), 1.0) == 4.0


# invariant


def test_experts_are_repeated_by_what_ep_and_etp_leave() -> None:
    record = job(tp=4.0, cp=2.0, dp=8.0, ep=8.0, etp=2.0)
    assert states.data_ranks(record) == 16.0
    assert states.expert_data_ranks(record) == 4.0


@pytest.mark.parametrize("ranks", [2.0, 8.0, 1000.0])
def test_each_stage_holds_less(memory_facts: Facts, ranks: float) -> None:
    held = [
        bytes_per_parameter(job(zero_stage=float(stage)), memory_facts("deepspeed-bf16"), ranks)
        for stage in range(4)
    ]
    assert held == sorted(held, reverse=True)
    assert len(set(held)) == 4
