"""What a layer moves and sends, and which ranks of a pipeline count, on paper."""

from __future__ import annotations

from typing import Any, cast

import pytest
from made import constants, job, memory_facts, small_job, time_facts

from steptime.formulas.flops import matrix_flop_per_token, score_width
from steptime.formulas.memory.stages import candidate_ranks
from steptime.formulas.memory.states import drops_weights
from steptime.formulas.memory.stored import offloaded_share
from steptime.formulas.memory.total import rank_parameters
from steptime.formulas.messages.context import ring_attention
from steptime.formulas.records import Job
from steptime.formulas.roofline import elementwise, layer
from steptime.formulas.roofline.matmul import product_s
from steptime.formulas.roofline.rates import gain
from steptime.formulas.roofline.shards import exchanges_s
from steptime.formulas.validity import device_fault, layout_fault

CONSTANTS = constants(contention=0.0)
# Of 4 layers one is dense; each token goes to one of 8 experts, 5 wide.
MIXTURE = {"num_experts": 8.0, "num_dense_layers": 1.0}
ONE_EACH = {"micro_batch_size": 1.0, "seq_length": 16.0}


# --- by hand: bytes moved beside products


def test_bytes_that_a_layer_moves() -> None:
    # 8 wide. Norms and sums 20 x 8; queries, keys and values, 8 each with keys for 1 of 2 heads
    # of 4: 8 + 2 x 4, read and written in 16 bits; gate and up of 10 read, their product written.
    one = small_job()
    moved = elementwise.layer_traffic_bytes(one, time_facts(), 1.0, 1.0)
    assert moved == {"forward": 160 + 4 * 16 + 6 * 10, "backward": 24 * 8 + 4 * 16 + 10 * 10}
    # Without a gate one of them is read less, going back three numbers of ten are gone.
    plain = elementwise.layer_traffic_bytes(small_job(gated=0.0), time_facts(), 1.0, 1.0)
    assert plain == {"forward": 160 + 4 * 16 + 4 * 10, "backward": 24 * 8 + 4 * 16 + 6 * 10}
    # Dropout keeps two masks of a byte, and going back reads gradients too: 2 and 10 x 8 more.
    dropped = elementwise.layer_traffic_bytes(one, time_facts(dropout=1.0), 1.0, 1.0)
    assert dropped == {"forward": 284 + 2 * 8, "backward": 356 + 10 * 8}


def test_bytes_that_plain_pytorch_moves_besides() -> None:
    # Two norms: 6 + 8 + 4 + 8 + 6 + 4 bytes where one kernel has 4; going back 4 + 8 + 6 + 8 + 16
    # + 8 + 12 + 6 where it has 6.
    norms = time_facts(plain_norms=1.0)
    moved = elementwise.layer_traffic_bytes(small_job(), norms, 1.0, 1.0)
    assert moved == {"forward": 284 + 2 * 8 * (36 - 4), "backward": 356 + 2 * 8 * (68 - 6)}
    # Unfused: heads are copied once more, 4 x 16; queries put back, 4 x 8; queries and keys
    # turned, 14 x (8 + 4); a gate's factor written and read, 4 x 10, going back 8 x 10.
    eager = elementwise.layer_traffic_bytes(small_job(), time_facts(eager=1.0), 1.0, 1.0)
    more = 64 + 32 + 14 * 12
    assert eager == {"forward": 284 + more + 40, "backward": 356 + more + 80}
    learned = small_job(learned_positions=1.0)
    still = elementwise.layer_traffic_bytes(learned, time_facts(eager=1.0), 1.0, 1.0)
    assert still["forward"] == 284 + 64 + 32 + 40


