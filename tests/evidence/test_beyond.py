"""Runs on devices whose products nobody measured: no constant and no interval saw them."""

from __future__ import annotations

import math
from statistics import fmean

import pytest

pytest.importorskip("numpy")

from steptime.answer.answer import answer
from steptime.evidence.samples import Sample, beyond_samples, main_samples

Found = dict[str, list[tuple[float, bool]]]


def asked(sample: Sample) -> tuple[float, bool]:
    """Return ln(predicted over measured), and whether the interval holds the measured step."""
    told = answer(sample.inputs.question("roofline"))
    low_s, high_s = told.step_time_low_s or 0.0, told.step_time_high_s or 0.0
    inside = low_s <= sample.step_time_s <= high_s
    return math.log(told.step_time_s / sample.step_time_s), inside


@pytest.fixture(scope="module")
def found() -> Found:
    """Give the errors of each source."""
    every: Found = {}
    for sample in beyond_samples():
        every.setdefault(sample.origin, []).append(asked(sample))
    return every


# ---- published


def test_a_device_that_nobody_measured_is_missed_by_less_than_a_fifth(found: Found) -> None:
    assert {name: len(errors) for name, errors in found.items()} == {
        "ascend": 53,
        "mtx": 16,
        "trn1": 6,
    }
    for name, errors in found.items():
        assert fmean(abs(error) for error, _ in errors) < 0.2, name


def test_its_interval_holds_nine_of_ten_runs_of_each_source(found: Found) -> None:
    for name, errors in found.items():
        assert fmean(inside for _, inside in errors) >= 0.9, name


# ---- invariant


def test_no_constant_and_no_interval_rests_on_them() -> None:
    seen = {sample.id for sample in main_samples()}
    assert not seen & {sample.id for sample in beyond_samples()}
