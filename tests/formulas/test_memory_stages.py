"""How layers are cut into stages, and which ranks can be the fullest."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from steptime.formulas.memory.stages import (
    candidate_ranks,
    mixed_rank,
    stage_cut,
    stage_layers,
)
from steptime.formulas.records import MemoryFacts

Facts = Callable[..., MemoryFacts]
SHAPE = {
    "num_attention_heads": 32.0,
    "num_query_groups": 32.0,
    "head_dim": 64.0,
    "hidden_size": 2048.0,
    "ffn_hidden_size": 8192.0,
    "vocab_size": 131072.0,
    "gated": 1.0,
    "num_experts": 0.0,
    "num_dense_layers": 0.0,
    "first_stage_layers": 0.0,
    "last_stage_layers": 0.0,
}


def layers(num_layers: int, pp: int, facts: MemoryFacts, **values: float) -> list[float]:
    record: Any = SimpleNamespace(
        **SHAPE | {"num_layers": float(num_layers), "pp": float(pp)} | values
    )
    cut = stage_cut(record, facts)
    return [stage_layers(record, cut, float(rank))["layers"] for rank in range(pp)]


# published


def test_llama_3_has_one_layer_fewer_at_both_ends() -> None:
    """grattafiori2024, Sec. 3.3.2: 126 layers over 16 stages."""
    assert layers(126, 16, MemoryFacts()) == [7.0] + [8.0] * 14 + [7.0]


def test_bloom_counts_embedding_and_head_as_layers(memory_facts: Facts) -> None:
    """bigscience2022prequel, "Rebalancing layers": 70 layers over 12 stages, 6 slots each."""
    facts = memory_facts("deepspeed-bf16", embedding_slots=1.0, head_slots=1.0)
    assert layers(70, 12, facts) == [5.0] + [6.0] * 10 + [5.0]


def test_nanotron_cuts_by_cost(memory_facts: Facts) -> None:
    """tazi2025, nanotron's `build_model`: a stage takes blocks until their sum has its share.

    Here the head costs as much as four layers, and 20 / 8 = 2.5 a stage.
    """
    assert layers(16, 8, memory_facts("nanotron-playbook")) == [3, 2, 3, 2, 3, 2, 1, 0]
    assert layers(16, 4, memory_facts("nanotron-playbook")) == [5, 5, 5, 1]
    assert layers(16, 2, memory_facts("nanotron-playbook")) == [10, 6]


def test_stated_ends_leave_the_rest_to_the_ranks_between() -> None:
    """megatronlm2026, --decoder-first-pipeline-num-layers: the others share what is left."""
    both = {"first_stage_layers": 6.0, "last_stage_layers": 7.0}
    assert layers(61, 8, MemoryFacts(), **both) == [6.0] + [8.0] * 6 + [7.0]
    # 61 - 7 over 7 stages: the first five have a layer more.
    assert layers(61, 8, MemoryFacts(), last_stage_layers=7.0) == [8.0] * 5 + [7.0] * 3
    assert layers(61, 8, MemoryFacts(), first_stage_layers=5.0) == [5.0] + [8.0] * 7
    # What the software would do does not count then.
    assert layers(10, 2, MemoryFacts(head_slots=3.0), **{**both, "last_stage_layers": 4.0}) == [
        6.0,
        4.0,
    ]


# limit


def test_even_stages() -> None:
    assert layers(96, 8, MemoryFacts()) == [12.0] * 8
    assert layers(7, 1, MemoryFacts()) == [7.0]


def test_leading_dense_layers_come_first() -> None:
    record: Any = SimpleNamespace(
        **SHAPE | {"num_layers": 61.0, "pp": 16.0, "num_experts": 256.0, "num_dense_layers": 3.0}
    )
    cut = stage_cut(record, MemoryFacts())
    found = [stage_layers(record, cut, float(rank)) for rank in range(16)]
    assert sum(stage["layers"] for stage in found) == 61
    assert sum(stage["experts"] for stage in found) == 58
    assert found[0] == {"layers": 3.0, "experts": 0.0}


# invariant


@settings(deadline=None)
@given(
    num_layers=st.integers(1, 200),
    pp=st.integers(1, 64),
    embedding=st.integers(0, 2),
    head=st.integers(0, 3),
    stack=st.sampled_from(["megatron", "nanotron-playbook"]),
)
def test_every_layer_has_one_stage(
    memory_facts: Facts, num_layers: int, pp: int, embedding: int, head: int, stack: str
) -> None:
    pp = min(pp, num_layers)
    facts = memory_facts(stack, embedding_slots=float(embedding), head_slots=float(head))
    found = layers(num_layers, pp, facts)
    assert sum(found) == num_layers
    assert min(found) >= 0
    assert all(count == int(count) for count in found)


@settings(deadline=None)
@given(
    num_layers=st.integers(1, 200),
    pp=st.integers(1, 64),
    extra=st.sampled_from([0.0, 0.25, 1.0 - 2.0**-12, 1.0]),
)
def test_no_middle_rank_beats_the_candidates(num_layers: int, pp: int, extra: float) -> None:
    pp = min(pp, num_layers)
    facts = MemoryFacts(first_stage_extra=extra)
    record: Any = SimpleNamespace(**SHAPE | {"num_layers": float(num_layers), "pp": float(pp)})
    cut = stage_cut(record, facts)
    ranks = set(candidate_ranks(record, cut).values())
    found = layers(num_layers, pp, facts)
    for rank in range(1, pp - 1):
        earlier = [found[int(known)] for known in ranks if 0 < known <= rank]
        assert max(earlier) >= found[rank]


@settings(deadline=None)
@given(
    pp=st.integers(2, 40),
    first=st.integers(0, 9),
    last=st.integers(0, 9),
    more=st.integers(0, 60),
    dense=st.integers(0, 4),
)
def test_no_stage_between_stated_ends_beats_the_candidates(
    pp: int, first: int, last: int, more: int, dense: int
) -> None:
    assume(first + last > 0)
    between = pp - (first > 0) - (last > 0)
    num_layers = first + last + (between + more if between else 0)
    record: Any = SimpleNamespace(
        **SHAPE
        | {"num_layers": float(num_layers), "pp": float(pp), "num_dense_layers": float(dense)}
        | {"first_stage_layers": float(first), "last_stage_layers": float(last)}
        | {"num_experts": 8.0 if dense else 0.0}
    )
    cut = stage_cut(record, MemoryFacts())
    ranks = sorted({*candidate_ranks(record, cut).values(), mixed_rank(record, cut)})
    found = [stage_layers(record, cut, float(rank)) for rank in range(pp)]
    assert sum(one["layers"] for one in found) == num_layers
    assert min(one["layers"] for one in found) >= 1
    for rank in range(1, pp - 1):
        # The first rank is one of those between where its layers are not stated.
        earlier = [found[int(known)] for known in ranks if (first > 0) <= known <= rank]
        assert max(one["layers"] for one in earlier) >= found[rank]["layers"]
        assert max(one["experts"] for one in earlier) >= found[rank]["experts"]


@pytest.mark.parametrize("pp", [2, 4, 8])
def test_a_heavier_head_takes_layers_from_the_last_stage(pp: int) -> None:
    light, heavy = (layers(64, pp, MemoryFacts(head_slots=slots)) for slots in (0.0, 4.0))
    assert heavy[-1] < light[-1]
