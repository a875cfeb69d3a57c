"""A rank's total: which rank is the fullest, what fits, and the same bits in arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steptime.formulas.flops import num_microbatches
from steptime.formulas.memory import (
    activation_parts,
    memory_bytes,
    memory_total_bytes,
    rank_memory_bytes,
    worst_rank,
)
from steptime.formulas.memory.in_flight import flight_line, in_flight
from steptime.formulas.memory.total import PARTS, rank_totals
from steptime.formulas.parameters import num_parameters
from steptime.formulas.records import MemoryFacts
from steptime.inputs import presets
from steptime.inputs.errors import ConfigError
from steptime.inputs.job import Job, job
from steptime.inputs.layout import SCHEDULES, Batch, Layout
from steptime.inputs.said import Said
from steptime.inputs.software import Software, software, with_facts
from steptime.pipeline.build import build_orders
from steptime.pipeline.held import peak_in_flight
from steptime.pipeline.schedules import check_schedule

Facts = Callable[..., MemoryFacts]
FACTS = MemoryFacts()


def record(model: str, batch: tuple[int, int], accelerator: str = "h100", **layout: Any) -> Job:
    size, length = batch
    return job(
        presets.model(model),
        presets.accelerator(accelerator),
        Layout(**layout),
        Batch(global_batch_size=size, seq_length=length),
    )


# published


@pytest.mark.parametrize(
    ("batch", "layout"),
    [
        ((2048, 8192), {"cp": 1, "dp": 64}),
        ((2048, 8192), {"cp": 1, "dp": 128}),
        ((128, 131072), {"cp": 16, "dp": 8}),
    ],
)
def test_llama_3_405b_ran_in_80_gb(batch: tuple[int, int], layout: dict[str, int]) -> None:
    """grattafiori2024, Table 4, Sec. 3.3.2: no recomputation; optimizer, gradients sharded."""
    asked = record(
        "llama3-405b", batch, tp=8, pp=16, sequence_parallel=True, zero_stage=2, **layout
    )
    assert memory_total_bytes(asked, FACTS) < 80e9


def test_gpt_3_on_eight_devices_does_not_fit() -> None:
    """narayanan2021, Sec. 1: a model of that size does not fit in one server of 80 GB parts."""
    asked = record("gpt3-175b", (8, 2048), "a100", tp=8, sequence_parallel=True)
    found = memory_bytes(asked, FACTS)
    assert found["total"] > 80e9
    assert found["weights"] + found["gradients"] + found["optimizer"] > 5 * 80e9 * 0.97


# limit


def test_deepseek_v3_ran_in_80_gb_as_its_report_says() -> None:
    """deepseek2024, Sec. 3.1 to 3.3: p = 16, 64-way experts, ZeRO-1, DualPipe, 8 bits, H800."""
    layout = {"pp": 16, "dp": 128, "ep": 64, "zero_stage": 1, "schedule": "dualpipe"}
    asked = record("deepseek-v3", (15360, 4096), "h800", precision="fp8", **layout)
    said, shape = Said(stack="deepseek-v3"), presets.model("deepseek-v3")
    own = software(said, presets.accelerator("h800"), shape, "fp8", True).memory
    assert memory_total_bytes(asked, own) <= asked.hbm_bytes
    assert memory_total_bytes(asked, FACTS) > asked.hbm_bytes


def test_without_a_pipeline_there_is_one_rank() -> None:
    asked = record("llama2-7b", (8, 4096))
    assert worst_rank(asked, FACTS) == {"rank": 0.0, "total": memory_total_bytes(asked, FACTS)}
    held = memory_bytes(asked, FACTS)["parameters"]
    assert held == pytest.approx(num_parameters(asked), rel=1e-4)


def test_parts_add_up_to_the_total() -> None:
    asked = record("deepseek-v3", (960, 4096), pp=16, dp=8, ep=8, zero_stage=1)
    found = memory_bytes(asked, MemoryFacts(fragmentation=0.1))
    assert sum(found[part] for part in PARTS) == pytest.approx(found["total"], rel=1e-14)


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("stack", ["megatron-2021", "deepspeed-bf16", "nanotron-playbook"])
def test_activations_by_part_add_up(memory_facts: Facts, recompute: str, stack: str) -> None:
    asked = record("deepseek-v3", (960, 4096), tp=2, pp=8, dp=8, ep=8, recompute=recompute)
    facts = memory_facts(
        stack,
        recompute_layers=3.0 if recompute == "full" else 0.0,
        recompute_up_projection=1.0,
        offloaded_layers=2.0,
    )
    for rank in range(8):
        whole = rank_memory_bytes(asked, facts, float(rank))["activations"]
        parts = activation_parts(asked, facts, float(rank))
        assert sum(parts.values()) == pytest.approx(whole, rel=1e-13)
        assert min(parts.values()) >= 0


# invariant


@pytest.mark.parametrize("name", ["gpt3-175b", "llama3-405b", "deepseek-v3", "mixtral-8x7b"])
@pytest.mark.parametrize("tp", [1, 2, 8])
def test_ranks_hold_every_parameter_once(name: str, tp: int) -> None:
    """Norms and biases apart, and what tensor ranks repeat: a router, a low rank's entry."""
    asked = record(name, (8, 4096), tp=tp, pp=4, etp=tp if presets.model(name).experts else 1)
    ranks = [rank_memory_bytes(asked, FACTS, float(rank)) for rank in range(4)]
    held = tp * sum(rank["parameters"] for rank in ranks)
    copy = asked.tied * asked.vocab_size * asked.hidden_size
    slack = 2e-3 if asked.num_experts == 0 else 0.02
    assert held == pytest.approx(num_parameters(asked) + copy, rel=slack)


