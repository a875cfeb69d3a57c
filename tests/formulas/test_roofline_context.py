"""Context parallelism's messages: what travels, by which way, and what attention hides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steptime.formulas.layout_terms import key_value_width
from steptime.formulas.records import Constants, Job, TimeFacts
from steptime.formulas.roofline.context import context_s, head_ranks
from steptime.inputs.constants import published_constants
from steptime.inputs.context_kind import context_kinds
from steptime.inputs.errors import ConfigError
from steptime.inputs.model import ModelShape
from steptime.inputs.presets import model
from steptime.inputs.software import Said, software
from steptime.inputs.training_step import device_named, training_step

FREE = replace(published_constants().of("hopper"), hop_s=0.0, contention=0.0)
NOTHING = {"forward": 0.0, "backward": 0.0}
LLAMA = "llama3-8b"


def one(**changes: object) -> Job:
    asked = {
        "model": LLAMA,
        "accelerator": "h100",
        "seq_length": 65536,
        "global_batch_size": 8,
        "cp": 4,
    } | changes
    return training_step(**asked).job()  # type: ignore[arg-type]


def facts(kind: str, **others: float) -> TimeFacts:
    stated = (("cp_comm_type", kind), *others.items())
    said = Said(stack="megatron-core", facts=stated)
    found = software(said, device_named("h100"), model(LLAMA), "bf16", False).time
    assert found is not None
    return found


def nvlink(constants: Constants = FREE) -> float:
    return 450e9 * float(constants.link_efficiency)


# Published


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_a_ring_takes_three_rounds_of_a_step_less_than_its_ranks(ranks: int) -> None:
    """transformerengine2026, context_parallel.py: c - 1 sends forward, 2 (c - 1) backward."""
    shard = 2 * 2 * 8 * 128 * 65536 // ranks
    found = context_s(one(cp=ranks), facts("p2p"), FREE, NOTHING)
    assert found["forward"] == pytest.approx((ranks - 1) * shard / nvlink(), rel=1e-12)
    assert found["backward"] == pytest.approx(2 * (ranks - 1) * shard / nvlink(), rel=1e-12)


def test_deepseek_v3_sends_320_values_a_head_and_token() -> None:
    """deepseek2024, Sec. 4.2: 128 heads, keys of 128 + 64, values of 128."""
    record = one(model="deepseek-v3", tp=8, cp=1)
    assert 2.0 * key_value_width(record, 8.0) == 128 * (128 + 64 + 128)


def test_ulysses_sends_queries_keys_values_and_the_result() -> None:
    """jacobs2023, Sec. 3.2: 4 N h / P a link without shared heads, so (c - 1)/c of that a rank."""
    record = replace(one(cp=8), num_query_groups=32.0)
    found = context_s(record, facts("a2a"), FREE, NOTHING)
    sent = 7 / 8 * 2 * 4 * 65536 * 4096 / 8
    assert found["forward"] == pytest.approx(sent / nvlink(), rel=1e-12)
    assert found["backward"] == found["forward"]


def test_pytorch_sends_gradients_in_32_bits() -> None:
    found = context_s(one(), facts("allgather"), FREE, NOTHING)
    assert found["backward"] == pytest.approx(3.0 * found["forward"], rel=1e-12)


# Limits


@pytest.mark.parametrize("kind", context_kinds())
def test_one_rank_sends_nothing(kind: str) -> None:
    found = context_s(one(cp=1), facts(kind), FREE, {"forward": 1.0, "backward": 2.0})
    assert found == NOTHING


def test_long_attention_hides_a_ring_and_not_a_gather() -> None:
    long = {"forward": 1.0, "backward": 2.5}
    assert context_s(one(), facts("p2p"), FREE, long) == NOTHING
    shown = context_s(one(), facts("all_gather"), FREE, long)
    assert shown == context_s(one(), facts("all_gather"), FREE, NOTHING)


def test_the_last_block_hides_nothing() -> None:
    record, core = one(cp=2), {"forward": 2e-4, "backward": 0.0}
    alone = context_s(record, facts("p2p"), FREE, NOTHING)["forward"]
    assert alone > 1e-4
    shown = context_s(record, facts("p2p"), FREE, core)["forward"]
    assert shown == pytest.approx(alone - 1e-4, rel=1e-12)


def test_a_ring_that_leaves_the_server_goes_at_one_adapters_rate() -> None:
    shard = 2 * 2 * 8 * 128 * 65536 / 16
    found = context_s(one(cp=16), facts("p2p"), FREE, NOTHING)
    assert found["forward"] == pytest.approx(15 * shard / (50e9 * FREE.network_efficiency))


def test_heads_are_exchanged_inside_the_server_and_rings_go_beyond() -> None:
    record = one(cp=16, tp=2)
    assert head_ranks(record, facts("a2a+p2p")) == 4.0
    assert head_ranks(record, facts("a2a")) == 16.0
    assert head_ranks(record, facts("p2p")) == 1.0
    assert head_ranks(record, facts("a2a+p2p", cp_head_ranks=2.0)) == 2.0


# Invariants


def test_ranks_beyond_the_key_heads_hold_copies() -> None:
    sent = {
        tp: context_s(one(tp=tp, cp=2, nvlink_domain=64), facts("all_gather"), FREE, NOTHING)
        for tp in (4, 8, 16, 32)
    }
    assert sent[8]["forward"] == pytest.approx(sent[4]["forward"] / 2.0, rel=1e-12)
    assert sent[16] == sent[8] == sent[32]


def test_copied_heads_of_keys_and_values_are_sent_to_every_rank() -> None:
    """Of 32 heads and 8 of keys: 80 heads' widths on 8 ranks, 128 on 32, for a share of tokens."""
    sent = {
        cp: context_s(one(cp=cp, nvlink_domain=64), facts("a2a"), FREE, NOTHING)["forward"]
        for cp in (8, 32)
    }
    assert sent[32] / sent[8] == pytest.approx((128 / 32 * 31 / 32) / (80 / 8 * 7 / 8), rel=1e-12)


@pytest.mark.parametrize("recompute", ["full", "selective"])
def test_attention_that_runs_again_sends_again(recompute: str) -> None:
    plain = context_s(one(), facts("all_gather"), FREE, NOTHING)
    found = context_s(one(recompute=recompute), facts("all_gather"), FREE, NOTHING)
    assert found["backward"] == pytest.approx(plain["backward"] + plain["forward"], rel=1e-12)
    by_op = facts("all_gather", recompute_per_op=1.0)
    kept = context_s(one(recompute=recompute), by_op, FREE, NOTHING)
    assert (kept == plain) is (recompute == "selective")


def test_a_stated_fact_comes_before_the_kinds_own() -> None:
    assert facts("p2p").overlap_cp == 1.0
    assert facts("p2p", overlap_cp=0.0).overlap_cp == 0.0


@pytest.mark.parametrize(
    ("stack", "ring"),
    [
        ("megatron-core", 1.0),
        ("torchtitan-2024", 0.0),
        ("torchtitan-2025", 0.0),
        ("torch-fsdp", 0.0),
    ],
)
def test_software_has_its_own_way(stack: str, ring: float) -> None:
    shape: ModelShape = model(LLAMA)
    found = software(Said(stack=stack), device_named("h100"), shape, "bf16", False).time
    assert found is not None
    assert found.cp_ring == ring


# Refusal


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(ConfigError, match="cp_comm_type 'ring'"):
        facts("ring")