@pytest.mark.parametrize(
    ("changed", "inputs", "gradients"),
    [
        # 10 tokens: 8 into queries, 8 out of heads, 8 into the network and 10 inside; going back
        # 8, the 16 of queries, keys and values, gate and up of 10, and 8.
        ({}, 10 * (8 + 8 + 8 + 10), 10 * (8 + 16 + 20 + 8)),
        # A quarter of the layers is dense; in the others a copy of each token is 8 and 5 wide.
        (MIXTURE, 10 * (24 + 2.5) + 7.5 * (8 + 5), 10 * (32 + 5) + 7.5 * (8 + 10)),
    ],
)
def test_values_that_are_cast(changed: dict[str, float], inputs: float, gradients: float) -> None:
    # 6 bytes a value, at half of 1000 bytes a second.
    found = [
        layer.elementwise_s(small_job(**changed, fp8=fp8), time_facts(), CONSTANTS, 10.0)
        for fp8 in (0.0, 1.0)
    ]
    assert found[1]["forward"] - found[0]["forward"] == pytest.approx(6 * inputs / 500)
    assert found[1]["backward"] - found[0]["backward"] == pytest.approx(6 * gradients / 500)


def test_the_last_product_of_the_dense_layers() -> None:
    # 10 tokens, 10 wide inside and 8 out: a quarter of it, as a quarter of the layers is dense.
    facts = time_facts()
    whole = product_s(small_job(), CONSTANTS, 10.0, 8.0, 10.0, 50.0)
    for changed, share in (({}, 1.0), (MIXTURE, 0.25)):
        found = layer.products_s(small_job(**changed), facts, CONSTANTS, 10.0)
        assert found["down_forward"] == pytest.approx(share * whole)


def test_attention_that_stored_no_scores_makes_them_anew() -> None:
    # Five products going back for the two ahead.
    one = small_job(seq_length=20.0)
    facts = time_facts(flash=1.0, attention_flop_per_s=10.0)
    found = layer.core_s(one, facts, CONSTANTS, 20.0)
    assert 0.0 < found["backward"] == pytest.approx(2.5 * found["forward"])


# --- by hand: messages


def test_a_ring_ends_where_it_began() -> None:
    # 12 tokens over 4 devices, keys and values 4 wide in 2 bytes: 3 x 4 x 2 x 2. Three steps; on
    # the way back three more, and gradients take four to get home.
    assert [
        (one["phase"], one["count"], one["bytes"]) for one in ring_attention(1, 12, 4, 4, 2)
    ] == [
        ("forward", 3, 48),
        ("backward", 7, 48),
    ]


def test_copies_of_experts_and_of_the_rest_are_both_added_up() -> None:
    def copies(common: float, routed: float) -> float:
        one = small_job(dp=8.0, dp_replicate=2.0, ep=2.0, etp=1.0, zero_stage=2.0, **MIXTURE)
        return float(exchanges_s(one, CONSTANTS, 2.0, common, routed)["copies"])

    assert min(copies(100.0, 0.0), copies(0.0, 60.0)) > 0.0
    assert copies(100.0, 60.0) == pytest.approx(copies(100.0, 0.0) + copies(0.0, 60.0))


# --- by hand: shares and ranks


def test_a_layer_that_waits_in_the_host_is_no_more_than_the_layers() -> None:
    facts = memory_facts(offloaded_layers=3.0)
    assert [offloaded_share(facts, layers) for layers in (12.0, 3.0, 1.0)] == [0.25, 1.0, 1.0]
    one = memory_facts(offloaded_layers=1.0)
    assert [offloaded_share(one, layers) for layers in (1.0, 2.0)] == [1.0, 0.5]
    assert offloaded_share(memory_facts(), 12.0) == 0.0


def test_weights_stay_in_a_pipeline_that_keeps_them() -> None:
    facts = memory_facts(reshard_after_forward=1.0, keep_in_pipeline=1.0)
    sharded = {"zero_stage": 3.0, "dp": 8.0}
    assert drops_weights(job(**sharded), facts) == 1.0
    assert drops_weights(job(**sharded, pp=2.0), facts) == 0.0
    assert drops_weights(job(zero_stage=2.0, dp=8.0), facts) == 0.0