@settings(max_examples=200, deadline=None)
@given(
    layers=st.integers(1, 130),
    pp=st.integers(1, 40),
    chunks=st.integers(1, 3),
    tp=st.sampled_from([1, 2, 4, 8]),
    stage=st.integers(0, 3),
    recompute=st.sampled_from(["none", "selective", "full"]),
    schedule=st.sampled_from(SCHEDULES),
    stack=st.sampled_from(["megatron", "megatron-2021", "nanotron-playbook", "deepspeed-bf16"]),
    micro=st.integers(1, 40),
)
def test_the_fullest_rank_is_a_candidate(
    memory_facts: Facts,
    layers: int,
    pp: int,
    chunks: int,
    tp: int,
    stage: int,
    recompute: str,
    schedule: str,
    stack: str,
    micro: int,
) -> None:
    shape = replace(presets.model("llama2-7b"), num_layers=layers)
    pp = min(pp, layers)
    layout = Layout(
        tp=tp,
        pp=pp,
        vpp=min(chunks, -(-layers // pp)),
        dp=2,
        zero_stage=stage,
        recompute=recompute,
        schedule=schedule,
        sequence_parallel=tp > 1,
    )
    batch = Batch(global_batch_size=2 * micro, seq_length=4096)
    asked = job(shape, presets.accelerator("h100"), layout, batch)
    facts = memory_facts(stack)
    every = [rank_memory_bytes(asked, facts, float(rank))["total"] for rank in range(pp)]
    assert memory_total_bytes(asked, facts) == max(every)


def test_memory_falls_as_tp_grows_and_as_zero_shards() -> None:
    sizes = [
        memory_total_bytes(
            record("llama3-70b", (64, 8192), tp=tp, dp=8, sequence_parallel=tp > 1), FACTS
        )
        for tp in (1, 2, 4, 8)
    ]
    assert sizes == sorted(sizes, reverse=True)
    stages = [
        memory_total_bytes(record("llama3-70b", (64, 8192), tp=8, dp=8, zero_stage=stage), FACTS)
        for stage in (0, 1, 2)
    ]
    assert stages == sorted(stages, reverse=True)


def test_more_ranks_for_experts_hold_fewer_of_them() -> None:
    sizes = [
        memory_total_bytes(record("deepseek-v3", (960, 4096), pp=16, dp=64, ep=ep), FACTS)
        for ep in (1, 4, 16, 64)
    ]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("name", SCHEDULES)
def test_micro_batches_in_flight_are_the_simulators(name: str) -> None:
    exact = name not in ("zb-v", "v-half", "v-min", "zb-2p", "zb-auto")
    for p, m, v in [(1, 4, 1), (2, 4, 2), (4, 8, 2), (4, 16, 1), (6, 24, 4), (8, 16, 2), (8, 4, 1)]:
        try:
            chunks = check_schedule(name, p, m, v)
        except ConfigError:
            continue
        asked = record("llama2-7b", (m, 4096))
        place = float(SCHEDULES.index(name))
        asked = replace(asked, pp=float(p), vpp=float(chunks), schedule=place)
        shared = flight_line(asked) | {"micro_batches": num_microbatches(asked)}
        for rank, order in enumerate(build_orders(name, p, m, chunks)):
            # With one stage there is no pipeline to fill, whatever the schedule is called.
            peak = peak_in_flight(order, p * chunks, m) / chunks if p > 1 else 1.0
            found = in_flight(shared, float(rank))
            if p == 1:
                # No pipeline to fill: each micro-batch goes backward before the next begins.
                assert found == 1.0
                continue
            assert found == pytest.approx(peak) if exact else found >= peak


@pytest.mark.parametrize("name", ["llama3-70b", "deepseek-v3"])
def test_arrays_give_the_same_bits(memory_facts: Facts, name: str) -> None:
    rng = np.random.default_rng(0)
    fields = {
        "tp": [1, 2, 4, 8],
        "pp": [1, 2, 3, 8, 16, 40],
        "vpp": [1, 2, 3],
        "cp": [1, 2, 4],
        "dp": [1, 2, 16],
        "ep": [1, 2, 4],
        "micro_batch_size": [1, 2, 4],
        "zero_stage": [0, 1, 2, 3],
        "recompute_full": [0, 1],
        "sequence_parallel": [0, 1],
        "schedule": range(len(SCHEDULES)),
        "fp8": [0, 1],
    }
    drawn = {key: rng.choice(np.array(list(kept), float), 500) for key, kept in fields.items()}
    base = record(name, (1024, 8192))
    facts = memory_facts("nanotron-playbook", gathered_inputs=0.5)
    many = memory_bytes(replace(base, **drawn), facts)
    for at in range(500):
        one = memory_bytes(
            replace(base, **{key: float(kept[at]) for key, kept in drawn.items()}), facts
        )
        assert all(np.broadcast_to(many[part], 500)[at] == one[part] for part in one)


# refusal


def stated(name: str, value: Any) -> Software:
    said = Said(facts=((name, value),))
    return software(said, presets.accelerator("h100"), presets.model("llama3-8b"), "bf16", False)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), "many", True])
