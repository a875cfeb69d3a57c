"""Copies of what is sharded (HSDP): ranks, memory and time by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from steptime.formulas.baseline import shared_out_s
from steptime.formulas.experts import expert_ranks, expert_width, of_copies
from steptime.formulas.memory import memory_bytes
from steptime.formulas.memory.states import state_terms
from steptime.formulas.ranks import data_ranks, expert_data_ranks, expert_shard_ranks, shard_ranks
from steptime.formulas.records import BaselineConstants, Job, MemoryFacts
from steptime.formulas.roofline.shards import exchanges_s
from steptime.inputs.constants import published_constants
from steptime.inputs.training_step import training_step


def job(**changes: Any) -> Job:
    asked = {"model": "llama3-8b", "accelerator": "h100", "seq_length": 4096}
    asked |= {"global_batch_size": 64, "dp": 64, "zero_stage": 3, "dp_replicate": 8}
    return training_step(**asked | changes).job()


# published: zhao2023, Sec. 3.2.2


def test_eight_copies_of_64_ranks_share_among_eight() -> None:
    one = job()
    assert (data_ranks(one), shard_ranks(one)) == (64.0, 8.0)
    mixture = job(model="mixtral-8x7b", ep=4)
    assert (expert_data_ranks(mixture), expert_shard_ranks(mixture)) == (16.0, 2.0)
    assert expert_shard_ranks(job(model="mixtral-8x7b", ep=8, dp_replicate=16)) == 1.0


def test_experts_cut_over_two_ranks_each() -> None:
    # Eight experts of width 14336, two a token, over 4 x 2 ranks, four of them tensor ranks.
    one = job(model="mixtral-8x7b", tp=4, ep=4, etp=2)
    assert (expert_ranks(one), expert_width(one)) == (8.0, 7168.0)
    # A rank has a quarter of the tokens, and the copies of its neighbour's too.
    assert of_copies(2.0 * 4096.0, one) == 4096.0


def test_states_are_those_of_the_ranks_that_share() -> None:
    # 2 bytes of weight, 4 of gradient and 12 of optimizer, over eight ranks.
    terms = state_terms(job(), MemoryFacts())
    assert (terms["weight"], terms["gradient"], terms["optimizer"]) == (2 / 8, 4 / 8, 12 / 8)
    held = memory_bytes(job(), MemoryFacts())
    alike = memory_bytes(job(dp=8, dp_replicate=1, global_batch_size=8), MemoryFacts())
    assert held["total"] == alike["total"]


def test_copies_add_up_their_shares_over_the_network() -> None:
    one, constants = job(), replace(published_constants().of("hopper"), hop_s=0.0)
    # A share of 1 GB over eight servers, a ring through one adapter each: 2 x 7/8 of it.
    network = one.network_bytes_per_s * constants.network_efficiency
    expected = 2.0 * 7.0 / 8.0 * 1e9 / network
    # Four billion parameters of two bytes, a share of 1 GB for each of the eight that share.
    found = exchanges_s(one, constants, 2.0, 4e9, 0.0)["copies"]
    assert found == pytest.approx(expected, rel=1e-14)
    assert exchanges_s(job(dp_replicate=1), constants, 2.0, 4e9, 0.0)["copies"] == 0.0


def test_the_baseline_adds_up_inside_and_then_between_copies() -> None:
    free = BaselineConstants(eta=0.5, latency_s=0.0)
    # 2 x 7/8 inside, then 2 x 7/8 of an eighth: as many bytes as over all 64 at once.
    found = shared_out_s(job(), free, 64e9, 64.0, 50e9)
    assert found == pytest.approx((2 * 7 / 8 * 64e9 + 2 * 7 / 8 * 8e9) / 50e9, rel=1e-14)
    assert found == pytest.approx(2 * 63 / 64 * 64e9 / 50e9, rel=1e-14)
    # Two rings of seven steps there and back are shorter than one of 63.
    slow = BaselineConstants(eta=0.5, latency_s=1e-3)
    assert shared_out_s(job(), slow, 0.0, 64.0, 50e9) == pytest.approx(28e-3, rel=1e-12)
    assert shared_out_s(job(dp_replicate=1), slow, 0.0, 64.0, 50e9) == pytest.approx(126e-3)


# limit


@pytest.mark.parametrize("stage", [0, 1, 2, 3])
def test_more_copies_never_take_less_memory(stage: int) -> None:
    totals = [
        memory_bytes(job(zero_stage=stage, dp_replicate=copies), MemoryFacts())["total"]
        for copies in (1, 2, 8, 64)
    ]
    assert totals == sorted(totals)
    assert (len(set(totals)) == 1) is (stage == 0)
