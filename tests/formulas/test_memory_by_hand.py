"""The parts of the memory model on paper: a model 8 wide and a micro-batch of 8 tokens."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made import memory_facts, small_job

from steptime.formulas import traffic
from steptime.formulas.memory import (
    activations,
    buffers,
    parameters,
    rank_memory_bytes,
    states,
    stored,
)
from steptime.formulas.records import Job, MemoryParts
from steptime.formulas.validity import broken_rules, layout_fault, layout_rule


def record(**changed: float) -> Job:
    """Return a mixture of 8 experts, 5 wide, 2 sequences of 12 tokens over 3 ranks."""
    numbers = {
        **{"num_experts": 8.0, "top_k": 2.0, "num_shared_experts": 1.0},
        **{"seq_length": 12.0, "micro_batch_size": 2.0, "global_batch_size": 24.0},
        **{"cp": 3.0, "pp": 2.0, "dp": 4.0, "ep": 4.0},
    }
    return small_job(**(numbers | changed))


# --- by hand: parameters


def test_attention_by_hand() -> None:
    # Queries and output 2 x 8 x 4 x 2 heads, keys and values 2 x 8 x 4.
    assert parameters.attention_slice(record()) == 128 + 64
    # Half of the heads, but a whole head of keys and values.
    assert parameters.attention_slice(record(tp=2.0)) == 64 + 64
    assert parameters.attention_slice(record(num_query_groups=2.0)) == 128 + 128
    # Latent: queries 8 x 4 x 2; in, 8 x (5 + 1); out, 5 x (3 + 5) and 8 x 5 a head.
    latent = record(kv_lora_rank=5.0)
    assert parameters.attention_slice(latent) == 64 + 48 + 2 * 80
    # Queries through a rank of 3: 8 x 3 and 3 x 4 x 2; one head of two here.
    latent = replace(latent, q_lora_rank=3.0)
    assert parameters.attention_slice(latent) == 24 + 24 + 48 + 160
    latent = replace(latent, tp=2.0)
    assert parameters.attention_slice(latent) == 24 + 12 + 48 + 80


def test_layers_by_hand() -> None:
    assert parameters.vector_slice(record()) == 16
    # Two norms with a bias, two biases of 8, and (3 x 8 + 10) split.
    assert parameters.vector_slice(record(gated=0.0, tp=2.0)) == 48 + 17
    assert parameters.dense_layer_slice(record()) == 192 + 3 * 80 + 16
    assert parameters.dense_layer_slice(record(tp=2.0)) == 128 + 120 + 16
    # A shared expert of 3 x 8 x 5 and a router of 8 x 8.
    assert parameters.mixture_layer_slice(record()) == 192 + 120 + 64 + 16
    assert parameters.mixture_layer_slice(record(tp=2.0)) == 128 + 60 + 64 + 16
    # 2 of 8 experts here, or half of each.
    assert parameters.expert_layer_slice(record()) == 240
    assert parameters.expert_layer_slice(record(etp=2.0)) == 120
    assert parameters.embedding_slice(record(tp=2.0)) == 400


@pytest.mark.parametrize(
    ("first", "last", "tied", "copies"),
    [(1, 0, 0, 1), (0, 1, 1, 1), (1, 1, 0, 2), (1, 1, 1, 1), (0, 0, 1, 0)],
)
def test_copies_of_the_vocabulary(first: float, last: float, tied: float, copies: float) -> None:
    assert parameters.embedding_copies(record(tied=tied), first, last) == copies


FACTS = memory_facts(
    logit_bytes=10.0, whole_sequences=1.5, expert_imbalance=1.5, dispatch_bytes=2.0
)


# --- by hand: what is there for a moment


def test_buffers_by_hand() -> None:
    job = record()
    # 2 x 12 / 3 tokens.
    assert buffers.tokens(job) == 8.0
    assert buffers.logit_bytes(record(tp=2.0), FACTS) == 8 * 50 * 10
    # In and out, forward and back: 4 of 2 x 8 x 8 bytes, in 2 slices.
    assert buffers.message_bytes(job, 2.0) == 4 * 64
    assert buffers.message_bytes(record(pp=1.0), 2.0) == 0.0
    # One and a half sequences of 2 x 8 x 8.
    assert buffers.gathered_sequence_bytes(record(tp=2.0, sequence_parallel=1.0), FACTS) == 192
    assert buffers.gathered_sequence_bytes(record(sequence_parallel=1.0), FACTS) == 0.0
    assert buffers.gathered_sequence_bytes(record(tp=2.0), FACTS) == 0.0
    # Keys and values, 2 bytes, of a head of 4 and all 24 tokens.
    assert buffers.gathered_keys_bytes(job) == 4 * 4 * 24
    assert buffers.gathered_keys_bytes(record(num_query_groups=6.0, tp=2.0)) == 4 * 12 * 24
    assert buffers.gathered_keys_bytes(record(cp=1.0)) == 0.0
    # 8 tokens to 2 experts each, half as many again: 24 copies of 8, out and back, 2 bytes.
    assert buffers.dispatch_bytes(job, FACTS) == 4 * 24 * 8
    assert buffers.dispatch_bytes(record(tp=4.0, etp=2.0), FACTS) == 4 * 24 * 8 / 2
    assert buffers.dispatch_bytes(record(ep=1.0), FACTS) == 0.0
    # Out in 8 bits, back in 16.
    assert buffers.dispatch_bytes(job, replace(FACTS, dispatch_bytes=1.0)) == 3 * 24 * 8
    assert buffers.moment_bytes(job, FACTS, 2.0) == 4 * 64 + 384


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        # 8 tokens, 2 bytes, gate and up: of a network of 10, or of 2 experts of 5 or 6.
        ({}, 8 * 2 * 2 * 10),
        ({"expert_ffn_hidden_size": 6.0}, 8 * 2 * 2 * 12),
        ({"expert_ffn_hidden_size": 6.0, "num_experts": 0.0}, 8 * 2 * 2 * 10),
        ({"gated": 0.0, "tp": 2.0}, 8 * 2 * 10 / 2),
    ],
)
def test_work_space_by_hand(changed: dict[str, float], wanted: float) -> None:
    assert buffers.work_bytes(record(**changed), FACTS) == wanted
    # Two of its 8 tokens at a time.
    tiled = replace(FACTS, tile_tokens=2.0)
    assert buffers.work_bytes(record(**changed), tiled) == wanted / 4
    assert buffers.work_bytes(record(**changed), replace(FACTS, tile_tokens=9.0)) == wanted


# --- by hand: what waits for the backward pass


@pytest.mark.parametrize(
    ("full", "layers", "wanted"),
    [(0.0, 0.0, 0.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.25), (1.0, 2.0, 0.5), (1.0, 9.0, 1.0)],
)
def test_share_that_is_recomputed(full: float, layers: float, wanted: float) -> None:
    facts = memory_facts(recompute_layers=layers)
    assert stored.recomputed_share(record(recompute_full=full), facts, 4.0) == wanted


@pytest.mark.parametrize(("layers", "wanted"), [(0.0, 0.0), (1.0, 0.25), (3.0, 0.75), (9.0, 1.0)])
def test_share_that_is_offloaded(layers: float, wanted: float) -> None:
    assert stored.offloaded_share(memory_facts(offloaded_layers=layers), 4.0) == wanted


def test_layers_that_are_kept_by_hand() -> None:
    per_token = {"attention": 10.0, "norms": 2.0, "scores": 7.0, "feed_forward": 20.0}
    per_token |= {"experts": 40.0}
    kept = stored.layer_token_bytes(record(), per_token)
    assert kept == {"dense": 39.0, "experts": 59.0, "again": 0.0}
    dropped = stored.layer_token_bytes(record(recompute_selective=1.0), per_token)
    assert dropped == {"dense": 32.0, "experts": 52.0, "again": 7.0}


@pytest.mark.parametrize(
    ("full", "recomputed", "offloaded", "layers", "checkpoints", "at_work"),
    [
        # 3 dense layers of 30 bytes a token and one of 50.
        (0.0, 0.0, 0.0, 140.0, 0.0, 4.0),
        # All again, from inputs of 6 each; at work, two of the heaviest.
        (1.0, 0.0, 0.0, 0.0, 24.0, 2 * 50.0 + 4.0),
        (1.0, 1.0, 0.0, 105.0, 6.0, 2 * 50.0 + 4.0),
        # One layer waits in the host, or three: one or two come back.
        (0.0, 0.0, 1.0, 105.0, 0.0, 50.0 + 4.0),
        (0.0, 0.0, 3.0, 35.0, 0.0, 2 * 50.0 + 4.0),
        # Recomputed and on the host: inputs wait there, and one or two of them come back.
        (1.0, 0.0, 1.0, 0.0, 18.0, 2 * 50.0 + 6.0 + 4.0),
        (1.0, 0.0, 4.0, 0.0, 0.0, 2 * 50.0 + 2 * 6.0 + 4.0),
    ],
)
def test_what_a_rank_keeps_by_hand(
    full: float,
    recomputed: float,
    offloaded: float,
    layers: float,
    checkpoints: float,
    at_work: float,
) -> None:
    facts = memory_facts(
        recompute_layers=recomputed, offloaded_layers=offloaded, recompute_group=2.0
    )
    shared = {"checkpoint": 6.0, "dense_token": 30.0, "experts_token": 50.0}
    shared |= {"mixture_token": 50.0, "again_token": 4.0}
    stage = {"layers": 4.0, "experts": 1.0}
    job = record(recompute_full=full)
    found = stored.stored_token_bytes(job, facts, shared, stage)
    assert (found["layers"], found["checkpoints"]) == (layers, checkpoints)
    again = stored.at_work_token_bytes(job, facts, shared, stage, found["share"])
    assert again == at_work
    # Without experts the heaviest layer is a dense one; one layer has no group of two.
    plain = {"layers": 1.0, "experts": 0.0}
    assert stored.at_work_token_bytes(job, facts, shared, plain, full) == (
        30.0 * full + (6.0 if full else 30.0) * min(offloaded, 1.0) + 4.0
    )


# --- by hand: traffic and rules


def test_messages_between_stages_by_hand() -> None:
    # 2 x 12 / 3 tokens, 5 wide, 4 bytes, half of it; 6 micro-batches, 2 chunks, both ways.
    assert traffic.pipeline_message_bytes(2.0, 12.0, 3.0, 5.0, 2.0, 4.0) == 80.0
    assert traffic.pipeline_messages_per_step(6.0, 2.0) == 24.0
    assert traffic.activation_bytes(2.0, 12.0, 3.0, 5.0, 4.0) == 160.0
    # Keys and values of 2 x 12 tokens, 6 wide, 4 bytes, half of them.
    assert traffic.key_value_bytes(2.0, 12.0, 6.0, 2.0, 4.0) == 576.0
    assert traffic.gradient_bytes(120.0, 2.0, 3.0, 4.0) == 80.0
    assert traffic.tensor_all_reduces_per_layer(0.0) == 4.0
    assert traffic.tensor_all_reduces_per_layer(1.0) == 6.0


@pytest.mark.parametrize(
    ("changed", "rule", "nearest"),
    [
        ({}, 0.0, 0.0),
        # 25 over 4 ranks of 2: 24.
        ({"global_batch_size": 25.0}, 1.0, 24.0),
        ({"pp": 5.0}, 2.0, 4.0),
        ({"vpp": 3.0}, 3.0, 2.0),
        ({"tp": 3.0}, 4.0, 2.0),
        ({"cp": 5.0}, 5.0, 4.0),
        ({"num_experts": 0.0, "ep": 2.0}, 6.0, 1.0),
        ({"ep": 3.0}, 7.0, 2.0),
        # 12 ranks hold no groups of 8.
        ({"ep": 8.0}, 8.0, 6.0),
        # 4 data-parallel ranks make no 3 copies, but 2.
        ({"dp_replicate": 3.0}, 9.0, 2.0),
        # 3 + 2 are more than the 4 layers.
        ({"pp": 2.0, "first_stage_layers": 3.0, "last_stage_layers": 2.0}, 10.0, 0.0),
        ({"num_experts": 0.0, "ep": 1.0, "etp": 2.0}, 11.0, 1.0),
    ],
)
def test_rules_by_hand(changed: dict[str, float], rule: float, nearest: float) -> None:
    job = record(**changed)
    assert layout_rule(job) == rule
    assert layout_fault(job) == {"rule": rule, "nearest": nearest}
    broken = broken_rules(job)
    assert len(broken) == 11
    assert (1.0 in broken) == bool(rule)


def test_what_recomputation_starts_from_by_hand() -> None:
    def kept(job: Job, **facts: float) -> object:
        told = memory_facts(recompute_group=1.0, **facts)
        return stored.checkpoint_token_bytes(job, told, activations.token_bytes(job, told))

    # 8 values of 2 bytes; in 32 bits twice that.
    assert kept(record(), norm_input_bytes=2.0) == 16
    assert kept(record(), norm_input_bytes=4.0) == 32
    # And a key and a value of one head of 4, 2 bytes each; two ranks hold a copy of it each.
    assert kept(record(), norm_input_bytes=4.0, kept_keys=1.0) == 32 + 4 * 4
    assert kept(record(tp=2.0), norm_input_bytes=4.0, kept_keys=1.0) == 32 + 4 * 4


# --- by hand: what is there when


def test_gradients_take_the_place_of_activations_by_hand() -> None:
    one = {"zero_stage": 3.0, "pp": 1.0, "num_experts": 0.0, "ep": 1.0, "num_shared_experts": 0.0}
    facts = {"recompute_group": 1.0, "gradient_bytes": 4.0, "reduce_each_microbatch": 1.0}
    facts |= {"norm_input_bytes": 2.0, "logit_bytes": 10.0}

    def told(job: Job, freed: float) -> MemoryParts:
        return rank_memory_bytes(job, memory_facts(**facts, gradients_freed=freed), 0.0)

    job = record(**one, global_batch_size=8.0)
    kept, freed = told(job, 0.0), told(job, 1.0)
    least = min(kept["gradients"], kept["activations"] + kept["logits"])
    assert least > 0.0
    assert freed["gradients"] == kept["gradients"] - least
    assert freed["total"] == kept["total"] - least
    # A second micro-batch finds the first one's, and whole gradients stay.
    more = record(**one, global_batch_size=16.0)
    plain = record(**(one | {"zero_stage": 1.0}), global_batch_size=8.0)
    for other in (more, plain):
        assert told(other, 1.0) == told(other, 0.0)


def test_states_in_the_host_are_not_here() -> None:
    job = record(zero_stage=1.0)
    every, half = (states.state_terms(job, memory_facts(offloaded_states=n)) for n in (0.0, 0.5))
    assert {name: size / 2 for name, size in every.items()} == half
