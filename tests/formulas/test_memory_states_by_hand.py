"""Bytes that a parameter takes in states, on paper: whole bytes of each kind, few ranks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made import memory_facts, small_job

from steptime.formulas.memory import states
from steptime.formulas.ranks import data_ranks, expert_data_ranks
from steptime.formulas.records import Job, WholeTerms


def record(**changed: float) -> Job:
    """Return a mixture of 8 experts on two stages of 4 data- and 3 context-parallel ranks."""
    sizes = {"num_experts": 8.0, "cp": 3.0, "pp": 2.0, "dp": 4.0, "ep": 4.0}
    sizes |= {"global_batch_size": 32.0, "micro_batch_size": 1.0}
    return small_job(**(sizes | changed))


FACTS = memory_facts(
    **{"weight_bytes": 2.0, "fp8_copy_bytes": 1.5, "gradient_bytes": 4.0},
    **{"extra_gradient_bytes": 2.0, "exchange_bytes": 3.0, "master_bytes": 4.0},
    **{"moment_bytes": 8.0, "update_bytes": 5.0, "gathered_layers": 2.0},
    **{"reshard_after_forward": 1.0, "reduce_each_microbatch": 1.0},
)


def for_a_moment(whole: WholeTerms) -> float:
    """Return bytes per parameter: weights of two layers at once, gradients of one."""
    return float(whole["shared"] * (2.0 * whole["weight"] + whole["gradient"]))


@pytest.mark.parametrize(
    ("zero", "weight", "gradient", "optimizer", "moment"),
    [
        # Over 4 ranks: stage 1 divides 17 bytes of the optimizer, 2 the gradients' 4, 3 all.
        (0.0, 2.0, 4.0 + 2.0 + 3.0, 17.0, 0.0),
        (1.0, 2.0, 4.0 + 2.0 + 3.0, 4.25, 0.0),
        (2.0, 2.0, 1.0 + 2.0 + 3.0, 4.25, 4.0),
        (3.0, 0.5, 1.0 + 0.5 + 3.0, 4.25, 2 * 2.0 + 4.0),
    ],
)
def test_what_zero_divides_by_hand(
    zero: float, weight: float, gradient: float, optimizer: float, moment: float
) -> None:
    job = record(zero_stage=zero, cp=1.0)
    found = states.state_terms(job, FACTS)
    assert (found["weight"], found["gradient"]) == (weight, gradient)
    assert found["optimizer"] == optimizer
    assert for_a_moment(states.whole_terms(job, FACTS)) == moment
    # Alone, nothing is exchanged, and nothing is there for a moment.
    alone = record(zero_stage=zero, cp=1.0, dp=1.0)
    assert states.state_terms(alone, FACTS)["gradient"] == 6.0
    assert for_a_moment(states.whole_terms(alone, FACTS)) == 0.0


@pytest.mark.parametrize(
    ("zero", "facts", "weight", "gradient", "moment"),
    [
        # Weights that are kept between the passes are whole, with nothing gathered beside them.
        (3.0, {"reshard_after_forward": 0.0}, 2.0, 1.0 + 0.5 + 3.0, 4.0),
        # Gradients added up until the last micro-batch are whole, both copies of them.
        (3.0, {"reduce_each_microbatch": 0.0}, 0.5, 4.0 + 2.0 + 3.0, 4.0),
        (2.0, {"reduce_each_microbatch": 0.0}, 2.0, 9.0, 0.0),
        # A pipeline that keeps both.
        (3.0, {"keep_in_pipeline": 1.0}, 2.0, 9.0, 0.0),
    ],
)
def test_what_software_keeps_whole_by_hand(
    zero: float, facts: dict[str, float], weight: float, gradient: float, moment: float
) -> None:
    job, kept = record(zero_stage=zero, cp=1.0), replace(FACTS, **facts)
    found = states.state_terms(job, kept)
    assert (found["weight"], found["gradient"]) == (weight, gradient)
    assert for_a_moment(states.whole_terms(job, kept)) == moment
    # The optimizer's 17 bytes are divided by 4 all the same.
    assert found["optimizer"] == 4.25


def test_states_of_experts_by_hand() -> None:
    # 12 ranks repeat a parameter, 12 / 4 an expert's; 8-bit copies come on top.
    job = record(zero_stage=3.0, fp8=1.0)
    assert (data_ranks(job), expert_data_ranks(job)) == (12.0, 3.0)
    assert expert_data_ranks(record(tp=2.0, etp=3.0)) == 2.0
    terms = states.state_terms(job, FACTS)
    assert terms["weight"] == pytest.approx(3.5 / 12)
    assert terms["routed_weight"] == pytest.approx(3.5 / 3)
    assert terms["all"] == pytest.approx((3.5 + 4 + 2 + 17) / 12 + 3)
    assert terms["routed_all"] == pytest.approx((3.5 + 4 + 2 + 17) / 3 + 3)
    # Two ranks of tp hold the same experts, so 2 x 12 / 4 repeat them; others still 12.
    tensor = states.state_terms(record(zero_stage=3.0, fp8=1.0, tp=2.0), FACTS)
    assert tensor["weight"] == pytest.approx(3.5 / 12)
    assert tensor["routed_weight"] == pytest.approx(3.5 / 6)
    # In two copies each is shared out over half as many: 6, and 12 / 2 / 2 = 3.
    copies = states.state_terms(record(zero_stage=3.0, fp8=1.0, ep=2.0, dp_replicate=2.0), FACTS)
    assert copies["weight"] == pytest.approx(3.5 / 6)
    assert copies["routed_weight"] == pytest.approx(3.5 / 3)
    # On a rank of its own an expert is whole, and nobody exchanges it.
    alone = states.state_terms(record(zero_stage=3.0, fp8=1.0, cp=1.0), FACTS)
    assert alone["routed_all"] == 3.5 + 4 + 2 + 17
