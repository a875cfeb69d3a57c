"""Experts of the roofline model on paper: 10 tokens, 8 wide, to 2 of 8 experts on 4 ranks.

Each of 4 data-parallel ranks runs 4 micro-batches. NVLink has 100 bytes a second, the network 10;
kernels for exchanges reach 0.9 of them, a plain exchange half. A hop takes a second.
"""

from __future__ import annotations

import pytest
from made import constants, small_job, time_facts

from steptime.formulas.memory.shared import shared_terms
from steptime.formulas.records import Job, MemoryFacts
from steptime.formulas.roofline import exchanges, experts
from steptime.formulas.schedule import SCHEDULES
from steptime.inputs.training_step import training_step

CONSTANTS = constants(host_launch_s=0.01)


def record(**changed: float) -> Job:
    sizes = {"num_dense_layers": 1.0, "num_experts": 8.0, "top_k": 2.0, "ep": 4.0, "dp": 4.0}
    sizes |= {"micro_batch_size": 1.0, "global_batch_size": 16.0}
    return small_job(**(sizes | changed))


# --- by hand


@pytest.mark.parametrize(
    ("groups", "picks", "reached"),
    [(2.0, 2.0, 1.5), (4.0, 1.0, 1.0), (4.0, 2.0, 1.75), (2.0, 3.0, 1.75), (1.0, 8.0, 1.0)],
)
def test_groups_that_a_token_reaches(groups: float, picks: float, reached: float) -> None:
    # All but those that each pick misses: 4 (1 - 3/4 x 3/4), 2 (1 - 1/8).
    assert exchanges.groups_reached(groups, picks) == pytest.approx(reached)


@pytest.mark.parametrize(
    ("expert_groups", "max_groups", "picks", "ranks", "domains"),
    [
        # 4 picks, each on any: 4 (1 - 81/256) ranks, 2 (1 - 1/16) domains.
        (0.0, 0.0, 4.0, 175 / 64, 1.875),
        # The best 2 of 4 groups, one on each rank: 2 ranks, and all domains but for the chance
        # that both groups of one are not among them, 2/4 x 1/3: 2 (1 - 1/6).
        (4.0, 2.0, 4.0, 2.0, 5 / 3),
        # 2 picks do not even reach both ranks and domains.
        (4.0, 2.0, 2.0, 1.75, 1.5),
        # A group spread over two ranks, one in each domain.
        (2.0, 1.0, 4.0, 2.0, 1.0),
        # Of 8 groups, 2 a rank and 4 a domain, the best 3: (5/8)(4/7) of the ranks hold none,
        # (5/8)(4/7)(3/6)(2/5) = 1/14 of the domains.
        (8.0, 3.0, 8.0, 4 * (1 - 20 / 56), 13 / 7),
    ],
)
def test_ranks_and_domains_that_a_token_reaches_by_hand(
    expert_groups: float, max_groups: float, picks: float, ranks: float, domains: float
) -> None:
    one = record(expert_groups=expert_groups, max_groups=max_groups, top_k=picks)
    assert exchanges.reached(one, 4.0) == pytest.approx(ranks)
    assert exchanges.reached(one, 2.0) == pytest.approx(domains)


FAR_S = 120 / 9 + 1
INTERLEAVED = {"pp": 2.0, "vpp": 2.0, "schedule": float(SCHEDULES.index("interleaved-1f1b"))}
PLAIN_PIPELINE = {"pp": 2.0, "schedule": float(SCHEDULES.index("1f1b"))}
HIDES = {"overlap_ep": 1.0}


@pytest.mark.parametrize(
    ("changed", "facts", "shown", "covered"),
    [
        # 160 bytes to 1.75 of 4 ranks and 1.5 of 2 domains, half of it to others: 140 at 90 and
        # 120 at 9, together.
        ({}, {}, FAR_S, 0.0),
        # Where the network is as fast as NVLink, that one takes longer.
        ({"network_bytes_per_s": 100.0}, {}, 140 / 90 + 1, 0.0),
        # One rank of 4 micro-batches pairs all but one; 2 stages all but two, or none.
        ({}, HIDES, 0.25 * FAR_S, 0.75 * FAR_S),
        (INTERLEAVED, HIDES, 0.5 * FAR_S, 0.5 * FAR_S),
        (INTERLEAVED, {}, FAR_S, 0.0),
        (PLAIN_PIPELINE, HIDES, FAR_S, 0.0),
        # 8 bits there and 16 back: three quarters of the bytes.
        ({}, {"dispatch_bytes": 1.0}, 90 / 9 + 1, 0.0),
        # Two copies each: one of them in the domain, half of it to the other rank there; half
        # of both to the other domain: 80 and 160 bytes, at half of the links.
        ({}, {"plain_exchange": 1.0}, 160 / 5 + 1, 0.0),
        ({}, {"plain_exchange": 1.0} | HIDES, 33.0, 0.0),
        # To the best group alone, on one rank: 80 bytes on either level.
        ({"expert_groups": 4.0, "max_groups": 1.0}, {}, 80 / 9 + 1, 0.0),
        # In one domain 1.5 of 2 ranks; two ranks share each expert and gather 40 rows: 640 bytes.
        ({"ep": 2.0, "etp": 2.0, "nvlink_domain": 4.0}, {}, 120 / 90 + 1 + 320 / 50 + 1, 0.0),
        # Cut in two over tp, half of everything.
        ({"tp": 2.0}, {}, 60 / 9 + 1, 0.0),
        # Alone, nothing is sent.
        ({"ep": 1.0}, {}, 0.0, 0.0),
    ],
)
def test_an_exchange_by_hand(
    changed: dict[str, float], facts: dict[str, float], shown: float, covered: float
) -> None:
    stack = time_facts(**{"dispatch_bytes": 2.0} | facts)
    found = exchanges.exchange_s(record(**changed), stack, CONSTANTS, 10.0)
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
    # GPT-3 is 12288 wide, over 8 ranks; a boundary has 2 bytes, its mask one.
    terms = shared_terms(step.job(), MemoryFacts(dropout=1.0))
    assert (terms["boundary"], terms["embedded"]) == (24576 / 8, 12288 / 8)
    assert shared_terms(step.job(), MemoryFacts(dropout=0.0))["embedded"] == 0.0
