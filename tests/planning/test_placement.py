"""Placement: counts against brute force, published facts and the closed form."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace as with_fields

import pytest

from steptime.formulas.baseline import baseline_step, chapter_step, step_s
from steptime.formulas.placement import group_spans, link_bytes_per_s
from steptime.formulas.records import BaselineConstants
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError
from steptime.inputs.fields import SIZES
from steptime.inputs.job import Job, job
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import Experts, ModelShape
from steptime.inputs.rank_order import ORDERS
from steptime.planning.placement import Placement, place

KINDS = {"tensor": ("tp",), "context": ("cp",), "pipeline": ("pp",), "data": ("cp", "dp")}


def brute(layout: Layout, order: list[str], used: int) -> dict[str, tuple[int, int]]:
    """Return (inside, crossing) of each kind by listing every rank of every group."""
    sizes = {axis: getattr(layout, axis) for axis in order}
    groups: dict[str, dict[tuple[int, ...], set[int]]] = {kind: {} for kind in KINDS}
    # itertools.product turns its last axis fastest, and the order has its nearest first.
    far_first = list(reversed(order))
    for rank, point in enumerate(itertools.product(*(range(sizes[axis]) for axis in far_first))):
        place_of = dict(zip(far_first, point, strict=True))
        for kind, along in KINDS.items():
            key = tuple(place_of[axis] for axis in order if axis not in along)
            groups[kind].setdefault(key, set()).add(rank // used)
    return {
        kind: (
            sum(len(domains) == 1 for domains in found.values()),
            sum(len(domains) > 1 for domains in found.values()),
        )
        for kind, found in groups.items()
    }


def counts(placement: Placement, kind: str) -> tuple[int, int]:
    count = placement.group(kind)
    return count.inside, count.crossing


def flat(
    layout: Layout, domain: int, model: ModelShape | None = None, data_inside: float = 1.0
) -> Job:
    """Return a record with a batch and a model that any layout here divides."""
    shape = model or ModelShape(
        name="wide",
        num_layers=10**5,
        hidden_size=128 * 10**4,
        ffn_hidden_size=1,
        num_attention_heads=10**4,
        num_query_groups=1,
        vocab_size=1,
    )
    gpu = Accelerator(
        name="test",
        peak_flop_per_s=1e15,
        hbm_bytes=8e10,
        hbm_bytes_per_s=3e12,
        nvlink_bytes_per_s=4.5e11,
        network_bytes_per_s=5e10,
        nvlink_domain=domain,
    )
    easy = with_fields(layout, tp=1, cp=1, pp=1, dp=1, ep=1, etp=1)
    record = job(shape, gpu, easy, Batch(global_batch_size=1, seq_length=4096))
    sizes = {axis: float(getattr(layout, axis)) for axis in SIZES}
    batch = float(layout.dp)
    return with_fields(record, **sizes, global_batch_size=batch, data_inside=data_inside)


# --- published


def test_llama3_405b_on_servers() -> None:
    # grattafiori2024, Table 4, first row, and Sec. 3.3.2: tensor parallelism stays in the
    # server of 8, everything else crosses.
    layout = Layout(tp=8, pp=16, dp=128)
    placement = place(layout, domain_size=8, order="llama3")
    assert placement.num_domains == 2048
    assert placement.left_over == 0
    assert counts(placement, "tensor") == (2048, 0)
    assert counts(placement, "pipeline") == (0, 1024)
    assert (placement.hops_inside, placement.hops_crossing) == (0, 1024 * 15)


def test_a_rack_of_72_with_8_by_16() -> None:
    # Nine tensor groups fill a rack, so a hop crosses after every ninth stage.
    placement = place(Layout(tp=8, pp=16, dp=9), domain_size=72, order="llama3")
    assert (placement.num_domains, placement.left_over) == (16, 0)
    assert counts(placement, "tensor") == (144, 0)
    # 144 stages in a row make 143 hops, 8 of them between replicas; 15 boundaries between
    # racks, of which those at a multiple of 16 stages are no hop: 144 / lcm(9, 16) - 1 = 0.
    assert placement.hops_crossing == 15 * 8
    assert placement.hops_inside == 9 * 15 * 8 - 15 * 8


def test_tensor_groups_of_16_leave_8_of_a_rack_idle() -> None:
    placement = place(Layout(tp=16, pp=4, dp=2), domain_size=72, order="llama3")
    assert (placement.used_per_domain, placement.num_domains) == (64, 2)
    assert placement.left_over == 16
    assert counts(placement, "pipeline") == (32, 0)


def test_expert_groups_of_64_leave_8_of_a_rack_idle() -> None:
    layout = Layout(pp=16, dp=64, ep=64)
    near = place(layout, domain_size=72, order="megatron")
    assert (near.used_per_domain, near.num_domains, near.left_over) == (64, 16, 128)
    assert counts(near, "expert") == (16, 0)
    # With the pipeline nearer, the ranks of a stage lie far apart: nothing to keep whole.
    far = place(layout, domain_size=72, order="llama3")
    assert far.used_per_domain == 72
    assert counts(far, "expert") == (0, 16)


# --- limit


@pytest.mark.parametrize("order", ORDERS)
def test_a_job_inside_one_domain_crosses_nothing(order: str) -> None:
    placement = place(Layout(tp=2, cp=2, pp=2, dp=2), domain_size=16, order=order)
    assert all(count.crossing == 0 for count in placement.groups)
    assert placement.hops_crossing == 0


def test_one_gpu_has_no_groups() -> None:
    placement = place(Layout(), domain_size=72)
    assert placement.groups == ()
    assert placement.left_over == 71


# --- invariant


@pytest.mark.parametrize("seed", range(40))
def test_counts_equal_brute_force(seed: int) -> None:
    draw = random.Random(seed)
    layout = Layout(
        tp=draw.choice([1, 2, 3, 4, 8, 16]),
        cp=draw.choice([1, 2, 3, 4]),
        pp=draw.choice([1, 2, 3, 5, 8]),
        dp=draw.choice([1, 2, 3, 4, 9]),
    )
    domain = draw.choice([4, 8, 12, 64, 72])
    axes = draw.sample(["tp", "cp", "pp", "dp"], 4)
    placement = place(layout, domain_size=domain, order="-".join(axes))
    for kind, expected in brute(layout, axes, placement.used_per_domain).items():
        if placement.group(kind).size > 1:
            assert counts(placement, kind) == expected, (layout, axes, domain, kind)


@pytest.mark.parametrize("seed", range(200))
def test_closed_form_agrees_with_the_count(seed: int) -> None:
    draw = random.Random(seed)
    sizes = [1, 2, 3, 4, 6, 8, 12, 16]
    layout = Layout(
        tp=draw.choice(sizes), cp=draw.choice(sizes), pp=draw.choice(sizes), dp=draw.choice(sizes)
    )
    ranks = layout.tp * layout.cp * layout.dp
    ep = draw.choice([size for size in (1, 2, 4, 8, 16, 32, 64) if ranks % size == 0])
    layout = with_fields(layout, ep=ep)
    domain = draw.choice([4, 8, 32, 64, 72])
    for order, data_inside in (("megatron", 1.0), ("llama3", 0.0)):
        # A domain may be used as several smaller ones.
        ways = [
            place(layout, domain_size=size, order=order)
            for size in sorted({domain // parts for parts in range(1, domain + 1)})
            if size >= layout.tp * layout.cp or size == domain
        ]
        rates = link_bytes_per_s(flat(layout, domain, data_inside=data_inside))
        for kind in ("tensor", "context", "pipeline", "data", "expert"):
            over_network = rates[kind] == 5e10
            crossing = all(way.group(kind).crossing > 0 for way in ways)
            if kind == "expert":
                # Ragged groups are taken to reach all over, so it may only err to the slow side.
                assert over_network or not crossing, (layout, domain, order)
                near = layout.tp * layout.cp
                if near % ep == 0 or ep % near == 0:
                    assert over_network == crossing, (layout, domain, order)
            else:
                assert over_network == crossing, (layout, domain, order, kind)
        if layout.pp > 1:
            hops = all(way.hops_crossing > 0 for way in ways)
            assert hops == (rates["pipeline"] == 5e10)


def test_expert_groups_use_every_rank_once() -> None:
    layout = Layout(tp=2, cp=2, pp=3, dp=8, ep=8, etp=2)
    for order in ORDERS:
        placement = place(layout, domain_size=8, order=order)
        for kind in ("expert", "expert data"):
            count = placement.group(kind)
            assert (count.inside + count.crossing) * count.size == layout.num_devices


def test_megatron_order_keeps_experts_near_and_llama_order_does_not() -> None:
    layout = Layout(tp=1, pp=8, dp=64, ep=64)
    assert counts(place(layout, domain_size=64, order="megatron"), "expert") == (8, 0)
    assert counts(place(layout, domain_size=64, order="llama3"), "expert") == (0, 8)


def test_spans_of_llama_order_grow_with_the_axes() -> None:
    spans = group_spans(flat(Layout(tp=8, cp=2, pp=4, dp=4), 8, data_inside=0.0))
    assert (spans["tensor"], spans["context"], spans["pipeline"], spans["data"]) == (8, 16, 64, 256)


CONSTANTS = BaselineConstants(eta=0.473, latency_s=5e-6)


GPT3 = ModelShape(
    name="gpt3",
    num_layers=96,
    hidden_size=12288,
    ffn_hidden_size=49152,
    num_attention_heads=96,
    num_query_groups=96,
    vocab_size=51200,
)


def test_real_links_give_the_chapters_time_where_they_are_as_it_assumes() -> None:
    layout = Layout(tp=8, cp=2, pp=8, dp=4)
    for data_inside in (0.0, 1.0):
        record = flat(layout, 8, GPT3, data_inside)
        assert baseline_step(record, CONSTANTS) == chapter_step(record, CONSTANTS)


def test_a_rack_is_never_slower_than_servers() -> None:
    mixture = with_fields(
        GPT3,
        experts=Experts(num_experts=64, top_k=4, expert_ffn_hidden_size=4096),
    )
    for layout in (
        Layout(tp=8, pp=9, dp=16),
        Layout(tp=16, pp=4, dp=9),
        Layout(tp=4, cp=4, pp=2, dp=18, ep=8),
    ):
        for order in (0.0, 1.0):
            rack = step_s(baseline_step(flat(layout, 72, mixture, order), CONSTANTS))
            server = step_s(baseline_step(flat(layout, 8, mixture, order), CONSTANTS))
            assert rack <= server
            assert rack < server or order == 1.0


def test_tensor_parallelism_over_two_servers_pays_for_the_network() -> None:
    record = flat(Layout(tp=16), 8, GPT3)
    parts = baseline_step(record, CONSTANTS)
    assert parts["tensor_parallel"] > 6 * chapter_step(record, CONSTANTS)["tensor_parallel"]


# --- refusal


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"domain_size": 8, "order": "tp-pp"}, "unknown rank order 'tp-pp'; use megatron"),
        ({"domain_size": 8, "order": "tp-tp-cp-pp-dp"}, "unknown rank order"),
        ({"domain_size": 8, "spares_per_domain": 8}, "leaves no GPU .* use at most 7"),
        ({"domain_size": 0}, "domain_size must be >= 1"),
    ],
)
def test_bad_hardware_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        place(Layout(tp=2), **arguments)  # type: ignore[arg-type]


def test_a_job_of_too_many_gpus_is_refused() -> None:
    with pytest.raises(ConfigError, match="too many to place"):
        place(Layout(tp=1000, pp=1000, dp=2), domain_size=8)
