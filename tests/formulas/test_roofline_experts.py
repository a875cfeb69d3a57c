"""Mixtures of experts and narrow precisions in the roofline model."""

from __future__ import annotations

import itertools
import math
from dataclasses import fields, replace

import pytest

from steptime.formulas.records import Constants, TimeFacts
from steptime.formulas.roofline import roofline_step, roofline_step_s
from steptime.formulas.roofline.elementwise import cast_bytes_per_value
from steptime.formulas.roofline.exchanges import exchange_s, groups_reached
from steptime.formulas.roofline.experts import (
    grouped_products_s,
    handling_s,
    host_wait_s,
    routed_rows,
)
from steptime.formulas.roofline.layer import again_products_share, messages_s, products_s
from steptime.formulas.roofline.rates import ceiling_flop_per_s, product_flop_per_s
from steptime.inputs.constants import published_constants
from steptime.inputs.job import Job
from steptime.inputs.layout import SCHEDULES
from steptime.inputs.presets import accelerator as preset
from steptime.inputs.said import Said
from steptime.inputs.software import software
from steptime.inputs.training_step import training_step

CONSTANTS = published_constants().of("hopper")


def step(stack: str = "megatron-bridge", **changes: object) -> tuple[Job, TimeFacts]:
    asked = {
        "model": "qwen3-235b-a22b",
        "accelerator": "h100",
        "pp": 2,
        "vpp": 1,
        "dp": 32,
        "ep": 8,
        "seq_length": 4096,
        "global_batch_size": 256,
        "precision": "bf16",
    } | changes
    made = training_step(**asked)  # type: ignore[arg-type]
    said = Said(stack=stack)
    one = software(said, made.accelerator, made.model, made.layout.precision, False)
    assert one.time is not None
    return made.job(), one.time


def total(job: Job, stack: TimeFacts, constants: Constants = CONSTANTS) -> float:
    return float(roofline_step_s(roofline_step(job, stack, constants)))


# ---- experts


@pytest.mark.parametrize("groups", [1.0, 2.0, 8.0, 16.0, 64.0])
@pytest.mark.parametrize("picks", [1.0, 2.0, 6.0, 8.0, 22.0, 63.0])
def test_picks_reach_as_many_groups_as_chance_has_it(groups: float, picks: float) -> None:
    expected = groups * (1.0 - (1.0 - 1.0 / groups) ** picks)
    assert groups_reached(groups, picks) == pytest.approx(expected, rel=1e-12)


def test_the_host_is_waited_for_in_older_software_alone() -> None:
    job, stack = step()
    old = replace(stack, old_experts=1.0)
    assert host_wait_s(job, stack, CONSTANTS) == 0.0
    assert total(job, old) > total(job, stack)
    waits = [
        host_wait_s(replace(job, ep=ep), old, CONSTANTS) - host_wait_s(job, old, CONSTANTS)
        for ep in (8.0, 4.0, 2.0)
    ]
    # Twice and four times the experts on a rank: 16 and 48 more.
    assert waits[0] == 0.0
    assert waits[2] == pytest.approx(3.0 * waits[1])
    assert host_wait_s(replace(job, fp8=1.0), old, CONSTANTS) > host_wait_s(job, old, CONSTANTS)


def test_waiting_does_not_grow_with_the_micro_batch() -> None:
    job, stack = step()
    old = replace(stack, old_experts=1.0)
    for tokens in (4096.0, 65536.0):
        rows = routed_rows(job, tokens)
        waited = handling_s(job, old, CONSTANTS, rows) - handling_s(job, stack, CONSTANTS, rows)
        assert waited == pytest.approx(host_wait_s(job, old, CONSTANTS), rel=1e-9)


def paired(job: Job) -> Job:
    """Return the job under a schedule whose forward and backward passes run in pairs."""
    return replace(job, vpp=2.0, schedule=float(SCHEDULES.index("interleaved-1f1b")))


def test_an_exchange_hides_only_where_it_can() -> None:
    job, can = step(ep=32)
    stack = replace(can, overlap_ep=1.0)
    inside = exchange_s(replace(job, ep=8.0), stack, CONSTANTS, 4096.0)
    alone = exchange_s(job, stack, CONSTANTS, 4096.0)
    pairs = exchange_s(paired(job), stack, CONSTANTS, 4096.0)
    plain = exchange_s(paired(job), replace(stack, plain_exchange=1.0), CONSTANTS, 4096.0)
    unable = exchange_s(paired(job), replace(can, overlap_ep=0.0), CONSTANTS, 4096.0)
    assert inside["covered"] == alone["covered"] == plain["covered"] == unable["covered"] == 0.0
    # Two of eight micro-batches pass while a pipeline of two ranks fills and drains.
    assert pairs["covered"] == pytest.approx(0.75 * alone["shown"])
    assert pairs["shown"] == pytest.approx(0.25 * alone["shown"])
    assert inside["shown"] < alone["shown"] == unable["shown"] < plain["shown"]


def test_what_outlasts_the_work_it_hides_behind_shows_in_full() -> None:
    job, can = step(ep=32)
    stack = replace(can, overlap_ep=1.0)
    slow = replace(paired(job), network_bytes_per_s=1e9)
    slower = replace(slow, network_bytes_per_s=0.5e9)
    for parts in (roofline_step(slow, stack, CONSTANTS), roofline_step(slower, stack, CONSTANTS)):
        assert parts["expert_parallel"] > 2.0 * parts["compute"]
    gained = total(slower, stack) - total(slow, stack)
    far = exchange_s(slow, stack, CONSTANTS, 4096.0)["covered"]
    assert far > 0.0
    layers, micro_batches = job.num_layers / job.pp, job.global_batch_size / job.dp
    assert gained > 0.95 * 4.0 * far * layers * micro_batches


