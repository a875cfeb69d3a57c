"""The parts of the roofline model on paper: rates, links and stages.

A device of 1000 bytes a second; NVLink reaches half of 100 bytes a second, the network half of
10; a hop takes a second. A group with two ranks in each domain crosses at 10: half of two.
"""

from __future__ import annotations

import pytest
from made import constants, small_job, time_facts

from steptime.formulas.records import Job, TimeFacts
from steptime.formulas.roofline import links, rates, stages
from steptime.formulas.schedule import SCHEDULES

CONSTANTS = constants()


def record(**changed: float) -> Job:
    """Return a dense model, 8 wide, on four data-parallel ranks, two in a domain."""
    sizes = {"seq_length": 20.0, "micro_batch_size": 1.0, "global_batch_size": 24.0, "dp": 4.0}
    return small_job(**(sizes | changed))


def software(**changed: float) -> TimeFacts:
    """Return software that overlaps nothing."""
    return time_facts(**changed)


# --- by hand: rates and links


def test_rates_by_hand() -> None:
    # Half of 100, of a part that may draw half of the power, and by generation.
    assert rates.ceiling_flop_per_s(record(), software(), CONSTANTS) == 50.0
    assert rates.ceiling_flop_per_s(record(), software(power_scale=0.5), CONSTANTS) == 25.0
    assert rates.ceiling_flop_per_s(record(), software(), constants(efficiency=0.75)) == 75.0
    printed = {"peak_flop_per_s": 120.0, "peak_fp8_flop_per_s": 240.0}
    eight = record(fp8=1.0, peak_fp4_flop_per_s=480.0, **printed)
    assert rates.product_flop_per_s(record(**printed), software(), CONSTANTS) == 50.0
    # Nobody measured 8 bits: twice as fast, as printed; less a quarter more for scales.
    assert rates.product_flop_per_s(eight, software(), CONSTANTS) == 100.0
    assert rates.product_flop_per_s(eight, software(scaled_products=0.25), CONSTANTS) == 80.0
    # Measured at 150 of 100: half again as fast, whatever was printed.
    measured = record(fp8=1.0, matmul_fp8_flop_per_s=150.0, **printed)
    assert rates.product_flop_per_s(measured, software(), CONSTANTS) == 75.0
    # 11 % of the products stay in 16 bits, the others take a quarter: 0.3325 of the time.
    four = rates.product_flop_per_s(eight, software(fp4=1.0), CONSTANTS)
    assert four == pytest.approx(50.0 / 0.3325)


def test_bandwidths_by_hand() -> None:
    job = record(nvlink_domain=8.0)
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


# --- by hand: stages


def test_the_head_by_hand() -> None:
    # 10 tokens, 8 wide, 50 of 100 logits: 980 numbers of 2 bytes for each of three products,
    # and 6 bytes for each of 500 logits, at half of 1000 bytes a second; no arithmetic.
    job = record(tp=2.0, matmul_flop_per_s=1e300)
    found = stages.head_s(job, software(loss_bytes=6.0), CONSTANTS, 10.0)
    assert found == pytest.approx((3 * 1960 + 3000) / 500)


DUALPIPE = float(SCHEDULES.index("dualpipe"))


@pytest.mark.parametrize(
    ("changed", "first_s", "staged", "host", "wanted"),
    [
        # 8 layers of 10 s and a head of 5 on two stages: the last is the slowest, and leaves
        # the other's 40 with the embedding's messages.
        ({}, 0.0, 0.0, 0.0, (4.0, 0.0, 1.0, 0.0, 40.0)),
        ({}, 2.0, 0.0, 0.0, (4.0, 0.0, 1.0, 0.0, 42.0)),
        # With 7 s for those the first one is, and leaves 4 layers and the head.
        ({}, 7.0, 0.0, 0.0, (4.0, 1.0, 0.0, 0.0, 45.0)),
        # Held to 12 a layer both take 48, the first 8 of them for nothing; a host that needs
        # 11 a layer shows in the other.
        ({}, 0.0, 12.0, 11.0, (4.0, 1.0, 0.0, 8.0, 4 * 11.0 + 5.0)),
        # Two mirrors, each half of the time at the head and half at the embedding.
        ({"schedule": DUALPIPE}, 2.0, 0.0, 0.0, (4.0, 0.5, 0.5, 0.0, 40.0 + 2.5 + 1.0)),
        # One stage has them all.
        ({"pp": 1.0}, 2.0, 12.0, 11.0, (8.0, 1.0, 1.0, 8 * 12.0 - 85.0, 0.0)),
    ],
)
def test_the_slowest_stage_by_hand(
    changed: dict[str, float],
    first_s: float,
    staged: float,
    host: float,
    wanted: tuple[float, ...],
) -> None:
    floors = {"staged": staged, "host": host}
    job = record(**{"num_layers": 8.0, "pp": 2.0} | changed)
    found = stages.pace(job, software(), 10.0, first_s, 5.0, floors)
    names = ("layers", "embeddings", "heads", "held_s", "others_s")
    assert tuple(found[name] for name in names) == wanted
    assert found["most"] == wanted[0]


def test_parameters_of_the_longest_stage_by_hand() -> None:
    # 10 layers over 4 stages: 3, 3, 2, 2. A head of 15 s makes the last the slowest, of 2
    # layers, yet a middle one has more parameters to share.
    job = record(num_layers=10.0, pp=4.0)
    found = stages.pace(job, software(), 10.0, 0.0, 15.0, {"staged": 0.0, "host": 0.0})
    assert (found["layers"], found["most"], found["others_s"]) == (2.0, 3.0, 80.0)


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
