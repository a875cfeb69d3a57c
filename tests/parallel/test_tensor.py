"""Tensor parallelism: the same numbers as one device, the traffic of the formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steptime.formulas import traffic
from steptime.formulas.messages import tensor as messages
from steptime.inputs.errors import ConfigError
from steptime.parallel import compare, layer, tensor, vocabulary

FEW = settings(max_examples=3, deadline=None, derandomize=True, database=None)
LAYER = {"tensor_parallel_size": 4, "hidden_size": 32, "num_attention_heads": 8}
FEED_FORWARD = {"tensor_parallel_size": 4, "hidden_size": 16, "ffn_hidden_size": 32}
VOCABULARY = {"tensor_parallel_size": 4, "vocab_size": 40, "hidden_size": 16}


# Invariants: one device's numbers, and the formulas' traffic to the byte


@pytest.mark.parametrize("activation", ["gelu", "swiglu"])
def test_feed_forward(agrees: Callable[..., None], activation: str) -> None:
    agrees(tensor.feed_forward, activation=activation, **FEED_FORWARD)


@FEW
@given(
    t=st.sampled_from([2, 3, 8]),
    width=st.integers(1, 20),
    slices=st.integers(1, 5),
    tokens=st.integers(1, 9),
)
def test_feed_forward_of_any_shape(
    agrees: Callable[..., None], t: int, width: int, slices: int, tokens: int
) -> None:
    agrees(
        tensor.feed_forward,
        activation="swiglu",
        tensor_parallel_size=t,
        hidden_size=width,
        ffn_hidden_size=slices * t,
        seq_length=tokens,
    )


@pytest.mark.parametrize("num_query_groups", [1, 2, 4, 8])
def test_attention_with_fewer_equal_and_more_key_heads_than_devices(
    agrees: Callable[..., None], num_query_groups: int
) -> None:
    agrees(tensor.attention, num_query_groups=num_query_groups, **LAYER)


@FEW
@given(
    groups=st.sampled_from([1, 3]),
    share=st.sampled_from([4, 8]),
    t=st.sampled_from([1, 2]),
    width=st.integers(1, 5),
)
def test_attention_of_any_shape(
    agrees: Callable[..., None], groups: int, share: int, t: int, width: int
) -> None:
    agrees(
        tensor.attention,
        tensor_parallel_size=2 * t if groups == 1 else 3,
        hidden_size=groups * share * width,
        num_attention_heads=groups * share,
        num_query_groups=groups,
        seq_length=5,
    )


@FEW
@given(t=st.sampled_from([2, 7]), rows=st.integers(1, 4), width=st.integers(1, 6))
def test_vocabulary_loss_of_any_shape(
    agrees: Callable[..., None], t: int, rows: int, width: int
) -> None:
    agrees(
        vocabulary.loss,
        tensor_parallel_size=t,
        vocab_size=t * rows,
        hidden_size=width,
        micro_batch_size=3,
    )


def test_a_device_alone_sends_nothing(measured: Callable[..., Any]) -> None:
    built, run = measured(tensor.feed_forward, **FEED_FORWARD | {"tensor_parallel_size": 1})
    assert run.worst_error <= 1e-12
    assert compare.lines(built, run) == []


@pytest.mark.parametrize("build", [vocabulary.embedding, vocabulary.loss])
def test_both_ends_of_the_vocabulary(agrees: Callable[..., None], build: Any) -> None:
    agrees(build, **VOCABULARY)


@pytest.mark.parametrize("recompute", ["none", "full"])
def test_layer(agrees: Callable[..., None], recompute: str) -> None:
    agrees(layer.layer, recompute=recompute, **LAYER)


def test_a_layer_has_the_all_reduces_that_the_step_model_counts(
    measured: Callable[..., Any],
) -> None:
    _, run = measured(layer.layer, recompute="none", **LAYER)
    emitted = [one for part in run.collectives.values() for one in part]
    assert sum(one.count for one in emitted) == traffic.tensor_all_reduces_per_layer(0.0)
    sizes = {one.size_bytes for one in emitted}
    assert sizes == {traffic.activation_bytes(2.0, 8.0, 1.0, 32.0, 8.0)}


def test_of_the_recomputed_all_reduces_the_compiler_drops_the_last(
    measured: Callable[..., Any],
) -> None:
    counts = [
        sum(one.count for part in run.collectives.values() for one in part)
        for _, run in (measured(layer.layer, recompute=r, **LAYER) for r in ("none", "full"))
    ]
    assert counts == [4, 5]
    assert traffic.tensor_all_reduces_per_layer(1.0) == 6.0


# The compiler alone, given annotations


def test_annotations_alone_give_the_feed_forward_one_all_reduce_each_way(
    measured: Callable[..., Any],
) -> None:
    built, run = measured(tensor.feed_forward, annotations_only=True, **FEED_FORWARD)
    assert run.worst_error <= 1e-12
    assert all(line.equal for line in compare.lines(built, run))


def test_annotations_alone_reduce_each_gradient_of_an_attention_input_by_itself(
    measured: Callable[..., Any],
) -> None:
    built, run = measured(tensor.attention, annotations_only=True, num_query_groups=4, **LAYER)
    forward, backward = compare.lines(built, run)
    assert (forward.measured, backward.measured) == (1, 3)
    assert backward.formula == 1


# Every formula matters


@pytest.mark.parametrize(
    ("build", "sizes"),
    [
        (tensor.feed_forward, FEED_FORWARD | {"activation": "gelu"}),
        (tensor.attention, LAYER | {"num_query_groups": 2}),
        (vocabulary.embedding, VOCABULARY),
        (vocabulary.loss, VOCABULARY),
        (layer.layer, LAYER | {"recompute": "full"}),
    ],
)
def test_one_byte_more_in_the_formula_is_noticed(
    measured: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, build: Any, sizes: dict[str, Any]
) -> None:
    _, run = measured(build, **sizes)
    true_size = messages.activation_bytes
    monkeypatch.setattr(messages, "activation_bytes", lambda *given: true_size(*given) + 1.0)
    assert not all(line.equal for line in compare.lines(build(**sizes), run))


# Refusals


@pytest.mark.parametrize(
    ("build", "sizes", "reason"),
    [
        (tensor.feed_forward, FEED_FORWARD | {"ffn_hidden_size": 30}, "does not divide"),
        (tensor.feed_forward, FEED_FORWARD | {"activation": "relu"}, "unknown activation"),
        (tensor.feed_forward, FEED_FORWARD | {"tensor_parallel_size": 16}, "there are 8"),
        (tensor.attention, LAYER | {"num_query_groups": 3}, "num_query_groups=3 does not"),
        (tensor.attention, LAYER | {"tensor_parallel_size": 3, "num_query_groups": 8}, "=2 would"),
        (vocabulary.loss, VOCABULARY | {"vocab_size": 41}, "vocab_size=41"),
        (layer.layer, LAYER | {"hidden_size": 0}, "hidden_size must be >= 1"),
        (layer.layer, LAYER | {"sequence_parallel": True, "seq_length": 6}, "seq_length=6"),
    ],
)
def test_impossible_sizes_are_refused_with_the_reason(
    build: Any, sizes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        build(**sizes)
