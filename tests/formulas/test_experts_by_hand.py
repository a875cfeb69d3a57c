"""Experts of the roofline model on paper: 10 tokens, 8 wide, to 2 of 8 experts on 4 ranks.

NVLink has 100 bytes a second, the network 10; kernels for exchanges reach 0.9 of them, a plain
exchange half. A hop takes a second.
"""

from __future__ import annotations

import pytest
from made import constants, small_job, time_facts

from steptime.formulas.memory.shared import shared_terms
from steptime.formulas.records import Job, MemoryFacts
from steptime.formulas.roofline import experts
from steptime.inputs.training_step import training_step

CONSTANTS = constants(host_launch_s=0.01)


def record(**changed: float) -> Job:
    sizes = {"num_dense_layers": 1.0, "num_experts": 8.0, "top_k": 2.0, "ep": 4.0}
    return small_job(**(sizes | changed))


# --- by hand


@pytest.mark.parametrize(
    ("groups", "picks", "reached"),
    [(2.0, 2.0, 1.5), (4.0, 1.0, 1.0), (4.0, 2.0, 1.75), (2.0, 3.0, 1.75), (1.0, 8.0, 1.0)],
)
def test_groups_that_a_token_reaches(groups: float, picks: float, reached: float) -> None:
    # All but those that each pick misses: 4 (1 - 3/4 x 3/4), 2 (1 - 1/8).
    assert experts.groups_reached(groups, picks) == pytest.approx(reached)


NEAR_S = 140 / 90 + 1
FAR_S = 120 / 9


@pytest.mark.parametrize(
    ("changed", "facts", "shown", "covered"),
    [
        # 160 bytes to 1.75 of 4 ranks and 1.5 of 2 domains, half of it to others: 140, 120.
        ({}, {}, NEAR_S + FAR_S, 0.0),
        ({}, {"overlap_ep": 1.0}, 0.25 * NEAR_S + FAR_S, 0.0),
        ({"vpp": 2.0}, {"overlap_ep": 1.0}, 0.25 * NEAR_S, FAR_S),
        ({"vpp": 2.0}, {}, NEAR_S + FAR_S, 0.0),
        # Two copies each: 160 and 160 bytes, at half of the links.
        ({}, {"plain_exchange": 1.0}, 160 / 50 + 1 + 160 / 5, 0.0),
        ({"vpp": 2.0}, {"plain_exchange": 1.0, "overlap_ep": 1.0}, 36.2, 0.0),
        # In one domain 1.5 of 2 ranks; two ranks share each expert and gather 40 rows: 640 bytes.
        ({"ep": 2.0, "etp": 2.0, "nvlink_domain": 4.0}, {}, 120 / 90 + 1 + 320 / 50 + 1, 0.0),
        # Cut in two over tp, half of everything.
        ({"tp": 2.0}, {}, 70 / 90 + 1 + 60 / 9, 0.0),
    ],
)
def test_an_exchange_by_hand(
    changed: dict[str, float], facts: dict[str, float], shown: float, covered: float
) -> None:
    found = experts.exchange_s(record(**changed), time_facts(**facts), CONSTANTS, 10.0)
    assert (found["shown"], found["covered"]) == pytest.approx((shown, covered))


def test_rows_and_shares_by_hand() -> None:
    assert experts.routed_rows(record(), 10.0) == 20.0
    assert experts.routed_rows(record(tp=4.0, etp=2.0), 10.0) == 10.0
    assert experts.mixture_share(record()) == 0.75
    assert experts.mixture_share(record(num_experts=0.0)) == 0.0


def test_products_of_experts_by_hand() -> None:
    # Two experts of 3 x 5 x 8 = 120 here: 40 rows and 64 more each, 2 FLOP; their weights.
    found = experts.grouped_products_s(record(), CONSTANTS, 40.0, 120.0)
    assert found == pytest.approx(2 * 168 * 120 / 120 + 2 * 2 * 120 / 500)
    half = experts.grouped_products_s(record(etp=2.0), CONSTANTS, 40.0, 120.0)
    assert half == pytest.approx(found / 2)


@pytest.mark.parametrize(
    ("facts", "bytes_a_row"),
    [
        # 8 bytes for each of 8, and 4 for each of gate and up's 5.
        ({}, 64 + 40),
        ({"eager_experts": 1.0}, 64 + 35 * 5 + 21 * 8),
        ({"plain_exchange": 1.0}, 128 + 40),
    ],
)
def test_handling_by_hand(facts: dict[str, float], bytes_a_row: float) -> None:
    found = experts.handling_s(record(), time_facts(**facts), CONSTANTS, 40.0)
    assert found == pytest.approx(40 * bytes_a_row / 500)


@pytest.mark.parametrize(
    ("changed", "facts", "launches"),
    [
        ({}, {}, 0.0),
        ({}, {"old_experts": 1.0}, 25 + 2 * 2),
        ({"fp8": 1.0}, {"old_experts": 1.0}, 25 + 2 * (2 + 4 / 3)),
        ({}, {"old_experts": 1.0, "eager_experts": 1.0}, 25 + 2 * (2 + 7 / 3)),
        ({"ep": 8.0}, {"old_experts": 1.0}, 25 + 2),
    ],
)
def test_waits_for_the_host_by_hand(
    changed: dict[str, float], facts: dict[str, float], launches: float
) -> None:
    found = experts.host_wait_s(record(**changed), time_facts(**facts), CONSTANTS)
    assert found == pytest.approx(launches / 100)


def test_a_mask_of_dropout_is_a_byte() -> None:
    step = training_step(
        model="gpt3-175b", accelerator="a100", tp=8, pp=8, seq_length=2048, global_batch_size=8
    )
    # GPT-3 is 12288 wide; a boundary has 2 bytes, its mask one.
    terms = shared_terms(step.job(), MemoryFacts(dropout=1.0))
    split = terms["split"]
    assert (terms["boundary"], terms["embedded"]) == (24576 / split, 12288 / split)
    assert shared_terms(step.job(), MemoryFacts(dropout=0.0))["embedded"] == 0.0
