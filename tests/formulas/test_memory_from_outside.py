"""Parts of the memory that papers count, and sums of small whole numbers on paper."""

from __future__ import annotations

from typing import Any

import pytest
from made import job, memory_facts, small_job

from steptime.formulas.memory import activations, buffers, shared, stages, states, stored, total
from steptime.formulas.schedule import SCHEDULES

DUALPIPE = float(SCHEDULES.index("dualpipe"))


# ---- published


def test_bytes_of_adam_in_mixed_precision() -> None:
    # rajbhandari2020, Sec. 3.1: 4 for the weight and 8 for both moments; stage 1 shares them out,
    # over 4 ranks three bytes each.
    facts = memory_facts(master_bytes=4.0, moment_bytes=8.0)
    assert states.optimizer_bytes(job(), facts, 4.0) == 12.0
    assert states.optimizer_bytes(job(zero_stage=1.0), facts, 4.0) == 3.0
    # megatronlm2026, dist_optimizer.md: 6 + 12 / d beside 32-bit gradients.
    assert states.optimizer_bytes(job(zero_stage=1.0), facts, 6.0) == 12.0 / 6.0


def test_norms_and_inputs_of_a_gpt_layer() -> None:
    # korthikanti2022, Sec. 4.1: two norms of 2 s b h each; products read 2 bytes a value; without
    # flash attention softmax stays until the backward pass, unless it is recomputed (Sec. 5).
    facts = memory_facts(norm_input_bytes=2.0)
    assert activations.norm_token_bytes(small_job(), facts, 1.0) == 4.0 * 8.0
    assert activations.norm_token_bytes(small_job(), facts, 4.0) == 8.0
    assert activations.input_bytes(small_job(), facts) == 2.0
    assert activations.activated_bytes(small_job(), facts) == 2.0
    assert activations.normed_bytes(small_job(), facts) == 2.0
    tokens: Any = {"scores": 80.0}
    assert stored.kept_scores(small_job(), tokens) == 80.0
    assert stored.kept_scores(small_job(recompute_selective=1.0), tokens) == 0.0


def test_eight_bits_keep_a_byte() -> None:
    # micikevicius2022, Sec. 4; deepseek2024, Sec. 3.3.3: inputs of products, and of SwiGLU, kept
    # in 8 bits; recomputed norms keep nothing of what they give.
    facts = memory_facts(fp8_input_bytes=1.0, fp8_activation_bytes=1.0, recompute_norms=1.0)
    narrow = small_job(fp8=1.0)
    assert activations.input_bytes(narrow, facts) == 1.0
    assert activations.activated_bytes(narrow, facts) == 1.0
    assert activations.normed_bytes(narrow, facts) == 0.0


def test_a_v_comes_back_to_the_first_rank() -> None:
    # qi2024, Fig. 4: the last stage lies on the first rank of a V; deepseek2024, Sec. 3.2.1: both
    # ends lie on both ends of DualPipe.
    for name, vee in (("zb-v", 1.0), ("dualpipe-v", 1.0), ("1f1b", 0.0), ("dualpipe", 0.0)):
        assert shared.vee_shape(job(schedule=float(SCHEDULES.index(name)))) == vee
    plain: Any = {"vee": 0.0, "twice": 0.0}
    folded: Any = {"vee": 1.0, "twice": 0.0}
    twice: Any = {"vee": 0.0, "twice": 1.0}
    one = job(pp=4.0)
    ends = [
        total.rank_ends(one, terms, rank)
        for terms in (plain, folded, twice)
        for rank in (0.0, 1.0, 3.0)
    ]
    first_last = [(end["first"], end["last"]) for end in ends]
    assert first_last == [
        *((1.0, 0.0), (0.0, 0.0), (0.0, 1.0)),
        *((1.0, 1.0), (0.0, 0.0), (0.0, 0.0)),
        *((1.0, 1.0), (0.0, 0.0), (1.0, 1.0)),
    ]


def test_both_ends_of_llama_3_are_a_layer_short() -> None:
    # grattafiori2024, Sec. 3.3.2 and Table 4: 126 layers on 16 stages, 8 each but for both ends.
    one = job(num_layers=126.0, pp=16.0)
    assert stages.end_slots(one, memory_facts()) == {"embedding": 1.0, "head": 1.0}
    assert stages.end_slots(job(num_layers=128.0, pp=16.0), memory_facts())["head"] == 0.0
    cut: Any = {"stage_slots": 8.0, "shift": -1.0}
    assert [stages.cut_before(one, cut, rank) for rank in (1.0, 2.0, 15.0)] == [7.0, 15.0, 119.0]


# ---- a sum on paper: states


def test_when_weights_and_gradients_are_whole() -> None:
    facts = memory_facts(
        reshard_after_forward=1.0, reduce_each_microbatch=1.0, keep_in_pipeline=1.0
    )
    dropped = [states.drops_weights(job(zero_stage=stage), facts) for stage in (2.0, 3.0)]
    assert dropped == [0.0, 1.0]
    assert states.drops_weights(job(zero_stage=3.0, pp=2.0), facts) == 0.0
    scattered = [states.scatters_gradients(job(zero_stage=stage), facts) for stage in (1.0, 2.0)]
    assert scattered == [0.0, 1.0]
    assert states.scatters_gradients(job(zero_stage=2.0, pp=2.0), facts) == 0.0


