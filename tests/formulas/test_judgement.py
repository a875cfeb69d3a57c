"""What an answer says beside its number: interval, verdict, and whose facts hold."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from made import small_job, time_facts

from steptime.answer.peak import OUTLOOKS
from steptime.answer.width import logit
from steptime.formulas.judgement import (
    FITS,
    OVER,
    TIGHT,
    exposed_fraction,
    fit_outlook,
    fit_probability,
    fit_verdict,
    half_width,
    interval_s,
    least_step_s,
    most_bytes,
    shares_weights,
)
from steptime.formulas.records import Job, PeakWidth, StepParts, Width
from steptime.inputs.training_step import training_step

# Of a step of 10 s, 2.5 s are no computing.
PARTS: StepParts = {
    "compute": 7.0,
    "recompute": 0.5,
    "tensor_parallel": 1.0,
    "context_parallel": 0.0,
    "expert_parallel": 0.0,
    "bubble": 1.0,
    "pipeline_sends": 0.0,
    "data_parallel": 0.25,
    "optimizer": 0.25,
}
WIDTH = Width(factor=2.0, base=0.04, slope=0.12)
FACTS = time_facts()
# One token. Four layers of 54 x 8 weights take 3 x 3456 FLOP, the mask leaves 3 x 64 of
# attention, and 100 logits take 3 x 1600.
ONE_TOKEN = {"seq_length": 1.0, "global_batch_size": 1.0}
QUICK = small_job(peak_flop_per_s=1e12, **ONE_TOKEN)


def job(**sizes: int) -> Job:
    asked = {"model": "llama3-8b", "accelerator": "h100", "seq_length": 4096}
    return training_step(**asked | {"global_batch_size": 64} | sizes).job()  # type: ignore[arg-type]


# limit


@pytest.mark.parametrize(
    ("total", "verdict"),
    [(89.9, FITS), (90.0, FITS), (90.1, TIGHT), (100.0, TIGHT), (100.1, OVER)],
)
def test_from_nine_tenths_on_a_fit_is_tight(total: float, verdict: float) -> None:
    assert fit_verdict(total, 100.0) == verdict
    assert fit_verdict(np.array([total]), 100.0).tolist() == [verdict]


@pytest.mark.parametrize(
    ("total", "chance", "word"),
    [
        (80.0, 0.9, "fits"),
        (80.0, 0.899, "fits tightly"),
        (80.0, 0.5, "fits tightly"),
        (80.0, 0.499, "likely does not fit"),
        (95.0, 0.5, "fits tightly"),
        (95.0, 0.99, "fits tightly"),
        (95.0, 0.31, "likely does not fit"),
        (100.1, 0.9, "does not fit"),
        (100.1, 0.1, "does not fit"),
    ],
)
def test_nothing_is_said_to_fit_that_more_often_does_not(
    total: float, chance: float, word: str
) -> None:
    assert OUTLOOKS[int(fit_outlook(total, 100.0, chance))] == word


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9, 0.99])
def test_the_most_bytes_fit_with_just_the_chance_asked(chance: float) -> None:
    width = PeakWidth(middle=0.25, scale=0.27, runs=161, num_sources=6)
    most = most_bytes(width, logit(chance), 80e9)
    assert fit_probability(width, most, 80e9) == pytest.approx(chance, rel=1e-6)


@pytest.mark.parametrize(
    ("sizes", "shared"),
    [
        ({"dp": 8, "zero_stage": 3}, 1.0),
        ({"cp": 8, "zero_stage": 3}, 1.0),
        ({"dp": 8, "zero_stage": 3, "dp_replicate": 4}, 1.0),
        # Nobody to share with: one rank, or as many copies as ranks.
        ({"tp": 8, "zero_stage": 3}, 0.0),
        ({"dp": 8, "zero_stage": 3, "dp_replicate": 8}, 0.0),
        ({"dp": 8, "zero_stage": 2}, 0.0),
    ],
)
def test_weights_are_shared_where_ranks_are_there_to_share_them(
    sizes: dict[str, int], shared: float
) -> None:
    assert shares_weights(job(**sizes)) == shared


# invariant


def test_interval_by_hand() -> None:
    assert exposed_fraction(PARTS, 10.0) == 0.25
    assert half_width(WIDTH, 0.25) == pytest.approx(2.0 * (0.04 + 0.12 * 0.25), rel=1e-15)
    ends = interval_s(QUICK, FACTS, replace(WIDTH, middle=-0.1), PARTS, 10.0, 10.0)
    assert ends["low_s"] == pytest.approx(10.0 * math.exp(0.1 - 0.14), rel=1e-12)
    assert ends["high_s"] == pytest.approx(10.0 * math.exp(0.1 + 0.14), rel=1e-12)
    # Where it may hide nothing, the later end is that of such a step; it is never the earlier one.
    open_ends = interval_s(QUICK, FACTS, replace(WIDTH, middle=-0.1), PARTS, 10.0, 12.0)
    assert open_ends["low_s"] == ends["low_s"]
    assert open_ends["high_s"] == pytest.approx(12.0 * math.exp(0.1 + 0.14), rel=1e-12)
    assert interval_s(QUICK, FACTS, replace(WIDTH, middle=-0.1), PARTS, 10.0, 9.0) == ends


@pytest.mark.parametrize("middle", [-0.5, 0.0, 0.5])
def test_the_interval_holds_the_prediction(middle: float) -> None:
    ends = interval_s(QUICK, FACTS, replace(WIDTH, middle=middle), PARTS, 10.0, 10.0)
    assert ends["low_s"] <= 10.0 <= ends["high_s"]
    assert (ends["low_s"] == 10.0) is (middle == -0.5)
    assert (ends["high_s"] == 10.0) is (middle == 0.5)


@pytest.mark.parametrize(
    ("given", "fp4", "seconds"),
    [
        ({}, 0.0, 1536.0),
        ({"tp": 2.0}, 0.0, 768.0),
        # What products in 8 bits could do is nothing to those in 16.
        ({"peak_fp8_flop_per_s": 30.0, "peak_fp4_flop_per_s": 60.0}, 1.0, 1536.0),
        ({"fp8": 1.0, "peak_fp8_flop_per_s": 30.0}, 0.0, 345.6 + 499.2),
        ({"fp8": 1.0, "peak_fp8_flop_per_s": 30.0, "peak_fp4_flop_per_s": 60.0}, 1.0, 672.0),
        # A device that has no such formats runs them as fast as 16 bits.
        ({"fp8": 1.0}, 1.0, 1536.0),
    ],
)
def test_the_least_time_by_hand(given: dict[str, float], fp4: float, seconds: float) -> None:
    slow = small_job(**{"peak_flop_per_s": 10.0} | ONE_TOKEN | given)
    assert least_step_s(slow, time_facts(fp4=fp4)) == pytest.approx(seconds, rel=1e-15)


@pytest.mark.parametrize(("step_s", "low_s"), [(2000.0, 1536.0), (1600.0, 1536.0), (10.0, 10.0)])
def test_no_interval_begins_below_the_least_time(step_s: float, low_s: float) -> None:
    slow = small_job(peak_flop_per_s=10.0, **ONE_TOKEN)
    wide = replace(WIDTH, base=1.0)
    ends = interval_s(slow, FACTS, wide, PARTS, step_s, step_s)
    assert ends["low_s"] == low_s
    assert ends["high_s"] > step_s