def test_sharing_an_experts_width_keeps_its_arithmetic_and_adds_messages() -> None:
    job, stack = step(tp=2, dp=16)
    shared = replace(job, etp=2.0, ep=4.0)
    free = replace(CONSTANTS, launch_s=0.0)
    rate = ceiling_flop_per_s(job, stack, CONSTANTS)
    one = grouped_products_s(job, free, routed_rows(job, 4096.0), rate)
    two = grouped_products_s(shared, free, routed_rows(shared, 4096.0), rate)
    assert two == pytest.approx(one, rel=0.02)
    alone = exchange_s(job, stack, CONSTANTS, 4096.0)["shown"]
    assert exchange_s(shared, stack, CONSTANTS, 4096.0)["shown"] > alone


def test_unfused_kernels_cost_more_and_gpt_oss_has_them() -> None:
    job, stack = step(model="gpt-oss-120b", pp=1, dp=64)
    assert stack.eager_experts == stack.plain_exchange == 1.0
    rows = routed_rows(job, 4096.0)
    fused = replace(stack, eager_experts=0.0)
    assert handling_s(job, stack, CONSTANTS, rows) > 2.0 * handling_s(job, fused, CONSTANTS, rows)
    assert step()[1].eager_experts == step()[1].plain_exchange == 0.0


@pytest.mark.parametrize("model", ["mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3", "gpt-oss-20b"])
@pytest.mark.parametrize("accelerator", ["h100", "b200", "gb200"])
def test_no_size_of_the_layout_is_a_cliff(model: str, accelerator: str) -> None:
    times, constants = [], published_constants().of(preset(accelerator).generation)
    for ep in (1, 2, 4, 8):
        job, stack = step(
            model=model, accelerator=accelerator, pp=1, dp=64, ep=ep, global_batch_size=512
        )
        times.append(total(job, stack, constants))
    for one, two in itertools.pairwise(times):
        assert 0.5 < two / one < 1.5


# ---- narrow precisions


def test_casts_are_counted_by_their_scaling() -> None:
    moved = {}
    for precision in ("bf16", "fp8", "mxfp8", "nvfp4"):
        job, stack = step(accelerator="b200", precision=precision)
        moved[precision] = cast_bytes_per_value(job, stack)
    assert moved == {"bf16": 0.0, "fp8": 6.0, "mxfp8": 4.0, "nvfp4": 7.0}


def test_narrow_products_gain_less_than_their_bits() -> None:
    gains = {}
    for precision in ("bf16", "fp8", "mxfp8", "nvfp4"):
        job, stack = step(accelerator="b200", precision=precision)
        wide = ceiling_flop_per_s(job, stack, CONSTANTS)
        gains[precision] = product_flop_per_s(job, stack, CONSTANTS) / wide
    assert gains["bf16"] == 1.0
    # Measured on B200: 3432.5 TFLOP/s in 8 bits, 1745 in 16.
    assert gains["fp8"] == pytest.approx(3432.5 / 1745.0, rel=1e-14)
    assert gains["mxfp8"] == pytest.approx(gains["fp8"] / 1.08, rel=1e-14)
    assert gains["fp8"] < gains["nvfp4"] < 2.0 * gains["fp8"]


def test_inputs_that_are_cast_already_travel_at_half_size() -> None:
    dense = {"model": "llama3-70b", "tp": 8, "pp": 1, "dp": 4, "ep": 1, "precision": "fp8"}
    job, stack = step(**dense)
    free = replace(CONSTANTS, hop_s=0.0)
    done = products_s(job, stack, free, 8192.0)
    wide = messages_s(job, replace(stack, narrow_gathers=0.0), free, 8192.0, done)
    narrow = messages_s(job, stack, free, 8192.0, done)
    assert stack.narrow_gathers == 1.0
    assert narrow["tensor"] == pytest.approx(0.75 * wide["tensor"])
    sixteen = replace(job, fp8=0.0)
    assert messages_s(sixteen, stack, free, 8192.0, done)["tensor"] == wide["tensor"]


def test_recomputation_by_operation_does_not_know_narrow_products() -> None:
    job, _ = step(model="llama3-8b", pp=1, dp=8, ep=1)
    h, kv, f = 4096.0, 1024.0, 14336.0
    whole = h + 2.0 * kv + h + 3.0 * f
    assert again_products_share(job) == pytest.approx((kv + h + f) / whole)
    narrow = again_products_share(replace(job, fp8=1.0))
    assert narrow == pytest.approx((h + 2.0 * kv + h + 2.0 * f) / whole)
    split = replace(job, tp=8.0, sequence_parallel=1.0)
    assert again_products_share(split) == pytest.approx((kv + f) / whole)


def test_arrays_of_mixtures_give_what_floats_give_to_the_last_bit() -> None:
    np = pytest.importorskip("numpy")
    made = [
        step(precision=precision, ep=ep, vpp=vpp)
        for precision in ("bf16", "fp8")
        for ep, vpp in ((1, 1), (8, 1), (32, 47))
    ]
    made = [(job, replace(stack, old_experts=float(k % 2))) for k, (job, stack) in enumerate(made)]
    jobs = {f.name: np.array([getattr(job, f.name) for job, _ in made]) for f in fields(Job)}
    facts = {
        f.name: np.array([getattr(stack, f.name) for _, stack in made]) for f in fields(TimeFacts)
    }
    parts = roofline_step(Job(**jobs), TimeFacts(**facts), CONSTANTS)
    alone = [total(job, stack) for job, stack in made]
    assert roofline_step_s(parts).tolist() == alone
    assert all(math.isfinite(value) for value in alone)
