"""The roofline model's formulas: limits, invariants, and what arrays and floats agree on."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from steptime.formulas.records import Constants, TimeFacts
from steptime.formulas.roofline import roofline_step, roofline_step_s
from steptime.formulas.roofline.layer import across_wait_s, floors_s
from steptime.formulas.roofline.links import gather_s, reduce_s
from steptime.formulas.roofline.matmul import product_s
from steptime.formulas.roofline.sharing import tied_s
from steptime.formulas.roofline.stages import cut_by_cost, pace, sends_s
from steptime.inputs.constants import published_constants
from steptime.inputs.job import Job
from steptime.inputs.presets import accelerator, model
from steptime.inputs.said import Said
from steptime.inputs.software import check_known, software
from steptime.inputs.training_step import training_step

CONSTANTS = published_constants().of("ampere")
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


def step(**changes: object) -> tuple[Job, TimeFacts]:
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
    said = Said(stack="megatron-2021")
    one = software(said, made.accelerator, made.model, made.layout.precision, False)
    assert one.time is not None
    return made.job(), one.time


def total(job: Job, stack: TimeFacts, constants: Constants = CONSTANTS) -> float:
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
    traffic_s = 6.0 * size**2 / (job.hbm_bytes_per_s * CONSTANTS.hbm_efficiency)
    hidden_s = CONSTANTS.contention * traffic_s
    assert taken == pytest.approx(2.0 * size**3 / 271e12 + hidden_s, rel=3e-3)


def test_a_thin_product_runs_at_the_memorys_rate() -> None:
    job, _ = step()
    m, n, k = 1.0, 16384.0, 16384.0
    moved = 2.0 * (m * k + k * n + m * n)
    expected = moved / (job.hbm_bytes_per_s * CONSTANTS.hbm_efficiency)
    assert product_s(job, CONSTANTS, m, n, k, 1e18) == pytest.approx(expected, rel=1e-3)


def test_an_all_reduce_over_two_servers_crosses_once() -> None:
    job, _ = step()
    free = replace(CONSTANTS, hop_s=0.0)
    nvlink = job.nvlink_bytes_per_s * free.link_efficiency
    network = 8.0 * job.network_bytes_per_s * free.network_efficiency
    across, inside = 1e9 / min(nvlink, network), 2.0 * 15.0 / 16.0 * 1e9 / nvlink
    assert reduce_s(job, free, 1e9, 16.0, 8.0) == max(across, inside)
    assert gather_s(job, free, 1e9, 16.0, 8.0) == max(across, inside) / 2.0


def test_equal_stages_leave_the_textbooks_bubble() -> None:
    job, stack = step()
    cut = pace(job, stack, 1.0, 0.0, 0.0, {"host": 0.0, "staged": 0.0})
    assert cut["layers"] == job.num_layers / job.pp
    assert cut["others_s"] == (job.pp - 1.0) * job.num_layers / job.pp
    assert cut["held_s"] == 0.0


@pytest.mark.parametrize("stages", [2, 3, 4, 5, 8, 12, 16])
@pytest.mark.parametrize("vocabulary", [32000, 51200, 131072, 256000])
def test_stages_cut_by_parameters_are_those_of_placing_block_by_block(
    stages: int, vocabulary: int
) -> None:
    job, _ = step(tp=1, pp=stages, vpp=1, dp=1, global_batch_size=stages)
    job = replace(job, vocab_size=float(vocabulary), hidden_size=2048.0, ffn_hidden_size=8192.0)
    job = replace(job, num_attention_heads=32.0, num_query_groups=32.0, head_dim=64.0)
    layer = job.hidden_size * 4.0 + 2.0 * job.ffn_hidden_size
    costs = [1.0] * int(job.num_layers) + [vocabulary / layer]
    held, stage, passed = [0] * stages, 0, 0.0
    for cost in costs:
        passed += cost
        while passed > sum(costs) * (stage + 1) / stages * (1.0 + 1e-12):
            stage += 1
        held[stage] += cost == 1.0
    cut = cut_by_cost(job)
    assert (cut["middle"], cut["last"]) == (max(held[:-1]), held[-1])
    assert stage == stages - 1


def test_a_host_that_holds_a_stage_up_sets_its_pace() -> None:
    job, stack = step()
    each = job.num_layers / job.pp
    cut = pace(job, stack, 1.0, 0.0, 2.0, {"host": 1.5, "staged": 3.0})
    assert (cut["layers"], cut["heads"]) == (each, 0.0)
    assert cut["held_s"] == 2.0 * each
    assert cut["others_s"] == (job.pp - 1.0) * each * 1.5 + 2.0


def test_a_head_hides_what_the_host_would_hold_up() -> None:
    job, stack = step(pp=1, vpp=1)
    cut = pace(job, stack, 1.0, 0.0, 50.0, {"host": 1.5, "staged": 1.5})
    assert cut["held_s"] == max(job.num_layers * 0.5 - 50.0, 0.0)


def test_only_a_pipeline_over_servers_with_tensor_parallelism_waits_for_its_stages() -> None:
    stack = TimeFacts(host_layer_s=0.004, stage_wait_s=0.002, across_wait_s=0.001)
    inside, _ = step(tp=2, pp=4, vpp=1, dp=1, recompute="none")
    apart, _ = step(tp=2, pp=4, vpp=1, dp=2, recompute="none")
    alone, _ = step(tp=1, pp=4, vpp=1, dp=4, recompute="none")
    wide, _ = step(tp=16, pp=1, vpp=1, dp=1, recompute="none")
    assert floors_s(inside, stack) == {"host": 0.004, "staged": 0.004}
    assert floors_s(apart, stack) == {"host": 0.004, "staged": 0.008}
    assert floors_s(alone, stack) == {"host": 0.004, "staged": 0.004}
    assert floors_s(wide, stack) == {"host": 0.004, "staged": 0.004}
    assert across_wait_s(wide, stack) == 0.016
    assert across_wait_s(apart, stack) == 0.0


def test_sends_that_overlap_show_while_the_pipeline_fills_and_drains_alone() -> None:
    job, stack = step()
    hidden = replace(stack, overlap_sends=1.0)
    shown = sends_s(job, stack, CONSTANTS, 2048.0, 64.0)
    ends = sends_s(job, hidden, CONSTANTS, 2048.0, 64.0)
    messages = 64.0 * job.vpp + job.pp - 1.0
    assert ends == pytest.approx(shown * (job.pp - 1.0) / messages, rel=1e-14)
    single, _ = step(vpp=1)
    both = (sends_s(single, one, CONSTANTS, 2048.0, 64.0) for one in (stack, hidden))
    assert len(set(both)) == 1


def test_a_tied_embedding_is_added_up_between_two_stages_alone() -> None:
    job, stack = step(dp=1)
    free = replace(CONSTANTS, hop_s=0.0)
    size = stack.sent_gradient_bytes * job.vocab_size * job.hidden_size / job.tp
    expected = size / (job.network_bytes_per_s * free.network_efficiency)
    assert tied_s(replace(job, tied=1.0), stack, free) == pytest.approx(expected, rel=1e-14)
    assert tied_s(replace(job, tied=0.0), stack, free) == 0.0
    assert tied_s(replace(job, tied=1.0, pp=1.0), stack, free) == 0.0


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
    job, _ = step()
    times = [gather_s(job, CONSTANTS, size, 16.0, 8.0) for size in (1e6, 1e8, 1e9)]
    assert times == sorted(times)
    assert gather_s(job, CONSTANTS, 1e9, 1.0, 1.0) == 0.0


def test_arrays_give_what_floats_give_to_the_last_bit() -> None:
    np = pytest.importorskip("numpy")
    jobs, stacks = [], []
    for tp, pp, dp in ((1, 1, 8), (2, 4, 1), (8, 8, 2), (4, 2, 4)):
        job, stack = step(tp=tp, pp=pp, vpp=1, dp=dp)
        jobs.append(job)
        stacks.append(stack)
    arrays = Job(**{f.name: np.array([getattr(job, f.name) for job in jobs]) for f in fields(Job)})
    facts = TimeFacts(
        **{f.name: np.array([getattr(s, f.name) for s in stacks]) for f in fields(TimeFacts)}
    )
    together = roofline_step_s(roofline_step(arrays, facts, CONSTANTS))
    alone = [total(job, stack) for job, stack in zip(jobs, stacks, strict=True)]
    assert together.tolist() == alone


def test_an_unknown_generation_is_refused() -> None:
    from steptime.inputs.errors import ConfigError

    with pytest.raises(ConfigError, match="no measured rate"):
        check_known(accelerator("l40s"))
    said, shape = Said(stack="megatron-core"), model("llama3-8b")
    assert software(said, accelerator("l40s"), shape, "bf16", False).time is None
