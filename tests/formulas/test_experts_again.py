"""Experts that run again in the backward pass cost what they did before, exchanges too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steptime.formulas.records import Job, TimeFacts
from steptime.formulas.roofline.experts import (
    mixture_forward_s,
    mixture_share,
    shared_products_s,
)
from steptime.formulas.roofline.modules import experts_again_s
from steptime.formulas.roofline.rates import product_flop_per_s
from steptime.formulas.roofline.step import layer_parts
from steptime.inputs.constants import published_constants
from steptime.inputs.said import Said
from steptime.inputs.software import software
from steptime.inputs.training_step import training_step

CONSTANTS = published_constants().of("hopper")
TOKENS = 4096.0


def asked(model: str = "deepseek-v3") -> tuple[Job, TimeFacts]:
    made = training_step(
        model=model, accelerator="h100", pp=2, dp=64, ep=8, seq_length=4096, global_batch_size=256
    )
    said = Said(stack="megatron-core")
    one = software(said, made.accelerator, made.model, made.layout.precision, False)
    assert one.time is not None
    return made.job(), replace(one.time, recompute_experts=0.0, recompute_shared_experts=0.0)


# ---- by hand


@pytest.mark.parametrize(("every", "shared"), [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0)])
def test_what_runs_again_takes_a_forward_pass_of_it(every: float, shared: float) -> None:
    job, stack = asked()
    again = replace(stack, recompute_experts=every, recompute_shared_experts=shared)
    rate = product_flop_per_s(job, stack, CONSTANTS)
    whole = mixture_forward_s(job, stack, CONSTANTS, TOKENS, rate)
    part = shared_products_s(job, CONSTANTS, TOKENS, rate)
    # Shared experts are in the whole: they do not run a third time.
    expected = mixture_share(job) * (whole if every else part * shared)
    assert experts_again_s(job, again, CONSTANTS, TOKENS) == pytest.approx(expected, rel=1e-15)


def test_their_exchanges_run_again_too_in_the_backward_pass() -> None:
    job, stack = asked()
    plain = layer_parts(job, stack, CONSTANTS, 8.0)
    again = layer_parts(job, replace(stack, recompute_experts=1.0), CONSTANTS, 8.0)
    assert again["expert"] == pytest.approx(1.5 * plain["expert"], rel=1e-14)
    assert again["forward"] == pytest.approx(plain["forward"], rel=1e-14)
    grown = again["recompute"] - plain["recompute"] + again["expert"] - plain["expert"]
    assert again["backward"] - plain["backward"] == pytest.approx(grown, rel=1e-12)


# ---- invariant


def test_a_dense_model_has_none_to_run_again() -> None:
    job, stack = asked("deepseek-v3")
    dense = replace(job, num_experts=0.0, top_k=0.0, num_shared_experts=0.0)
    again = replace(stack, recompute_experts=1.0, recompute_shared_experts=1.0)
    assert experts_again_s(dense, again, CONSTANTS, TOKENS) == 0.0


def test_arrays_give_what_floats_give() -> None:
    job, stack = asked()
    again = replace(stack, recompute_experts=np.array([0.0, 1.0]), recompute_shared_experts=1.0)
    both = experts_again_s(job, again, CONSTANTS, TOKENS)
    for place in range(2):
        one = replace(again, recompute_experts=float(place))
        assert both[place] == experts_again_s(job, one, CONSTANTS, TOKENS)  # type: ignore[index]
