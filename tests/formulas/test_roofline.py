"""The roofline model's formulas: limits, invariants, and what arrays and floats agree on."""

from __future__ import annotations

from dataclasses import fields, replace
from types import SimpleNamespace

import pytest

from steptime.formulas.roofline import roofline_step, roofline_step_s
from steptime.formulas.roofline.links import gather_s, reduce_s
from steptime.formulas.roofline.matmul import product_s
from steptime.formulas.roofline.stages import pace
from steptime.inputs.constants import RooflineConstants, roofline_constants
from steptime.inputs.job import Job
from steptime.inputs.presets import accelerator
from steptime.inputs.stack import STACK_FIELDS, StackFacts, stack_facts, stack_named
from steptime.inputs.training_step import training_step

CONSTANTS = roofline_constants()
PARTS = (
    "compute",
    "recompute",
    "tensor_parallel",
    "context_parallel",
    "expert_parallel",
    "bubble",
    "pipeline_sends",
    "data_parallel",
    "optimizer",
)


def step(**changes: object) -> tuple[Job, StackFacts]:
    asked = {
        "model": "gpt3-175b",
        "accelerator": "a100",
        "tp": 8,
        "pp": 8,
        "vpp": 3,
        "dp": 2,
        "seq_length": 2048,
        "global_batch_size": 128,
        "recompute": "full",
    } | changes
    made = training_step(**asked)  # type: ignore[arg-type]
    return made.job(), stack_facts(stack_named("megatron-2021"), made.accelerator)


def total(job: Job, stack: StackFacts, constants: RooflineConstants = CONSTANTS) -> float:
    return float(roofline_step_s(roofline_step(job, stack, constants)))


# ---- limits


def test_one_device_has_no_messages_and_no_bubble() -> None:
    job, stack = step(
        model="llama3-8b", tp=1, pp=1, vpp=1, dp=1, global_batch_size=4, recompute="none"
    )
    parts = roofline_step(job, stack, CONSTANTS)
    for name in ("tensor_parallel", "context_parallel", "expert_parallel", "bubble"):
        assert parts[name] == 0.0
    for name in ("pipeline_sends", "data_parallel", "recompute"):
        assert parts[name] == 0.0
    assert parts["compute"] > 0.0


def test_a_large_product_runs_at_the_rate_it_is_given() -> None:
    job, _ = step()
    size = 65536.0
    taken = product_s(job, CONSTANTS, size, size, size, 271e12)
    assert taken == pytest.approx(2.0 * size**3 / 271e12, rel=3e-3)


def test_a_thin_product_runs_at_the_memorys_rate() -> None:
    job, _ = step()
    m, n, k = 1.0, 16384.0, 16384.0
    moved = 2.0 * (m * k + k * n + m * n)
    expected = moved / (job.hbm_bytes_per_s * CONSTANTS.hbm_efficiency) + CONSTANTS.launch_s
    assert product_s(job, CONSTANTS, m, n, k, 1e18) == expected


def test_an_all_reduce_over_two_servers_crosses_once() -> None:
    job, stack = step()
    free = replace(CONSTANTS, collective_s=0.0, hop_s=0.0)
    both = reduce_s(job, stack, free, 1e9, 16.0, 8.0)
    nvlink = job.nvlink_bytes_per_s * free.crossing_fraction
    slowest = free.link_efficiency * min(nvlink, 8.0 * job.network_bytes_per_s)
    inside = 2.0 * 15.0 / 16.0 * 1e9 / (job.nvlink_bytes_per_s * free.link_efficiency)
    assert both == max(1e9 / slowest, inside)


def test_equal_stages_leave_the_textbooks_bubble() -> None:
    job, stack = step()
    cut = pace(job, stack, 1.0, 0.0)
    assert cut["layers"] == job.num_layers / job.pp
    assert cut["others_s"] == (job.pp - 1.0) * job.num_layers / job.pp


# ---- invariants


def test_parts_add_up_and_none_is_negative() -> None:
    job, stack = step()
    parts = roofline_step(job, stack, CONSTANTS)
    assert tuple(parts) == PARTS
    assert all(value >= 0.0 for value in parts.values())
    assert sum(parts.values()) == pytest.approx(total(job, stack), rel=1e-14)


@pytest.mark.parametrize(
    ("field", "factor"),
    [
        ("matmul_flop_per_s", 2.0),
        ("hbm_bytes_per_s", 2.0),
        ("nvlink_bytes_per_s", 2.0),
        ("network_bytes_per_s", 2.0),
    ],
)
def test_a_faster_device_is_never_slower(field: str, factor: float) -> None:
    job, stack = step()
    faster = replace(job, **{field: getattr(job, field) * factor})
    assert total(faster, stack) < total(job, stack)


def test_recomputation_interleaving_and_overlap_each_pull_their_way() -> None:
    job, stack = step()
    assert total(replace(job, recompute_full=0.0), stack) < total(job, stack)
    assert total(replace(job, vpp=1.0), stack) > total(job, stack)
    assert total(job, replace(stack, overlap_tp=1.0)) < total(job, stack)
    whole = replace(job, sequence_parallel=0.0)
    assert total(whole, replace(stack, scattered_sends=0.0)) > total(whole, stack)


def test_a_collective_never_gets_cheaper_with_more_bytes() -> None:
    job, stack = step()
    times = [gather_s(job, stack, CONSTANTS, size, 16.0, 8.0) for size in (1e6, 1e8, 1e9)]
    assert times == sorted(times)
    assert gather_s(job, stack, CONSTANTS, 1e9, 1.0, 1.0) == 0.0


def test_arrays_give_what_floats_give_to_the_last_bit() -> None:
    np = pytest.importorskip("numpy")
    jobs, stacks = [], []
    for tp, pp, dp in ((1, 1, 8), (2, 4, 1), (8, 8, 2), (4, 2, 4)):
        job, stack = step(tp=tp, pp=pp, vpp=1, dp=dp)
        jobs.append(job)
        stacks.append(stack)
    arrays = SimpleNamespace(
        **{f.name: np.array([getattr(job, f.name) for job in jobs]) for f in fields(Job)}
    )
    facts = SimpleNamespace(
        **{name: np.array([getattr(s, name) for s in stacks]) for name in STACK_FIELDS}
    )
    together = roofline_step_s(roofline_step(arrays, facts, CONSTANTS))
    alone = [total(job, stack) for job, stack in zip(jobs, stacks, strict=True)]
    assert together.tolist() == alone


def test_an_unknown_generation_is_refused() -> None:
    from steptime.inputs.errors import ConfigError

    with pytest.raises(ConfigError, match="no measured rate"):
        stack_facts(stack_named("megatron-core"), accelerator("tpu-v5p"))
