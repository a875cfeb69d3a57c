"""The parts of the roofline model on paper: a layer's messages, floors and recomputation.

NVLink reaches half of 100 bytes a second, the network half of 10; a hop takes a second.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from made import constants, small_job, time_facts

from steptime.answer import Question, predict
from steptime.formulas.parameters import attention_parameters
from steptime.formulas.records import Job, Products
from steptime.formulas.roofline import attention, layer
from steptime.formulas.roofline.context import context_s
from steptime.formulas.roofline.modules import EXPANSION_SHARE
from steptime.formulas.roofline.step import layer_parts
from steptime.inputs.training_step import training_step

CONSTANTS = constants()


def record(**changed: float) -> Job:
    """Return a dense model, 8 wide, on four data-parallel ranks, two in a domain."""
    sizes = {"seq_length": 20.0, "micro_batch_size": 1.0, "global_batch_size": 24.0, "dp": 4.0}
    return small_job(**(sizes | changed))


def lasting(forward_s: float, backward_s: float) -> Products:
    """Return products that take so long; no message asks which of them do."""
    both = {"forward": forward_s, "backward": backward_s}
    return {**both, "attention_forward": 0.0, "down_forward": 0.0}


# --- by hand: a layer


def test_messages_of_a_layer_by_hand() -> None:
    # 160 bytes over 4 ranks of a domain: gathered or scattered in 3.4, reduced in 6.8.
    names = ("tensor", "tensor_back", "tensor_gathers", "tensor_last")

    def found(changed: dict[str, float], lasts: float = 1e3, **facts: float) -> list[float]:
        job = record(**{"tp": 4.0, "nvlink_domain": 4.0, "dp": 1.0} | changed)
        products = lasting(lasts, 2.0 * lasts)
        told = layer.messages_s(job, time_facts(**facts), CONSTANTS, 10.0, products)
        assert (told["expert"], told["expert_covered"]) == (0.0, 0.0)
        return [told[name] for name in names]

    split = {"sequence_parallel": 1.0}
    assert found({}) == pytest.approx([13.6, 13.6, 0.0, 0.0])
    assert found(split) == pytest.approx([13.6, 13.6, 6.8, 3.4])
    # Cast to half before they are gathered: 2.2.
    narrow = found(split | {"fp8": 1.0}, narrow_gathers=1.0)
    assert narrow == pytest.approx([11.2, 11.2, 4.4, 3.4])
    # 0.8 overlapped, of which a quarter shows and of 4 chunks one: 0.55 shows. Going back 0.9.
    part = found(split, overlap_tp=0.8)
    assert part == pytest.approx([0.55 * 13.6, 0.55 * 13.6, 0.55 * 6.8, 0.55 * 3.4])
    back = found(split, overlap_tp=0.8, overlap_tp_backward=0.9)
    assert back[1] == pytest.approx((1 - 0.9 * 0.75) * 13.6)
    # Over two domains: 80 at 10 and 3 hops, twice; 4 ranks wait 0.1 each, half each way.
    across = found({"nvlink_domain": 2.0}, across_wait_s=0.1)
    assert across[:2] == pytest.approx([44.2, 44.2])
    # Products of 2 s, and of 4 going back, are over before 0.6 of any of these messages is, and
    # hide three quarters of their own time; so do the weights' products, 2 of the 4 s.
    short = found(split, 2.0, overlap_tp=0.8)
    wanted = [13.6 - 0.75 * 2, 13.6 - 0.75 * 4, 6.8 - 0.75 * 2, 3.4 - 0.75 * 2]
    assert short == pytest.approx(wanted)
    assert found(split, 2.0, overlap_tp_backward=0.9)[1] == pytest.approx(13.6 - 0.75 * 2)


RING = {"cp_head_ranks": 1.0, "cp_ring": 1.0, "cp_gradient_bytes": 2.0}
CUT = {"cp": 2.0, "tp": 2.0, "num_query_groups": 2.0, "nvlink_domain": 4.0}
WIDE = {"cp": 4.0, "num_query_groups": 2.0}


@pytest.mark.parametrize(
    ("changed", "facts", "forward", "backward"),
    [
        # Keys and values of 20 tokens, 2 heads of 4, 2 bytes: 640 over 2 of tp; half at 50, a
        # hop: 4.2. They travel forward, again on the way back, and then their gradients.
        (CUT, {}, 4.2, 8.4),
        (CUT, {"cp_ring": 0.0}, 4.2, 8.4),
        # Gradients of 4 bytes: 320 at 50 and a hop.
        (CUT, {"cp_gradient_bytes": 4.0}, 4.2, 4.2 + 7.4),
        # Half of attention's 2 and 20 s goes on beside them: 1 s hides three quarters of
        # itself, 10 s all but a quarter.
        (CUT, {"overlap_cp": 1.0}, 4.2 - 0.75, 0.25 * 8.4),
        # What runs again sends again, unless its result was kept.
        (CUT | {"recompute_full": 1.0}, {}, 4.2, 12.6),
        (CUT | {"recompute_selective": 1.0}, {}, 4.2, 12.6),
        (CUT | {"recompute_selective": 1.0}, {"recompute_per_op": 1.0}, 4.2, 8.4),
        # A head for each of 4 ranks: 16 wide over 2 of tp, 2 x 8 x 10 tokens x 2 bytes, and as
        # much for queries and result of 8 each: 320 + 160, half at 50 and a hop.
        (CUT, {"cp_head_ranks": 2.0}, 5.8, 5.8),
        # A ring over two domains hands 3 x 160 on, one rank at 5 a second, in 3 hops; together
        # 320 cross at 10, and 3 hops.
        (WIDE, {}, 99.0, 198.0),
        (WIDE, {"cp_ring": 0.0}, 35.0, 70.0),
        # On one rank nothing is sent.
        ({"cp": 1.0}, {}, 0.0, 0.0),
    ],
)
def test_context_messages_by_hand(
    changed: dict[str, float], facts: dict[str, float], forward: float, backward: float
) -> None:
    core = {"forward": 2.0, "backward": 20.0}
    found = context_s(record(**changed), time_facts(**RING | facts), CONSTANTS, core)
    assert (found["forward"], found["backward"]) == pytest.approx((forward, backward))


def test_floors_by_hand() -> None:
    facts = time_facts(host_layer_s=0.05, stage_wait_s=0.1, across_wait_s=0.2)
    both = layer.floors_s(record(tp=4.0, pp=2.0), facts)
    assert (both["host"], both["staged"]) == pytest.approx((0.05, 0.05 + 0.4 + 0.8))
    inside = layer.floors_s(record(tp=4.0, pp=2.0, nvlink_domain=4.0), facts)
    assert inside["staged"] == pytest.approx(0.05 + 0.4)
    assert layer.floors_s(record(pp=2.0), facts)["staged"] == 0.05
    assert layer.floors_s(record(tp=4.0), facts)["staged"] == 0.05
    # Three launches of a layer are four where its forward pass runs again, in half of the layers
    # half as many more.
    again = record(recompute_full=1.0)
    assert layer.floors_s(again, facts)["host"] == pytest.approx(0.05 * 4 / 3)
    half = replace(facts, recompute_layers=2.0)
    assert layer.floors_s(again, half)["host"] == pytest.approx(0.05 * 7 / 6)


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        # 16 in, 8 out, 3 x 10: 54. Every second: keys 4, output 8, gate or up 10.
        ({}, 22 / 54),
        ({"sequence_parallel": 1.0}, 22 / 54),
        ({"sequence_parallel": 1.0, "tp": 2.0}, 14 / 54),
        ({"fp8": 1.0}, 44 / 54),
        ({"num_experts": 8.0}, 0.5),
        ({"gated": 0.0}, 12 / 44),
    ],
)
def test_products_that_run_again_by_hand(changed: dict[str, float], wanted: float) -> None:
    assert layer.again_products_share(record(**changed)) == pytest.approx(wanted)


def test_the_share_of_expansions_is_more_than_their_parameters() -> None:
    # DeepSeek-V3 (deepseek2024, Sec. 4.2): 128 heads of 128 and 64 dimensions, ranks 1536 and 512.
    asked = training_step(
        model="deepseek-v3", accelerator="h800", seq_length=4096, global_batch_size=1
    )
    expansions = 1536 * 128 * (128 + 64) + 512 * 128 * (128 + 128)
    share = expansions / attention_parameters(asked.job())
    assert share == pytest.approx(0.29, abs=0.005)
    assert share < EXPANSION_SHARE < 1.0


@pytest.mark.parametrize(
    ("changed", "facts", "wanted"),
    [
        ({}, {}, 0.0),
        ({"recompute_full": 1.0}, {}, 54.0 + 7.0 + 3.0),
        ({"recompute_full": 1.0}, {"early_stop": 1.0}, 44.0 + 7.0 + 3.0),
        ({"recompute_selective": 1.0}, {}, 7.0),
        ({"recompute_selective": 1.0}, {"recompute_per_op": 1.0}, 22.0 + 3.0),
        ({"kv_lora_rank": 6.0}, {"recompute_up_projection": 1.0}, 0.7 * 24.0),
        # Without latent attention there is nothing to expand.
        ({}, {"recompute_up_projection": 1.0}, 0.0),
        ({}, {"recompute_mlp": 1.0}, 10.0),
        # Where everything runs again, so do they, once.
        ({"recompute_full": 1.0}, {"recompute_mlp": 1.0}, 54.0 + 7.0 + 3.0),
        (
            {"recompute_full": 1.0, "kv_lora_rank": 6.0},
            {"recompute_up_projection": 1.0},
            54.0 + 7.0 + 3.0,
        ),
    ],
)
def test_what_runs_again_by_hand(
    changed: dict[str, float], facts: dict[str, float], wanted: float
) -> None:
    products = {"forward": 54.0, "down_forward": 10.0, "attention_forward": 24.0}
    found = layer.recomputed_s(
        record(**changed), time_facts(**facts), products, {"forward": 7.0}, {"forward": 3.0}
    )
    assert found == pytest.approx(wanted)


def test_scores_by_hand() -> None:
    # 20 keys in three layers. In the fourth a token sees 4, fewer at the start, 4 - 16/40 = 3.6
    # on average; all are counted twice, for the masked half: 7.2. On average 16.8. Two heads
    # of 4, two products: 16 wide; half of the heads here; 2 FLOP each.
    job = record(window_size=4.0, windowed_layers=1.0, tp=2.0)
    assert attention.score_flop(job, 10.0) == pytest.approx(2 * 10 * 16.8 * 16 / 2)
    # Latent: 2 x (3 + 1) for the scores, 2 x 5 for the values.
    job = replace(job, kv_lora_rank=6.0)
    assert attention.score_flop(job, 10.0) == pytest.approx(2 * 10 * 16.8 * 18 / 2)
    job = replace(job, window_size=50.0)
    assert attention.score_flop(job, 10.0) == 2 * 10 * 20 * 18 / 2


def test_stored_scores_are_all_made_within_a_window_too() -> None:
    narrow = record(window_size=4.0, windowed_layers=4.0, tp=2.0)
    facts = time_facts()
    whole = attention.stored_s(record(tp=2.0), facts, CONSTANTS, 10.0, 1e3)
    assert attention.stored_s(narrow, facts, CONSTANTS, 10.0, 1e3) == whole


# --- invariant: nothing of a layer is lost or counted twice


@pytest.mark.parametrize(
    "changed",
    [
        {"tp": 8, "dp": 8, "zero_stage": 3, "recompute": "full"},
        {"tp": 4, "cp": 2, "dp": 8, "recompute": "selective"},
        {"model": "mixtral-8x7b", "tp": 2, "ep": 8, "dp": 16, "recompute": "full"},
    ],
)
@pytest.mark.parametrize("stack", ["megatron-core", "torchtitan"])
def test_the_parts_of_a_layer_are_the_layer(changed: dict[str, object], stack: str) -> None:
    asked = {"model": "llama3-70b", "accelerator": "h100", "seq_length": 8192}
    asked |= {"global_batch_size": 64, **changed}
    step = training_step(**asked, stack=stack)  # type: ignore[arg-type]
    known = Question(step=step, predictor="roofline").known()
    one = known.software_of(step.job())
    parts = layer_parts(step.job(), one.time, known.constants, 8.0)
    kinds = "products attention elementwise recompute tensor context expert".split()
    weights = parts["weights_forward"] + parts["weights_backward"]
    found = sum(parts[name] for name in kinds) + weights
    assert found == pytest.approx(parts["total"], rel=1e-12)
    passes = parts["forward"] + parts["backward"] + weights
    assert passes == pytest.approx(parts["total"], rel=1e-12)


def test_a_prediction_is_its_parts() -> None:
    found = predict(
        model="llama3-8b", accelerator="h100", dp=8, seq_length=4096, global_batch_size=64
    )
    assert sum(found.breakdown_s.values()) == pytest.approx(found.step_time_s, rel=1e-12)
