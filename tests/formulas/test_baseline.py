import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from steptime.evidence.baseline import baseline_job, chapter_rows, fitted_constants
from steptime.evidence.runs import run_of
from steptime.evidence.validate import baseline_validation
from steptime.formulas.baseline import baseline_step, chapter_step, step_s
from steptime.formulas.bubble import bubble_fraction, bubble_overhead
from steptime.formulas.records import BaselineConstants, BaselineParts, Job
from steptime.inputs.baseline_constants import baseline_constants

Step = Callable[[Job, BaselineConstants], BaselineParts]
RUNS = {row.id: run_of(row) for row in chapter_rows()}
ROWS = {row.id: row for row in baseline_validation(chapter_rows()).rows}
MEGATRON = [name for name in ROWS if name.startswith("nar21")]
BOTH = (chapter_step, baseline_step)
LLAMA = [name for name in ROWS if name.startswith("llama3")]


def record(name: str) -> Job:
    return baseline_job(RUNS[name])


# published: the figures that the chapter prints, to their last digit


def test_eta_is_what_the_chapter_prints() -> None:
    assert fitted_constants().eta == pytest.approx(0.473, abs=0.0005)


def test_the_18b_step_and_its_all_reduces() -> None:
    row = ROWS["nar21-t1-004"]
    assert row.step_time_s == pytest.approx(10.61, abs=0.005)
    assert row.breakdown_s["tensor_parallel"] == pytest.approx(1.67, abs=0.005)


def test_largest_megatron_error_is_the_1008b_row() -> None:
    errors = {name: abs(ROWS[name].error_fraction) for name in MEGATRON}
    worst = max(errors, key=errors.__getitem__)
    assert worst == "nar21-t1-010"
    assert errors[worst] == pytest.approx(0.186, abs=0.0005)


def test_largest_llama_error() -> None:
    worst = max(abs(ROWS[name].error_fraction) for name in LLAMA)
    assert worst == pytest.approx(0.103, abs=0.0005)


def test_mean_error_and_sign_of_the_twelve_predictions() -> None:
    predicted = [row.error_fraction for row in ROWS.values() if not row.fitted]
    assert len(predicted) == 12
    assert sum(abs(error) for error in predicted) / 12 == pytest.approx(0.108, abs=0.0005)
    assert all(error < 0 for error in predicted)


def test_megatron_rates_lie_where_the_chapter_says() -> None:
    rates = [ROWS[name].tflops_per_gpu for name in MEGATRON]
    assert round(min(rates)) == 120
    assert round(max(rates)) == 137


@pytest.mark.parametrize(("vpp", "overhead"), [(1, 0.375), (2, 0.1875), (4, 0.09375)])
def test_bubble_of_four_stages_and_eight_microbatches(vpp: int, overhead: float) -> None:
    assert bubble_overhead(4.0, 8.0, float(vpp)) == overhead


def test_bubble_of_the_whole_step() -> None:
    assert bubble_fraction(4.0, 8.0, 1.0) == 3 / 11


# limit


@pytest.mark.parametrize("step", BOTH)
def test_one_device_only_computes(step: Step) -> None:
    alone = replace(record("nar21-t1-001"), dp=1.0, global_batch_size=16.0)
    parts = step(alone, baseline_constants())
    assert {name for name, time_s in parts.items() if time_s} == {"compute"}


@pytest.mark.parametrize("step", BOTH)
def test_infinite_bandwidth_leaves_compute_and_bubble(step: Step) -> None:
    free = replace(
        record("nar21-t1-009"), nvlink_bytes_per_s=math.inf, network_bytes_per_s=math.inf
    )
    parts = step(free, replace(baseline_constants(), latency_s=0.0))
    assert {name for name, time_s in parts.items() if time_s} == {"compute", "bubble"}


# invariant


@pytest.mark.parametrize("name", list(ROWS))
def test_parts_add_up_to_the_step(name: str) -> None:
    parts = chapter_step(record(name), baseline_constants())
    assert step_s(parts) == pytest.approx(math.fsum(parts.values()), rel=1e-15)
    assert ROWS[name].step_time_s == pytest.approx(step_s(parts), rel=1e-12)


@pytest.mark.parametrize("name", list(ROWS))
def test_real_hardware_gives_the_chapters_parts_but_for_links_and_rounds(name: str) -> None:
    chapter, real = (step(record(name), baseline_constants()) for step in BOTH)
    assert math.fsum(real.values()) == pytest.approx(step_s(real), rel=1e-15)
    for part in chapter:
        # Llama 3's 405B shards gradients too, which costs a message for each micro-batch.
        if part != "data_parallel" or name in MEGATRON:
            assert real[part] == chapter[part], part
        else:
            assert real[part] > chapter[part]


@pytest.mark.parametrize("step", BOTH)
def test_twice_the_batch_doubles_all_but_bubble_and_gradients(step: Step) -> None:
    once = record("nar21-t1-009")
    twice = replace(once, global_batch_size=2 * once.global_batch_size)
    before, after = (step(job, baseline_constants()) for job in (once, twice))
    for name in ("compute", "tensor_parallel", "pipeline_sends"):
        assert after[name] == pytest.approx(2 * before[name], rel=1e-12)
    for name in ("bubble", "data_parallel"):
        assert after[name] == pytest.approx(before[name], rel=1e-12)
