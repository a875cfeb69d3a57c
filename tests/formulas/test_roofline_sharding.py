"""What data parallelism sends: weights, gradients and optimizer states, and over which ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from steptime.answer import Prediction, predict
from steptime.formulas.ranks import expert_data_ranks, shard_ranks
from steptime.formulas.roofline.shards import (
    exchanges_s,
    gathered_weights_s,
    microbatch_rounds,
    routed_layer_parameters,
    shown_s,
)
from steptime.formulas.roofline.sharing import (
    gradients_s,
    optimizer_s,
    stage_parameters,
)
from steptime.formulas.roofline.step import layer_parts
from steptime.formulas.roofline.vocabulary import vocabulary_s
from steptime.formulas.schedule import chunk_run
from steptime.inputs.constants import published_constants

CONSTANTS = published_constants().of("hopper")


def asked(**changes: Any) -> Prediction:
    given: dict[str, Any] = {
        "model": "mixtral-8x22b",
        "accelerator": "h100",
        "dp": 256,
        "ep": 8,
        "seq_length": 4096,
        "global_batch_size": 2048,
        "zero_stage": 3,
        "recompute": "none",
        "stack": "megatron-core",
    }
    return predict(**given | changes)


# ---- derived by hand: ring bytes over bandwidth, less what hides


@pytest.mark.parametrize(
    ("model", "ep", "routed", "shared", "routed_ranks", "routed_near", "shared_near"),
    [
        # 3 x 6144 x 16384 an expert, 8 of them over 8 ranks; attention 2 x 6144 x (6144 + 1024)
        ("mixtral-8x22b", 8, 3 * 6144 * 16384, 2 * 6144 * 7168, 32, 1, 8),
        ("mixtral-8x22b", 4, 2 * 3 * 6144 * 16384, 2 * 6144 * 7168, 64, 2, 8),
        # 3 x 4096 x 14336 an expert; attention 2 x 4096 x (4096 + 1024)
        ("mixtral-8x7b", 2, 4 * 3 * 4096 * 14336, 2 * 4096 * 5120, 128, 4, 8),
    ],
)
def test_fully_sharded_experts_cost_two_gathers_and_a_scatter_a_micro_batch(
    model: str,
    ep: int,
    routed: int,
    shared: int,
    routed_ranks: int,
    routed_near: int,
    shared_near: int,
) -> None:
    found = asked(model=model, ep=ep)
    device, facts = found.step.accelerator, found.software.time
    assert facts is not None
    nvlink = device.nvlink_bytes_per_s * CONSTANTS.link_efficiency
    network = device.network_bytes_per_s * CONSTANTS.network_efficiency

    def ring_s(size: float, ranks: int, near: int) -> float:
        domains = ranks // near
        inner = (ranks - 1) / ranks * size / nvlink
        return max(inner, (domains - 1) / domains * size / min(near * network, nvlink))

    def message_s(value_bytes: float) -> float:
        return ring_s(value_bytes * routed, routed_ranks, routed_near) + ring_s(
            value_bytes * shared, 256, shared_near
        )

    layer = layer_parts(found.record, facts, CONSTANTS, 8.0)
    gather_s, scatter_s = message_s(2.0), message_s(4.0)
    by_hand = 0.0
    for sent_s, work_s in (
        (gather_s, layer["forward"]),
        (gather_s + scatter_s, layer["backward"]),
    ):
        hidden_s = min(sent_s, work_s)
        by_hand += sent_s - hidden_s + CONSTANTS.contention * hidden_s
    layers = found.step.model.num_layers
    assert found.breakdown_s["data_parallel"] == pytest.approx(8 * layers * by_hand, rel=0.1)


def test_a_layer_is_gathered_over_the_ranks_that_hold_its_experts() -> None:
    found = asked(tp=2, dp=64, ep=8, etp=2, global_batch_size=512)
    assert expert_data_ranks(found.record) == 2 * 64 / (8 * 2)
    assert routed_layer_parameters(found.record) == 3 * 6144 * 16384 / 2


# ---- what software does with each micro-batch


def rounds(**changes: Any) -> Any:
    found = asked(**changes)
    assert found.software.time is not None
    return microbatch_rounds(found.record, found.software.time)


@pytest.mark.parametrize(
    ("stack", "zero", "pp", "expected"),
    [
        # torch2026, FSDP: dropped and reduced each time, but by stages of a pipeline
        ("torchtitan", 3, 1, (1, 1, 1)),
        ("torchtitan", 2, 1, (1, 0, 1)),
        ("torchtitan", 2, 4, (0, 0, 0)),
        ("torchtitan", 3, 4, (0, 1, 0)),
        # megatronlm2026: sharded gradients are reduced in every backward pass
        ("megatron-core", 2, 1, (0, 0, 1)),
        ("megatron-core", 2, 4, (0, 0, 1)),
        ("megatron-core", 3, 4, (1, 1, 1)),
        ("megatron-core", 1, 4, (0, 0, 0)),
    ],
)
def test_what_moves_with_each_micro_batch(
    stack: str, zero: int, pp: int, expected: tuple[int, int, int]
) -> None:
    found = rounds(
        model="llama3-70b", ep=1, dp=64, pp=pp, vpp=1, schedule="1f1b", stack=stack, zero_stage=zero
    )
    assert (found["forward"], found["backward"], found["scatter"]) == expected


def test_sharded_gradients_cost_a_scatter_a_micro_batch_and_no_gather() -> None:
    dense = {"model": "llama3-70b", "ep": 1, "dp": 64, "tp": 8, "global_batch_size": 1024}
    once, each, all_of_it = (asked(**dense, zero_stage=stage) for stage in (1, 2, 3))
    sent = [found.breakdown_s["data_parallel"] for found in (once, each, all_of_it)]
    assert sent[0] < sent[1] < sent[2]
    facts = each.software.time
    assert facts is not None
    layer = layer_parts(each.record, facts, CONSTANTS, 16.0)
    hides = gathered_weights_s(each.record, facts, CONSTANTS, layer["forward"], layer["backward"])
    size = exchanges_s(each.record, CONSTANTS, 4.0, 855638016 / 8, 0.0)["shards"]
    # 2 x 8192 x (8192 + 1024) + 3 x 8192 x 28672 parameters a layer
    assert hides["forward"] == 0.0
    assert hides["backward"] == pytest.approx(shown_s(CONSTANTS, size, layer["backward"]), rel=1e-9)


def test_a_pipeline_of_fsdp_holds_whole_weights_and_gradients() -> None:
    piped = {"model": "llama3-70b", "ep": 1, "dp": 16, "pp": 4, "vpp": 1, "schedule": "1f1b"}
    titan = asked(**piped, stack="torchtitan", zero_stage=2).memory.fullest
    kept, sharded = titan.parts_bytes, titan.parameters
    assert kept["weights"] == pytest.approx(2.0 * sharded)
    assert kept["gradients"] == pytest.approx(4.0 * sharded)
    flat = piped | {"pp": 1, "schedule": "1f1b"}
    alone = asked(**flat, stack="torchtitan", zero_stage=2).memory.fullest
    assert alone.parts_bytes["gradients"] == pytest.approx(4.0 * alone.parameters / 16)


def test_copies_are_added_up_once_a_step_or_with_each_micro_batch() -> None:
    found = asked(model="llama3-70b", ep=1, dp=64, dp_replicate=8, zero_stage=3)
    facts = found.software.time
    assert facts is not None
    each = replace(facts, copies_each_microbatch=1.0)
    work = {"forward_s": 0.0, "backward_s": 0.0}
    sent = [
        gathered_weights_s(found.record, one, CONSTANTS, **work)["backward"]
        for one in (facts, each)
    ]
    copies = exchanges_s(found.record, CONSTANTS, facts.sent_gradient_bytes, 855638016.0, 0.0)
    assert sent[1] - sent[0] == pytest.approx(copies["copies"], rel=1e-9)


# ---- optimizer states and mirrors


def test_the_optimizer_of_experts_is_shared_by_those_that_hold_them() -> None:
    found = asked(zero_stage=1)
    facts = found.software.time
    assert facts is not None
    one = stage_parameters(found.record, 56.0)
    moved = (26.0 + 8.0) * (one["shared"] / 256 + one["routed"] / 32)
    rate = found.step.accelerator.hbm_bytes_per_s * CONSTANTS.hbm_efficiency
    assert optimizer_s(found.record, facts, CONSTANTS, 56.0) == pytest.approx(moved / rate)


def test_mirrors_share_optimizer_states_and_exchange_gradients() -> None:
    mirrored = {
        "model": "deepseek-v3",
        "accelerator": "h800",
        "dp": 8,
        "pp": 16,
        "ep": 8,
        "global_batch_size": 960,
        "zero_stage": 1,
    }
    two = asked(**mirrored, schedule="dualpipe")
    one = asked(**mirrored, schedule="zb-h1")
    assert shard_ranks(two.record) == 2 * shard_ranks(one.record) == 16
    # A middle rank: both stages' states over both mirrors are as much as one stage's over one.
    bytes_of = [found.memory.ranks[7].parts_bytes for found in (two, one)]
    assert bytes_of[0]["optimizer"] == pytest.approx(bytes_of[1]["optimizer"], rel=0.01)
    assert bytes_of[0]["weights"] == pytest.approx(2.0 * bytes_of[1]["weights"], rel=0.01)
    facts = two.software.time
    assert facts is not None
    shared = exchanges_s(two.record, CONSTANTS, 4.0, 1e9, 0.0)["shards"]
    alone = exchanges_s(one.record, CONSTANTS, 4.0, 1e9, 0.0)["shards"]
    assert shared > alone


# ---- a split vocabulary


def test_a_split_vocabulary_is_added_up_and_its_loss_takes_three_sums() -> None:
    found = asked(model="llama3-70b", ep=1, tp=8, dp=32, sequence_parallel=True)
    facts = found.software.time
    assert facts is not None
    ends = vocabulary_s(found.record, facts, replace(CONSTANTS, hop_s=0.0), 4096.0)
    rate = found.step.accelerator.nvlink_bytes_per_s * CONSTANTS.link_efficiency
    # Two rings of 4096 x 8192 values of 2 bytes, 7/8 of them sent.
    assert ends["first"] == pytest.approx(2 * 7 / 8 * 4096 * 8192 * 2 / rate)
    assert ends["last"] - ends["first"] == pytest.approx(3 * 2 * 7 / 8 * 4096 * 4 / rate)
    alone = asked(model="llama3-70b", ep=1, tp=1, dp=32)
    assert alone.software.time is not None
    none = vocabulary_s(alone.record, alone.software.time, CONSTANTS, 4096.0)
    assert none == {"first": 0.0, "last": 0.0}


@pytest.mark.parametrize(
    ("vpp", "schedule", "batch", "passes"),
    [
        # One chunk has its last micro-batch alone.
        (1, "1f1b", 16 * 16, 1.0),
        # 12 chunks in turn, 8 micro-batches a round: 11 rounds of a 12th, and one 12th more.
        (12, "interleaved-1f1b", 16 * 16, (11 * 8 + 1) / 12),
        # A round is no longer than the step.
        (12, "interleaved-1f1b", 6 * 16, (11 * 6 + 1) / 12),
    ],
)
def test_chunks_in_turn_leave_their_rounds_for_gradients_to_hide_behind(
    vpp: int, schedule: str, batch: int, passes: float
) -> None:
    given = {"model": "gpt3-175b", "ep": 1, "tp": 4, "pp": 8, "dp": 16, "zero_stage": 1}
    found = asked(**given, vpp=vpp, schedule=schedule, global_batch_size=batch)
    job, stack = found.record, found.software.time
    run = chunk_run(job.schedule, job.pp, batch / 16)
    assert ((vpp - 1) * run + 1) / vpp == pytest.approx(passes)
    shared = replace(stack, overlap_dp=1.0, overlap_plain_dp=0.0)
    free = replace(CONSTANTS, hop_s=0.0, contention=0.0)
    all_s = gradients_s(job, replace(shared, overlap_dp=0.0), free, 12.0, 0.0, 0.0)
    # Passes that outlast half of the messages leave the other half, and contention its share.
    half_s = 0.5 * all_s / passes
    assert gradients_s(job, shared, free, 12.0, 0.0, half_s) == pytest.approx(0.5 * all_s)
    busy = replace(free, contention=0.4)
    assert gradients_s(job, shared, busy, 12.0, 0.0, half_s) == pytest.approx(0.7 * all_s)
    # However long they are, the last layer's part shows.
    assert gradients_s(job, shared, free, 12.0, 0.0, 9.0 * all_s) == pytest.approx(all_s / 12.0)
