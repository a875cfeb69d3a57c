"""The parts of the roofline model on paper: links, what is shared, and stages.

A device of 1000 bytes a second; NVLink reaches half of 100 bytes a second, the network half of
10; a hop takes a second. A group with two ranks in each domain crosses at 10: half of two.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from steptime.formulas.roofline import links, rates, sharing, stages
from steptime.inputs.stack import STACK_FIELDS

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
        **{"schedule": 1.0},
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
        (0.0, {"overlap_dp": 1.0}, 60.0, 100.0, 579.6 + 25.0),
        # A quarter of what hides shows, and at least the last layer's half shows.
        (0.0, {"overlap_dp": 1.0}, 60.0, 500.0, 339.8),
        # Scattered: 332.8 + 3; new weights of 3328 bytes gathered: 166.4 + 3; 2 buckets: 4.
        (1.0, {}, 60.0, 100.0, 509.2),
        (2.0, {}, 60.0, 100.0, 509.2),
        (1.0, {"overlap_dp": 1.0}, 60.0, 100.0, 349.2 + 40.0),
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