def test_facts_refuse_what_is_no_size(value: Any) -> None:
    with pytest.raises(ConfigError, match="fact logit_bytes must be a number"):
        stated("logit_bytes", value)
    with pytest.raises(ConfigError, match="fact logit_bytes must be a number"):
        with_facts(stated("logit_bytes", 4.0), {"logit_bytes": value})


def test_unknown_stacks_and_facts_are_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'nanotron'"):
        Said(stack="nanotrn")
    with pytest.raises(ConfigError, match="did you mean 'dropout'"):
        stated("dropuot", 1.0)
    with pytest.raises(ConfigError, match="did you mean 'dropout'"):
        with_facts(stated("dropout", 1.0), {"dropuot": 1.0})


@pytest.mark.parametrize(
    ("model", "layout", "counted"),
    [
        # One rank is first, full, longer and last at once; of two the second is all but the first.
        ("llama3-8b", {"dp": 8}, [0]),
        ("llama3-8b", {"pp": 2, "dp": 4}, [0, 1]),
        # 32 layers on 8 ranks: none is longer, so the second, and the last, which has the head.
        ("llama3-8b", {"pp": 8}, [0, 1, 7]),
        # The first rank has the three dense layers; the second is the first without and as long.
        ("deepseek-v3", {"pp": 8}, [0, 1, 7]),
    ],
)
def test_a_rank_is_counted_once(model: str, layout: dict[str, int], counted: list[int]) -> None:
    asked = record(model, (64, 4096), **layout)
    totals = rank_totals(asked, FACTS)
    assert [one["rank"] for one in totals] == counted
    every = [rank_memory_bytes(asked, FACTS, float(rank))["total"] for rank in range(int(asked.pp))]
    assert max(one["total"] for one in totals) == max(every) == memory_total_bytes(asked, FACTS)
    assert worst_rank(asked, FACTS) == {"rank": float(np.argmax(every)), "total": max(every)}
