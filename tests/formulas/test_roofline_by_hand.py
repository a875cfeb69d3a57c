"""The parts of the roofline model on paper: a device of 1000 bytes a second and small numbers.

NVLink reaches half of 100 bytes a second, the network half of 10; a hop takes a second. A group
with two ranks in each domain crosses at 10: half of two adapters.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from steptime.evidence.predict import predict
from steptime.formulas.roofline import attention, layer, links, rates, sharing, stages
from steptime.formulas.roofline.step import layer_parts
from steptime.inputs.constants import roofline_constants
from steptime.inputs.stack import STACK_FIELDS, layout_changes, stack_facts, stack_named
from steptime.inputs.training_step import training_step

CONSTANTS = SimpleNamespace(
    **{"link_efficiency": 0.5, "network_efficiency": 0.5, "hbm_efficiency": 0.5},
    **{"ampere_efficiency": 0.25, "hopper_efficiency": 0.5, "blackwell_efficiency": 0.75},
    **{"contention": 0.25, "hop_s": 1.0, "launch_s": 0.0, "host_launch_s": 0.0},
)


def record(**changed: float) -> SimpleNamespace:
    """Return a dense model, 8 wide, on four data-parallel ranks, two in a domain."""
    numbers = {
        **{"num_layers": 4.0, "hidden_size": 8.0, "gated": 1.0, "ffn_hidden_size": 10.0},
        **{"num_attention_heads": 2.0, "num_query_groups": 1.0, "head_dim": 4.0},
        **{"vocab_size": 100.0, "tied": 0.0, "window_size": 0.0, "windowed_layers": 0.0},
        **{"q_lora_rank": 0.0, "kv_lora_rank": 0.0, "qk_nope_head_dim": 3.0},
        **{"qk_rope_head_dim": 1.0, "v_head_dim": 5.0},
        **{"num_experts": 0.0, "num_dense_layers": 0.0, "top_k": 1.0},
        **{"num_shared_experts": 0.0, "expert_ffn_hidden_size": 5.0},
        **{"seq_length": 20.0, "micro_batch_size": 1.0, "global_batch_size": 24.0},
        **{"tp": 1.0, "cp": 1.0, "pp": 1.0, "vpp": 1.0, "dp": 4.0, "ep": 1.0, "etp": 1.0},
        **{"sequence_parallel": 0.0, "zero_stage": 0.0, "fp8": 0.0},
        **{"recompute_full": 0.0, "recompute_selective": 0.0},
        **{"matmul_flop_per_s": 100.0, "hbm_bytes_per_s": 1000.0, "num_sms": 0.0},
        **{"nvlink_bytes_per_s": 100.0, "nvlink_domain": 2.0, "network_bytes_per_s": 10.0},
    }
    return SimpleNamespace(**(numbers | changed))


def software(**changed: float) -> SimpleNamespace:
    """Return a stack on Hopper that overlaps nothing, with gradients of 4 bytes."""
    facts = dict.fromkeys(STACK_FIELDS, 0.0)
    facts |= {"hopper": 1.0, "power_scale": 1.0, "gradient_bytes": 4.0, "bucket_bytes": 1664.0}
    return SimpleNamespace(**(facts | changed))


# --- by hand: rates and links


def test_rates_by_hand() -> None:
    job = record(nvlink_domain=8.0)
    assert rates.ceiling_flop_per_s(job, software(), CONSTANTS) == 50.0
    assert rates.ceiling_flop_per_s(job, software(power_scale=0.5), CONSTANTS) == 25.0
    assert rates.ceiling_flop_per_s(job, software(hopper=0.0), CONSTANTS) == 25.0
    newest = software(hopper=0.0, blackwell=1.0)
    assert rates.ceiling_flop_per_s(job, newest, CONSTANTS) == 75.0
    eight = record(fp8=1.0)
    assert rates.product_flop_per_s(record(), software(), CONSTANTS) == 50.0
    assert rates.product_flop_per_s(eight, software(), CONSTANTS) == 100.0
    assert rates.product_flop_per_s(eight, software(scaled_products=0.25), CONSTANTS) == 80.0
    # 11 % of the products stay in 16 bits, the others take a quarter: 0.3325 of the time.
    four = rates.product_flop_per_s(eight, software(fp4=1.0), CONSTANTS)
    assert four == pytest.approx(50.0 / 0.3325)
    for ranks, inner, inside in ((16.0, 2.0, 4.0), (2.0, 2.0, 2.0), (4.0, 16.0, 1.0)):
        assert rates.ranks_inside(job, ranks, inner) == inside
    assert rates.inside_bytes_per_s(job, CONSTANTS) == 50.0
    assert rates.across_bytes_per_s(job, CONSTANTS, 2.0) == 10.0
    assert rates.across_bytes_per_s(job, CONSTANTS, 20.0) == 50.0


def test_collectives_over_two_levels_by_hand() -> None:
    job = record()
    # 800 bytes over 4 ranks in 2 domains: 600 at 50 inside, 400 at 10 across, 3 hops.
    assert links.gather_s(job, CONSTANTS, 800.0, 4.0, 2.0) == 40.0 + 3.0
    assert links.reduce_s(job, CONSTANTS, 800.0, 4.0, 2.0) == 80.0 + 6.0
    # In one domain: 400 at 50, and one start.
    assert links.gather_s(job, CONSTANTS, 800.0, 2.0, 2.0) == 8.0 + 1.0
    assert links.reduce_s(job, CONSTANTS, 800.0, 2.0, 2.0) == 16.0 + 2.0
    assert links.gather_s(job, CONSTANTS, 800.0, 1.0, 1.0) == 0.0
    assert links.reduce_s(job, CONSTANTS, 800.0, 1.0, 1.0) == 0.0
    # 8 ranks, all but two domains' worth inside: 700 at 50 is longer than 400 at 50.
    assert links.gather_s(job, CONSTANTS, 800.0, 20.0, 10.0) == pytest.approx(15.2 + 3.0)


# --- by hand: what data parallelism and the optimizer add


@pytest.mark.parametrize(
    ("zero", "facts", "forward_s", "backward_s", "wanted"),
    [
        # Two layers of 432 and a vocabulary of 800: 1664 parameters, 6656 bytes of gradients.
        # An all-reduce: 665.6 across, 6 hops; 4 buckets pass 2 domains each: 8.
        (0.0, {}, 60.0, 100.0, 679.6),
        (0.0, {"overlap_dp": 1.0}, 60.0, 100.0, 579.6),
        # At least the last layer's half shows.
        (0.0, {"overlap_dp": 1.0}, 60.0, 500.0, 339.8),
        # Scattered: 332.8 + 3; new weights of 3328 bytes gathered: 166.4 + 3; 2 buckets: 4.
        (1.0, {}, 60.0, 100.0, 509.2),
        (2.0, {}, 60.0, 100.0, 509.2),
        (1.0, {"overlap_dp": 1.0}, 60.0, 100.0, 349.2),
        # The whole gradients added up, though the optimizer is sharded.
        (1.0, {"gradient_all_reduce": 1.0}, 60.0, 100.0, 671.6 + 169.4 + 4.0),
        # One layer's weights, 43.2 + 3, and gradients, 86.4 + 3, at each end.
        (3.0, {}, 60.0, 100.0, 2 * 135.6),
    ],
)
def test_gradients_by_hand(
    zero: float, facts: dict[str, float], forward_s: float, backward_s: float, wanted: float
) -> None:
    job, stack = record(zero_stage=zero), software(**facts)
    found = sharing.gradients_s(job, stack, CONSTANTS, 2.0, forward_s, backward_s)
    assert found == pytest.approx(wanted)


def test_gradients_inside_a_domain_pass_no_other() -> None:
    # 2 ranks: 6656 at 50 and two starts, no domain for a bucket to pass.
    found = sharing.gradients_s(record(dp=2.0), software(), CONSTANTS, 2.0, 0.0, 0.0)
    assert found == pytest.approx(6656 / 50 + 2)


@pytest.mark.parametrize(
    ("zero", "forward_s", "backward_s", "wanted"),
    [
        # A gather of 46.2; on the way back one more and a scatter of 89.4: 135.6. A quarter of
        # what hides shows.
        (3.0, 40.0, 100.0, 6.2 + 35.6 + 0.25 * 140.0),
        (3.0, 50.0, 100.0, 35.6 + 0.25 * 146.2),
        (3.0, 50.0, 200.0, 0.25 * (46.2 + 135.6)),
        (2.0, 40.0, 100.0, 0.0),
    ],
)
def test_gathered_weights_by_hand(
    zero: float, forward_s: float, backward_s: float, wanted: float
) -> None:
    job = record(zero_stage=zero)
    found = sharing.gathered_weights_s(job, software(), CONSTANTS, forward_s, backward_s)
    assert found == pytest.approx(wanted)


def test_tied_embeddings_by_hand() -> None:
    # 100 x 8 x 4 bytes between two stages: alone in their domains at 5, or at 50 inside one.
    job = record(tied=1.0, pp=2.0)
    assert sharing.tied_s(job, software(), CONSTANTS) == pytest.approx(640.0 + 6.0)
    job.nvlink_domain = 8.0
    assert sharing.tied_s(job, software(), CONSTANTS) == pytest.approx(64.0 + 2.0)
    job.tp = 2.0
    job.nvlink_domain = 16.0
    assert sharing.tied_s(job, software(), CONSTANTS) == pytest.approx(32.0 + 2.0)
    assert sharing.tied_s(record(tied=1.0), software(), CONSTANTS) == 0.0
    assert sharing.tied_s(record(pp=2.0), software(), CONSTANTS) == 0.0


@pytest.mark.parametrize(("zero", "split"), [(0.0, 1.0), (1.0, 4.0), (3.0, 4.0)])
def test_the_optimizer_by_hand(zero: float, split: float) -> None:
    # 26 bytes and twice 4 for each of 1664 parameters, at half of 1000 a second.
    found = sharing.optimizer_s(record(zero_stage=zero), software(), CONSTANTS, 2.0)
    assert found == pytest.approx(34 * 1664 / split / 500)
    both = sharing.optimizer_s(record(zero_stage=zero, cp=2.0), software(), CONSTANTS, 2.0)
    assert both == pytest.approx(found / (2.0 if zero else 1.0))


# --- by hand: stages


def test_the_head_by_hand() -> None:
    # 10 tokens, 8 wide, 50 of 100 logits: 980 numbers of 2 bytes for each of three products,
    # and 6 bytes for each of 500 logits, at half of 1000 bytes a second; no arithmetic.
    job = record(tp=2.0, matmul_flop_per_s=1e300)
    found = stages.head_s(job, software(loss_bytes=6.0), CONSTANTS, 10.0)
    assert found == pytest.approx((3 * 1960 + 3000) / 500)


@pytest.mark.parametrize(
    ("pp", "staged", "host", "wanted"),
    [
        # 8 layers of 10 s and a head of 5 on two stages: the last is the slowest.
        (2.0, 0.0, 0.0, (4.0, 1.0, 0.0, 40.0)),
        # Held to 12 a layer both take 48, the first 8 of them for nothing; a host that needs
        # 11 a layer shows in the other.
        (2.0, 12.0, 11.0, (4.0, 0.0, 8.0, 4 * 11.0 + 5.0)),
        # One stage has them all.
        (1.0, 12.0, 11.0, (8.0, 1.0, 8 * 12.0 - 85.0, 0.0)),
    ],
)
def test_the_slowest_stage_by_hand(
    pp: float, staged: float, host: float, wanted: tuple[float, ...]
) -> None:
    floors = {"staged": staged, "host": host}
    found = stages.pace(record(num_layers=8.0, pp=pp), software(), 10.0, 5.0, floors)
    assert tuple(found[name] for name in ("layers", "heads", "held_s", "others_s")) == wanted


def test_layers_of_stages_by_hand() -> None:
    def cut(layers: float, pp: float, **facts: float) -> tuple[float, float]:
        found = stages.longest(record(num_layers=layers, pp=pp), software(**facts))
        return found["middle"], found["last"]

    assert cut(8.0, 2.0) == (4.0, 4.0)
    # 10 layers over 4 stages: 3, 3, 2, 2.
    assert cut(10.0, 4.0) == (3.0, 2.0)
    # 126 and two ends over 16: 8 each, the last with 7 and the head.
    assert cut(126.0, 16.0, edges_count=1.0) == (8.0, 7.0)
    # By parameters: a layer is 54 wide, the head 100: 100/54 of a layer. 8 layers and it over 2
    # stages are 4.93 each: the second begins at layer 4; over 4 stages, 2.46: at 2, 4 and 7.
    assert cut(8.0, 2.0, balance_by_cost=1.0) == (4.0, 4.0)
    assert cut(8.0, 4.0, balance_by_cost=1.0) == (3.0, 1.0)


@pytest.mark.parametrize(
    ("changed", "facts", "wanted"),
    [
        # 10 tokens x 8 x 2 bytes over 5 a second and a hop: 33; in 2 slices 17. 6 micro-batches
        # of 2 chunks and 3 to fill, both ways.
        ({}, {}, 2 * 15 * 33.0),
        ({"sequence_parallel": 1.0}, {}, 2 * 15 * 17.0),
        ({}, {"scattered_sends": 1.0}, 2 * 15 * 17.0),
        ({}, {"overlap_sends": 1.0}, 2 * 3 * 33.0),
        ({"vpp": 1.0}, {"overlap_sends": 1.0}, 2 * 9 * 33.0),
        # Inside a domain: 160 at 50.
        ({"nvlink_domain": 64.0}, {}, 2 * 15 * 4.2),
        ({"pp": 1.0}, {}, 0.0),
    ],
)
def test_sends_by_hand(changed: dict[str, float], facts: dict[str, float], wanted: float) -> None:
    job = record(**{"tp": 2.0, "pp": 4.0, "vpp": 2.0} | changed)
    assert stages.sends_s(job, software(**facts), CONSTANTS, 10.0, 6.0) == pytest.approx(wanted)


# --- by hand: a layer


def test_messages_of_a_layer_by_hand() -> None:
    # 160 bytes over 4 ranks of a domain: gathered or scattered in 3.4, reduced in 6.8.
    names = ("tensor", "tensor_back", "tensor_gathers", "tensor_last")

    def found(changed: dict[str, float], **facts: float) -> list[float]:
        job = record(**{"tp": 4.0, "nvlink_domain": 4.0, "dp": 1.0} | changed)
        told = layer.messages_s(job, software(**facts), CONSTANTS, 10.0)
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


def test_context_messages_by_hand() -> None:
    # Keys and values of 20 tokens, 2 heads of 4, 2 bytes: 640 over 2 of tp; half at 50, a hop,
    # and both ways.
    job = record(cp=2.0, tp=2.0, num_query_groups=2.0, nvlink_domain=4.0)
    found = layer.messages_s(job, software(), CONSTANTS, 10.0)
    assert found["context"] == pytest.approx(2 * (160 / 50 + 1))
    assert (found["expert"], found["expert_covered"]) == (0.0, 0.0)


def test_floors_by_hand() -> None:
    facts = software(host_layer_s=0.05, stage_wait_s=0.1, across_wait_s=0.2)
    both = layer.floors_s(record(tp=4.0, pp=2.0), facts)
    assert (both["host"], both["staged"]) == pytest.approx((0.05, 0.05 + 0.4 + 0.8))
    inside = layer.floors_s(record(tp=4.0, pp=2.0, nvlink_domain=4.0), facts)
    assert inside["staged"] == pytest.approx(0.05 + 0.4)
    assert layer.floors_s(record(pp=2.0), facts)["staged"] == 0.05
    assert layer.floors_s(record(tp=4.0), facts)["staged"] == 0.05


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


@pytest.mark.parametrize(
    ("changed", "facts", "wanted"),
    [
        ({}, {}, 0.0),
        ({"recompute_full": 1.0}, {}, 54.0 + 7.0 + 3.0),
        ({"recompute_full": 1.0}, {"early_stop": 1.0}, 44.0 + 7.0 + 3.0),
        ({"recompute_selective": 1.0}, {}, 7.0),
        ({"recompute_selective": 1.0}, {"recompute_per_op": 1.0}, 22.0 + 3.0),
        ({}, {"recompute_latent": 1.0}, 0.7 * 24.0),
        ({}, {"recompute_mlp": 1.0}, 10.0),
    ],
)
def test_what_runs_again_by_hand(
    changed: dict[str, float], facts: dict[str, float], wanted: float
) -> None:
    products = {"forward": 54.0, "down_forward": 10.0, "attention_forward": 24.0}
    found = layer.recomputed_s(
        record(**changed), software(**facts), products, {"forward": 7.0}, {"forward": 3.0}
    )
    assert found == pytest.approx(wanted)


def test_scores_by_hand() -> None:
    # 20 keys in three layers, 2 x 4 in the fourth: 17 on average. Two heads of 4, two products:
    # 16 wide; half of the heads here; 2 FLOP each.
    job = record(window_size=4.0, windowed_layers=1.0, tp=2.0)
    assert attention.score_flop(job, 10.0) == 2 * 10 * 17 * 16 / 2
    # Latent: 2 x (3 + 1) for the scores, 2 x 5 for the values.
    job.kv_lora_rank = 6.0
    assert attention.score_flop(job, 10.0) == 2 * 10 * 17 * 18 / 2
    job.window_size = 50.0
    assert attention.score_flop(job, 10.0) == 2 * 10 * 20 * 18 / 2


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
    step = training_step(**asked)  # type: ignore[arg-type]
    changes = layout_changes(step.model, step.layout)
    facts = stack_facts(stack_named(stack), step.accelerator, **changes)
    parts = layer_parts(step.job(), facts, roofline_constants(), 8.0)
    by_kind = "products attention elementwise recompute tensor context expert weights".split()
    assert sum(parts[name] for name in by_kind) == pytest.approx(parts["total"], rel=1e-12)
    passes = parts["forward"] + parts["backward"] + parts["weights"]
    assert passes == pytest.approx(parts["total"], rel=1e-12)


def test_a_prediction_is_its_parts() -> None:
    found = predict(
        model="llama3-8b", accelerator="h100", dp=8, seq_length=4096, global_batch_size=64
    )
    assert sum(found.breakdown_s.values()) == pytest.approx(found.step_time_s, rel=1e-12)
