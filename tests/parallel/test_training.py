"""Data, pipeline and three-way parallelism: several steps of training, and their traffic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steptime.formulas import collectives, traffic
from steptime.formulas.messages import data as data_messages
from steptime.formulas.messages import hybrid as hybrid_messages
from steptime.formulas.messages import pipeline as pipeline_messages
from steptime.inputs.errors import ConfigError
from steptime.parallel import compare, data, fully_sharded, hybrid_sharded, pipeline, transformer

FEW = settings(max_examples=2, deadline=None, derandomize=True, database=None)
DATA = {"data_parallel_size": 4, "num_layers": 2, "hidden_size": 8, "num_microbatches": 2}
SHARDED = {"data_parallel_size": 4, "num_layers": 2, "hidden_size": 8}
PIPELINE = {
    "pipeline_parallel_size": 4,
    "num_layers": 4,
    "hidden_size": 8,
    "num_microbatches": 3,
}
THREE = {
    "tensor_parallel_size": 2,
    "pipeline_parallel_size": 2,
    "data_parallel_size": 2,
    "num_layers": 2,
    "hidden_size": 8,
    "num_attention_heads": 2,
    "vocab_size": 12,
    "num_microbatches": 2,
    "seq_length": 4,
}


def unequal(built: Any, run: Any) -> list[compare.Line]:
    return [line for line in compare.lines(built, run) if not line.equal]


# Invariants: one device's numbers, and the formulas' traffic to the byte


@pytest.mark.parametrize("zero_stage", [0, 1, 2])
def test_data_parallel_training(trained: Callable[..., Any], zero_stage: int) -> None:
    built, run = trained(data.training, zero_stage=zero_stage, **DATA)
    assert run.worst_error <= 1e-12
    assert unequal(built, run) == []


def test_sharded_weights_are_gathered_again_in_the_backward(agrees: Callable[..., None]) -> None:
    agrees(fully_sharded.blocks, **SHARDED)


@pytest.mark.parametrize("copies", [1, 2, 4, 8])
def test_hybrid_sharding_sums_shares_over_the_copies(
    trained: Callable[..., Any], agrees: Callable[..., None], copies: int
) -> None:
    sizes = {"data_parallel_size": 8, "copies": copies, "num_layers": 2, "hidden_size": 8}
    built, run = trained(hybrid_sharded.training, num_microbatches=2, **sizes)
    assert run.worst_error <= 1e-12
    assert unequal(built, run) == []
    weights = 8.0 * built.facts["num_parameters"]
    assert run.state_bytes == weights * (1.0 + 2.0 * copies / 8.0) + 8.0
    if copies < 8:
        agrees(hybrid_sharded.blocks, **sizes)


def test_the_step_model_counts_the_bytes_that_hybrid_sharding_sends() -> None:
    """A copy of 4 of 8 ranks: a ring over 4, then the shares of two copies added up."""
    size, sharing, copies = 1e9, 4.0, 2.0
    sent = sum(
        collectives.all_reduce_sent_bytes(line["bytes"], copies)
        if line["kind"] == "all_reduce"
        else collectives.all_gather_sent_bytes(line["bytes"], sharing)
        for line in hybrid_messages.hybrid_1(size / 2.0, sharing, 2.0)
    )
    assert sent == 2.0 * (3.0 / 4.0) * size + 2.0 * (1.0 / 2.0) * size / 4.0


def test_in_one_program_the_compiler_merges_the_repeated_gathers(
    trained: Callable[..., Any],
) -> None:
    built, run = trained(data.training, zero_stage=3, **DATA)
    assert run.worst_error <= 1e-12
    account = compare.lines(built, run)
    gathers = [line for line in account if line.kind == "all_gather"]
    # Two micro-batches, forward and backward, would gather each of two layers four times.
    assert sum(line.formula for line in gathers) == 8
    assert sum(line.measured for line in gathers) == 2
    assert [line for line in account if line.kind == "reduce_scatter" and not line.equal] == []


@pytest.mark.parametrize("zero_stage", [0, 1, 2, 3])
def test_kept_state_shrinks_as_more_is_sharded(
    trained: Callable[..., Any], zero_stage: int
) -> None:
    built, run = trained(data.training, zero_stage=zero_stage, **DATA)
    weights = 8.0 * built.facts["num_parameters"]
    sharded = {0: 0.0, 1: 2.0, 2: 2.0, 3: 3.0}[zero_stage]
    count_of_steps = 8.0
    assert run.state_bytes == weights * (3.0 - sharded + sharded / 4.0) + count_of_steps


@FEW
@given(
    p=st.sampled_from([2, 3, 8]),
    per_stage=st.integers(1, 2),
    m=st.integers(1, 4),
    width=st.integers(1, 5),
)
def test_pipeline_of_any_shape(
    agrees: Callable[..., None], p: int, per_stage: int, m: int, width: int
) -> None:
    agrees(
        pipeline.blocks,
        pipeline_parallel_size=p,
        num_layers=p * per_stage,
        hidden_size=width,
        num_microbatches=m,
    )


def test_a_middle_stage_sends_the_messages_that_the_step_model_counts(
    measured: Callable[..., Any],
) -> None:
    built, run = measured(pipeline.blocks, **PIPELINE)
    account = [line for line in compare.lines(built, run) if line.kind == "send"]
    from_stage_1 = sum(line.measured for line in account if line.axis.startswith("pp 1→"))
    assert from_stage_1 == traffic.pipeline_messages_per_step(3.0, 1.0)


def test_idle_slots_are_those_of_the_bubble() -> None:
    m, p = 5, 4
    slots = int(pipeline_messages.slots(float(m), float(p)))
    # The last stage sends nothing; it works on what stage p - 2 sent in the slot before.
    busy = [
        sum((stage, stage + 1) in pipeline.sending(slot, m, p) for slot in range(slots))
        for stage in range(p - 1)
    ]
    assert busy == [m] * (p - 1)
    assert slots - m == p - 1


def test_three_ways_at_once(trained: Callable[..., Any]) -> None:
    built, run = trained(transformer.training, **THREE)
    assert run.worst_error <= 1e-12
    assert len(run.weight_errors) == 11
    assert unequal(built, run) == []


def test_the_gradients_synced_are_those_that_the_step_model_counts() -> None:
    records = data_messages.stage_gradients(4.0, 16.0, 0.0, 2.0, 2.0, 2.0)
    matrices = 12 * 4 * 16 * 16
    rest = 6 * 4 * 16 / 2 * 2.0 + 2 * 16 * 2.0
    total = sum(entry["count"] * entry["bytes"] for entry in records)
    assert total - rest == traffic.gradient_bytes(float(matrices), 2.0, 2.0, 2.0)


# Every formula matters


@pytest.mark.parametrize("zero_stage", [0, 1, 2])
def test_one_byte_more_of_gradients_is_noticed(
    trained: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, zero_stage: int
) -> None:
    _, run = trained(data.training, zero_stage=zero_stage, **DATA)
    monkeypatch.setattr(data_messages, "gradient_bytes", one_more(traffic.gradient_bytes))
    assert unequal(data.training(zero_stage=zero_stage, **DATA), run)


def test_one_byte_more_of_gathered_weights_is_noticed(
    measured: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, run = measured(fully_sharded.blocks, **SHARDED)
    monkeypatch.setattr(data_messages, "gradient_bytes", one_more(traffic.gradient_bytes))
    assert unequal(fully_sharded.blocks(**SHARDED), run)


def test_one_byte_more_between_stages_is_noticed(
    measured: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, run = measured(pipeline.blocks, **PIPELINE)
    more = one_more(traffic.pipeline_message_bytes)
    monkeypatch.setattr(pipeline_messages, "pipeline_message_bytes", more)
    assert unequal(pipeline.blocks(**PIPELINE), run)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (pipeline_messages, "pipeline_message_bytes"),
        (pipeline_messages, "activation_bytes"),
        (data_messages, "gradient_bytes"),
    ],
)
def test_one_byte_more_in_the_three_way_transformer_is_noticed(
    trained: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, module: Any, name: str
) -> None:
    _, run = trained(transformer.training, **THREE)
    monkeypatch.setattr(module, name, one_more(getattr(traffic, name)))
    assert unequal(transformer.training(**THREE), run)


def test_one_message_more_is_noticed(
    measured: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, run = measured(pipeline.blocks, **PIPELINE)
    monkeypatch.setattr(
        pipeline_messages,
        "pipeline_messages_per_step",
        lambda *given: traffic.pipeline_messages_per_step(*given) + 2.0,
    )
    assert unequal(pipeline.blocks(**PIPELINE), run)


def one_more(formula: Callable[..., float]) -> Callable[..., float]:
    return lambda *given: formula(*given) + 1.0


# Refusals


@pytest.mark.parametrize(
    ("build", "sizes", "reason"),
    [
        (data.training, DATA | {"zero_stage": 4}, "zero_stage must be <= 3"),
        (data.training, DATA | {"zero_stage": 1, "hidden_size": 3, "data_parallel_size": 7}, "=72"),
        (pipeline.blocks, PIPELINE | {"num_layers": 6}, "does not divide num_layers=6"),
        (pipeline.blocks, PIPELINE | {"num_microbatches": 0}, "num_microbatches must be >= 1"),
        (transformer.training, THREE | {"vocab_size": 13}, "vocab_size=13"),
        (transformer.training, THREE | {"data_parallel_size": 4}, "needs 16 devices"),
    ],
)
def test_impossible_sizes_are_refused_with_the_reason(
    build: Any, sizes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        build(**sizes)