def test_gradients_that_are_not_there_yet() -> None:
    facts = memory_facts(gradients_freed=1.0, reduce_each_microbatch=1.0)
    sizes = {"zero_stage": 2.0, "micro_batch_size": 1.0, "dp": 2.0}
    assert states.freed_gradients(job(**sizes, global_batch_size=2.0), facts) == 1.0
    # The gradients of the first of two micro-batches stay for the second.
    assert states.freed_gradients(job(**sizes, global_batch_size=4.0), facts) == 0.0


def test_a_rank_alone_sends_from_no_copy() -> None:
    facts = memory_facts(exchange_bytes=4.0)
    assert states.exchange_bytes(facts, 1.0) == 0.0
    assert states.exchange_bytes(facts, 2.0) == 4.0


# ---- a sum on paper: layers and ranks


def test_a_head_in_layers() -> None:
    # 8 x 100 over 2 x 8 x 8 + 2 x 8 x 4 + 3 x 8 x 10 = 432.
    assert stages.head_slots_by_cost(small_job()) == 800.0 / 432.0


def test_layers_of_both_ends_of_dualpipe() -> None:
    # Seven layers, the first dense, cut 2, 2, 2, 1: ranks 0 and 3 hold stages of 2 and of 1 layer,
    # so 2 each way; of the dense layer half counts.
    one = job(num_layers=7.0, pp=4.0, num_experts=8.0, schedule=DUALPIPE)
    terms: Any = {"stage_slots": 2.0, "shift": 0.0, "dense_layers": 1.0, "twice": 1.0}
    assert stages.held_layers(one, terms, 0.0) == {"layers": 2.0, "experts": 1.5}
    assert stages.held_layers(one, terms, 1.0) == {"layers": 2.0, "experts": 2.0}
    terms = terms | {"twice": 0.0}
    assert stages.held_layers(one, terms, 0.0) == {"layers": 2.0, "experts": 1.0}
    assert stages.held_layers(one, terms, 3.0) == {"layers": 1.0, "experts": 1.0}


def test_parameters_of_a_rank() -> None:
    # Two dense layers of 10, three mixtures of 4 with experts of 100; the embedding has 50.
    one = job(hidden_size=8.0, learned_positions=16.0)
    terms: Any = {"dense_slice": 10.0, "mixture_slice": 4.0, "expert_slice": 100.0}
    terms |= {"embedding_slice": 50.0, "twice": 0.0}
    stage: Any = {"layers": 5.0, "experts": 3.0}
    first: Any = {"first": 1.0, "last": 0.0}
    middle: Any = {"first": 0.0, "last": 0.0}
    assert total.rank_parameters(one, terms, stage, middle) == {"other": 32.0, "routed": 300.0}
    # And 16 positions of 8.
    assert total.rank_parameters(one, terms, stage, first)["other"] == 32 + 50 + 128
    twice = total.rank_parameters(one, terms | {"twice": 1.0}, stage, middle)
    assert twice == {"other": 64.0, "routed": 600.0}


RANK: dict[str, Any] = {
    **{"tokens": 3.0, "dense_token": 20.0, "experts_token": 50.0, "mixture_token": 50.0},
    **{"again_token": 7.0, "checkpoint": 2.0, "boundary": 4.0, "embedded": 1.0, "sent": 5.0},
}


def test_activations_of_a_rank() -> None:
    # A dense layer of 20 and a mixture of 50, 1 for the embedding, 5 that the stage sends: 76 for
    # each of two micro-batches; scores of 7 at work. Three tokens.
    terms: Any = RANK
    stage: Any = {"layers": 2.0, "experts": 1.0}
    first: Any = {"first": 1.0, "last": 0.0}
    last: Any = {"first": 0.0, "last": 1.0}
    found = total.rank_activations(small_job(), memory_facts(), terms, stage, first, 2.0)
    assert found == 3 * (2 * 76 + 7)
    # The last stage embeds nothing, and has the final norm's input twice.
    found = total.rank_activations(small_job(), memory_facts(), terms, stage, last, 2.0)
    assert found == 3 * (2 * 75 + 7 + 8)
    # All recomputed: two inputs of 2, one layer at work of 50.
    full = small_job(recompute_full=1.0)
    facts = memory_facts(recompute_group=1.0)
    found = total.rank_activations(full, facts, terms, stage, first, 2.0)
    assert found == 3 * (2 * (4 + 6) + 50 + 7)


def test_buffers_of_a_rank() -> None:
    # Messages of 9, what is whole of 28, tokens on their way of 6, work space beyond the logits.
    terms: Any = {"moment": 9.0, "dispatch": 6.0, "work": 40.0}
    mixture: Any = {"layers": 2.0, "experts": 1.0}
    dense: Any = {"layers": 2.0, "experts": 0.0}
    assert total.rank_buffers(terms, mixture, 0.0, 28.0) == 9 + 28 + 6 + 40
    assert total.rank_buffers(terms, dense, 0.0, 28.0) == 9 + 28 + 40
    assert total.rank_buffers(terms, dense, 25.0, 28.0) == 9 + 28 + 15