@pytest.mark.parametrize(
    ("slots", "longer"),
    # Stages of 4 ranks begin at 0, 2, 4, 6; at 0, 2, 4, 6 and end at 9; at 0, 2, 5, 7; and at 0,
    # 2, 5, 8: the first middle rank with a layer more, or the first middle one.
    [(8.0, 1.0), (9.0, 3.0), (10.0, 1.0), (11.0, 1.0)],
)
def test_ranks_one_of_which_holds_the_most(slots: float, longer: float) -> None:
    shared: Any = {"slots": slots, "stage_slots": slots / 4, "shift": 0.0, "dense_layers": 0.0}
    found = candidate_ranks(job(pp=4.0, num_layers=slots), cast(Any, shared))
    assert found == {"first": 0.0, "full": 1.0, "longer": longer, "last": 3.0}


def test_leading_dense_layers_put_off_the_first_full_rank() -> None:
    # Two layers a rank, three of them dense: rank 1 holds one, rank 2 the first two mixtures.
    shared: Any = {"slots": 8.0, "stage_slots": 2.0, "shift": 0.0, "dense_layers": 3.0}
    found = candidate_ranks(job(pp=4.0, num_layers=8.0, num_experts=8.0), cast(Any, shared))
    assert (found["full"], found["last"]) == (2.0, 3.0)


def test_vectors_of_the_two_ends() -> None:
    # 8 wide: 12 rows of positions on the first rank, the last norm's factors on the last.
    shared: Any = dict.fromkeys(("dense_slice", "mixture_slice", "expert_slice", "twice"), 0.0)
    shared["embedding_slice"] = 0.0
    one = job(hidden_size=8.0, learned_positions=12.0, pp=2.0)
    stage: Any = {"layers": 2.0, "experts": 0.0}
    for first, last, wanted in ((1.0, 0.0, 96.0), (0.0, 1.0, 8.0), (1.0, 1.0, 104.0)):
        ends: Any = {"first": first, "last": last}
        assert rank_parameters(one, shared, stage, ends)["other"] == wanted


def test_parameters_that_a_token_meets() -> None:
    # Attention has 8 x (8 + 8) in and 8 x 8 out, 192; the network 3 x 8 x 10, 240. In three of
    # four layers one expert of 3 x 8 x 5, 120, and 8 scores of 8, 64, stand for the network.
    assert matrix_flop_per_token(small_job()) == 2 * 4 * (192 + 240)
    assert matrix_flop_per_token(small_job(**MIXTURE)) == 2 * (432 + 3 * (192 + 120 + 64))


def test_sizes_that_must_divide() -> None:
    # 2 copies of micro-batches of 2 make up no batch of 6, which 8 is nearest to.
    one = small_job(dp=2.0, micro_batch_size=2.0, global_batch_size=6.0, seq_length=16.0)
    assert layout_fault(one) == {"rule": 1.0, "nearest": 8.0}
    assert layout_fault(small_job(**ONE_EACH | {"global_batch_size": 6.0}))["rule"] == 0.0
    # 2 x 3 x 4 devices hold the model: 24 and 48 do, and 30 and 37 are nearest to them.
    for devices, broken, nearest in ((24.0, 0.0, 24.0), (30.0, 1.0, 24.0), (37.0, 1.0, 48.0)):
        found = device_fault(devices, 2.0, 3.0, 4.0)
        assert found == {"broken": broken, "nearest": nearest}


def test_width_of_latent_attention() -> None:
    # 2 heads: 3 and 1 wide against keys, 5 wide for values.
    latent: Job = small_job(kv_lora_rank=2.0)
    assert score_width(latent) == 2 * (3 + 1 + 5)
    assert score_width(small_job()) == 2 * 2 * 4


@pytest.mark.parametrize(
    ("measured", "wider", "peak", "wider_peak", "wanted"),
    [
        (3.0, 2.0, 8.0, 2.0, 1.5),
        (0.5, 1.0, 8.0, 2.0, 0.5),
        (0.0, 2.0, 8.0, 2.0, 4.0),
        (0.0, 2.0, 0.0, 2.0, 1.0),
    ],
)
def test_gain_of_fewer_bits(
    measured: float, wider: float, peak: float, wider_peak: float, wanted: float
) -> None:
    assert gain(measured, wider, peak, wider_peak) == wanted
