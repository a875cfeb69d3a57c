"""The parts of the roofline model on paper: a layer's messages, floors and recomputation.

NVLink reaches half of 100 bytes a second, the network half of 10; a hop takes a second.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from steptime.evidence.predict import predict

from steptime.formulas.roofline import attention, layer
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