@pytest.mark.parametrize(
    ("shared", "stage", "last", "largest", "held"),
    [
        # A mixture layer with its experts, or without where no other rank has them: then the
        # dense layer of 8 is larger. On the last rank the matrix of 30 is.
        ((1.0, 1.0), (2.0, 1.0), 0.0, 14.0, 100.0),
        ((1.0, 0.0), (2.0, 2.0), 0.0, 4.0, 60.0),
        ((1.0, 0.0), (2.0, 1.0), 0.0, 8.0, 60.0),
        ((0.0, 1.0), (2.0, 1.0), 1.0, 10.0, 40.0),
        ((1.0, 1.0), (2.0, 0.0), 1.0, 30.0, 100.0),
        ((0.0, 0.0), (2.0, 1.0), 1.0, 0.0, 0.0),
    ],
)
def test_what_is_whole_for_a_moment(
    shared: tuple[float, float],
    stage: tuple[float, float],
    last: float,
    largest: float,
    held: float,
) -> None:
    # 2 bytes a weight of up to 3 layers at once, 4 a gradient of one; 60 and 40 parameters in all.
    whole: Any = {"weight": 2.0, "gradient": 4.0, "shared": shared[0], "routed_shared": shared[1]}
    terms: Any = {"mixture_slice": 4.0, "expert_slice": 10.0, "dense_slice": 8.0}
    terms |= {"embedding_slice": 30.0}
    layers: Any = {"layers": stage[0], "experts": stage[1]}
    ends: Any = {"first": 0.0, "last": last}
    count: Any = {"other": 60.0, "routed": 40.0}
    facts = memory_facts(gathered_layers=3.0)
    found = total.whole_bytes(facts, terms, whole, layers, ends, count)
    assert found == 2 * min(3 * largest, held) + 4 * largest


def test_a_rank_in_all() -> None:
    # One rank, one dense layer: 10 + 50 parameters and a last norm of 8, of 18 bytes; one
    # micro-batch of 3 tokens keeps 20 + 1, 7 at work and 8 for the final norm; logits of 11.
    one = small_job(num_layers=1.0, tied=1.0)
    terms: Any = RANK | {"sent": 0.0, "base": 1.0, "slope": 0.0, "micro_batches": 1.0}
    terms |= {"stage_slots": 1.0, "shift": 0.0, "dense_layers": 1.0, "twice": 0.0, "vee": 0.0}
    terms |= {
        "dense_slice": 10.0,
        "mixture_slice": 0.0,
        "expert_slice": 0.0,
        "embedding_slice": 50.0,
    }
    terms |= {"state": 18.0, "routed_state": 0.0, "freed": 0.0, "routed_freed": 0.0}
    terms |= {"moment": 0.0, "dispatch": 0.0, "work": 15.0, "logits": 11.0}
    whole: Any = dict.fromkeys(("weight", "gradient", "shared", "routed_shared"), 0.0)
    facts = memory_facts(reserve_bytes=100.0, fragmentation=0.5)
    found = total.rank_terms(one, facts, terms, whole, 0.0)
    assert found["activations"] == 3 * (21 + 7 + 8)
    assert found["other"] == 68.0
    moving = 108 + 11 + 4
    assert found["total"] == 68 * 18 + moving + 100 + 0.5 * moving


@pytest.mark.parametrize(("tile", "share"), [(0.0, 1.0), (4.0, 0.25), (32.0, 1.0)])
def test_tokens_in_tiles(tile: float, share: float) -> None:
    one = small_job(micro_batch_size=1.0, seq_length=16.0)
    assert buffers.tile_share(one, memory_facts(tile_tokens=tile)) == share


def test_no_more_is_gathered_than_a_rank_has() -> None:
    # zhao2023, Sec. 3: two layers of 4 + 10 gathered at 2 bytes, gradients of one at 4; on the last
    # rank the head of 30 is larger; never more weights than the rank has.
    facts = memory_facts(gathered_layers=2.0)
    terms: Any = {"mixture_slice": 4.0, "expert_slice": 10.0, "dense_slice": 8.0}
    terms |= {"embedding_slice": 30.0}
    whole: Any = {"shared": 1.0, "routed_shared": 1.0, "weight": 2.0, "gradient": 4.0}
    stage: Any = {"layers": 2.0, "experts": 1.0}
    many: Any = {"other": 100.0, "routed": 50.0}
    few: Any = {"other": 5.0, "routed": 0.0}
    middle: Any = {"first": 0.0, "last": 0.0}
    last: Any = {"first": 0.0, "last": 1.0}
    asked = [(middle, many), (last, many), (middle, few)]
    found = [total.whole_bytes(facts, terms, whole, stage, ends, count) for ends, count in asked]
    assert found == [2 * 28 + 4 * 14, 2 * 60 + 4 * 30, 2 * 5 + 4 * 14]
