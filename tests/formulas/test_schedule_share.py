"""The schedule's own bubble in predicted steps, against the simulator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from steptime import training_step
from steptime.formulas import schedule
from steptime.formulas.baseline import baseline_step, schedule_overhead
from steptime.formulas.bubble import bubble_overhead
from steptime.formulas.roofline import roofline_step
from steptime.inputs.baseline_constants import baseline_constants
from steptime.inputs.constants import published_constants
from steptime.inputs.job import Job
from steptime.inputs.layout import SCHEDULES
from steptime.inputs.presets import accelerator, model
from steptime.inputs.said import Said
from steptime.inputs.software import software
from steptime.pipeline.build import fixed_chunks
from steptime.pipeline.report import report
from steptime.pipeline.timeline import Work, simulate

SAME_BUBBLE = ("gpipe", "1f1b", "interleaved-1f1b", "looped-bfs")


def record(name: str, m: int = 16, **changes: Any) -> Job:
    asked: dict[str, Any] = {"model": "llama3-70b", "accelerator": "h100", "seq_length": 8192}
    asked |= {"tp": 8, "pp": 4, "dp": 8, "global_batch_size": 8 * m, "schedule": name}
    return training_step(**asked | changes).job()


def baseline_bubble(job: Job) -> float:
    return float(baseline_step(job, baseline_constants())["bubble"])


def roofline_bubble(job: Job) -> float:
    said = Said(stack="megatron-core")
    facts = software(said, accelerator("h100"), model("llama3-70b"), "bf16", False).time
    assert facts is not None
    return float(roofline_step(job, facts, published_constants().of("hopper"))["bubble"])


def simulated_overhead(name: str, m: int, f: int = 1, i: int = 1, w: int = 1) -> float:
    work = Work(forward=f, backward_input=i, backward_weight=w)
    return float(report(simulate(name, 4, m, fixed_chunks(name) or 2, work))["bubble_overhead"])


# published


@pytest.mark.parametrize(
    ("name", "share"),
    [
        # qi2023, Table 2: (p - 1)(F + I - W) of (p - 1)(F + I + W).
        ("zb-h1", 1 / 3),
        # deepseek2024, Table 2: (p / 2 - 1)(F&B + B - 3 W), of 1F1B's at p = 4.
        ("dualpipe", 2 / 9),
    ],
)
def test_share_of_the_papers(name: str, share: float) -> None:
    place = float(SCHEDULES.index(name))
    assert schedule.bubble_share(place, 4.0, 8.0, 1.0, 1.0, 1.0, 1.0) == pytest.approx(
        share, rel=1e-15
    )


# invariant


@pytest.mark.parametrize("m", [8, 16])
@pytest.mark.parametrize("name", SCHEDULES)
def test_overhead_of_the_baseline_is_the_simulators(name: str, m: int) -> None:
    expected = simulated_overhead(name, m)
    assert schedule_overhead(record(name, m)) == pytest.approx(expected, rel=1e-14)
    parts = baseline_step(record(name, m), baseline_constants())
    work = parts["compute"] + parts["tensor_parallel"]
    assert parts["bubble"] / work == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("m", [8, 16])
@pytest.mark.parametrize("first", SCHEDULES)
def test_predicted_bubbles_are_ordered_as_the_simulators(first: str, m: int) -> None:
    simulated = {name: simulated_overhead(name, m) for name in SCHEDULES}
    predicted = {name: baseline_bubble(record(name, m)) for name in SCHEDULES}
    for second in SCHEDULES:
        if simulated[first] == pytest.approx(simulated[second], rel=1e-12):
            assert predicted[first] == pytest.approx(predicted[second], rel=1e-12)
        elif simulated[first] < simulated[second]:
            assert predicted[first] < predicted[second], (first, second)


@pytest.mark.parametrize("m", [8, 16])
def test_the_rooflines_are_ordered_as_the_simulators_where_i_is_longer_than_w(m: int) -> None:
    # Attention and messages make I the longest of the three; the simulator gets such times.
    names = ("zb-h2", "zb-h1", "1f1b")
    predicted = [roofline_bubble(record(name, m)) for name in names]
    simulated = [simulated_overhead(name, m, 10, 13, 8) for name in names]
    assert predicted == sorted(set(predicted))
    assert simulated == sorted(set(simulated))


def test_recomputation_stays_in_the_way_of_zero_bubble_schedules() -> None:
    for bubble in (baseline_bubble, roofline_bubble):
        shares = [
            bubble(record("zb-h1", recompute=kind)) / bubble(record("1f1b", recompute=kind))
            for kind in ("none", "full")
        ]
        assert shares[0] < shares[1] < 1.0


def test_recomputing_baseline_is_the_simulators() -> None:
    for name in ("1f1b", "zb-h1", "zb-h2", "zb-v"):
        found = simulated_overhead(name, 16, 1, 2, 1)
        assert schedule_overhead(record(name, recompute="full")) == pytest.approx(found, rel=1e-14)


@pytest.mark.parametrize("times", [(1, 1, 1), (10, 13, 8), (10, 15, 7), (1, 2, 1), (5, 9, 3)])
@pytest.mark.parametrize("name", ["zb-h1", "zb-h2", "zb-v"])
def test_few_micro_batches_leave_what_the_simulator_leaves(
    name: str, times: tuple[int, int, int]
) -> None:
    place, floats = float(SCHEDULES.index(name)), [float(time) for time in times]
    for p in (2, 3, 4, 6):
        for m in range(1, 2 * p + 2):
            work = Work(forward=times[0], backward_input=times[1], backward_weight=times[2])
            found = report(simulate(name, p, m, None, work))["bubble_overhead"]
            chunks = float(fixed_chunks(name))
            share = schedule.bubble_share(place, float(p), float(m), chunks, *floats)
            usual = bubble_overhead(float(p), float(m), chunks)
            assert share * usual == pytest.approx(found, rel=1e-12), (p, m)


# limit


@pytest.mark.parametrize("name", SAME_BUBBLE)
def test_one_after_the_other_keeps_every_bit(name: str) -> None:
    place = float(SCHEDULES.index(name))
    for p in (1.0, 2.0, 4.0, 7.0):
        assert schedule.bubble_share(place, p, 8.0, 2.0, 0.1, 0.3, 0.7) == 1.0
    job = record(name, vpp=fixed_chunks(name) or 4)
    assert schedule_overhead(job) == bubble_overhead(4.0, 16.0, job.vpp)


@pytest.mark.parametrize("place", range(len(SCHEDULES)))
def test_one_stage_has_no_bubble(place: int) -> None:
    job = replace(record("1f1b", pp=1), schedule=float(place))
    assert baseline_bubble(job) == roofline_bubble(job) == 0.0


def test_arrays_give_the_same_bits() -> None:
    code, p, m, v = (
        axis.ravel().astype(float)
        for axis in np.meshgrid(range(12), (1, 2, 5, 8), (1, 4, 9, 16), (1, 2), indexing="ij")
    )
    forward, grad, weight = 1.1 + 0.1 * p, 1.3 + 0.01 * m, 0.9 + 0.0 * p
    shares = schedule.bubble_share(code, p, m, v, forward, grad, weight)
    faults = schedule.schedule_fault(code, p, m, v)
    for i in range(code.size):
        times = (float(forward[i]), float(grad[i]), float(weight[i]))
        sizes = (float(code[i]), float(p[i]), float(m[i]), float(v[i]))
        assert shares[i] == schedule.bubble_share(*sizes, *times)
        assert faults[i] == schedule.schedule_fault(*sizes)
