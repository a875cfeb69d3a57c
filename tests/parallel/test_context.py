"""Sequence and context parallelism: results, traffic, memory, and who does the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steptime.formulas import causal, traffic
from steptime.formulas.collectives import all_gather_sent_bytes
from steptime.formulas.messages import context as context_messages
from steptime.formulas.messages import sequence as sequence_messages
from steptime.inputs.errors import ConfigError
from steptime.parallel import compare, context, kept, layer

FEW = settings(max_examples=2, deadline=None, derandomize=True, database=None)
LAYER = {
    "tensor_parallel_size": 4,
    "hidden_size": 32,
    "num_attention_heads": 8,
    "sequence_parallel": True,
}
ATTENTION = {
    "context_parallel_size": 4,
    "num_attention_heads": 8,
    "num_query_groups": 4,
    "head_dim": 4,
}


# Invariants: one device's numbers, and the formulas' traffic to the byte


@pytest.mark.parametrize("recompute", ["none", "full"])
def test_sequence_parallel_layer(agrees: Callable[..., None], recompute: str) -> None:
    agrees(layer.layer, recompute=recompute, **LAYER)


@pytest.mark.parametrize("order", context.ORDERS)
@pytest.mark.parametrize("form", context.FORMS)
def test_attention_over_a_cut_sequence(agrees: Callable[..., None], form: str, order: str) -> None:
    agrees(context.attention, form=form, order=order, **ATTENTION)


@FEW
@given(
    c=st.sampled_from([2, 3, 8]),
    pieces=st.integers(1, 3),
    groups=st.integers(1, 3),
    share=st.integers(1, 3),
    width=st.integers(1, 7),
)
def test_ring_attention_of_any_shape(
    agrees: Callable[..., None], c: int, pieces: int, groups: int, share: int, width: int
) -> None:
    agrees(
        context.attention,
        form="ring",
        order="zigzag",
        context_parallel_size=c,
        num_attention_heads=groups * share,
        num_query_groups=groups,
        head_dim=width,
        micro_batch_size=2,
        seq_length=2 * c * pieces,
    )


def test_the_gathers_are_those_of_the_step_model(measured: Callable[..., Any]) -> None:
    built, run = measured(context.attention, form="all-gather", order="zigzag", **ATTENTION)
    account = compare.lines(built, run)
    size = traffic.key_value_bytes(1.0, 16.0, 16.0, 1.0, 8.0)
    assert [line.size_bytes for line in account] == [size, size]
    assert sum(line.measured for line in account) == traffic.context_gathers_per_layer()


def test_a_ring_sends_forward_what_a_gather_does(measured: Callable[..., Any]) -> None:
    _, run = measured(context.attention, form="ring", order="zigzag", **ATTENTION)
    sent = sum(one.count * one.size_bytes for one in run.collectives["forward"])
    whole = traffic.key_value_bytes(1.0, 16.0, 16.0, 1.0, 8.0)
    assert sent == all_gather_sent_bytes(whole, 4.0)


def test_sequence_parallelism_sends_forward_what_tensor_parallelism_does(
    measured: Callable[..., Any],
) -> None:
    sent = [
        compare.sent_bytes(built.mesh, run.collectives["forward"]).sum()
        for built, run in (
            measured(layer.layer, recompute="none", **LAYER | {"sequence_parallel": cut})
            for cut in (False, True)
        )
    ]
    assert sent[0] == sent[1] > 0


# Memory


@pytest.mark.parametrize("recompute", ["none", "selective"])
@pytest.mark.parametrize("sequence_parallel", [False, True])
def test_kept_activations_are_those_of_the_memory_model(
    sequence_parallel: bool, recompute: str
) -> None:
    both = kept.kept(
        tensor_parallel_size=2,
        hidden_size=16,
        num_attention_heads=4,
        sequence_parallel=sequence_parallel,
        recompute=recompute,
        micro_batch_size=2,
        seq_length=8,
    )
    assert both.equal, both
    # korthikanti2022, Eq. 2 to 4, with t = 2, b = 2, s = 8, h = 16, a = 4.
    core = 5 * 4 * 8 / 16 if recompute == "none" else 0.0
    per_width = (34 + core) / 2 if sequence_parallel else 10 + (24 + core) / 2
    assert both.formula_bytes == 2 * 8 * 16 * per_width


# Work under a causal mask


@pytest.mark.parametrize("c", [2, 4])
def test_work_per_device_is_that_of_the_formulas(c: int) -> None:
    length = 24 // c
    contiguous = context.pairs_by_step("contiguous", 24, c)
    zigzag = context.pairs_by_step("zigzag", 24, c)
    ranks = np.arange(float(c))
    assert (contiguous.sum(1) == causal.contiguous_pairs(float(length), ranks)).all()
    assert (zigzag.sum(1) == causal.zigzag_pairs(float(length), float(c))).all()
    assert contiguous.sum() == zigzag.sum() == 24 * 25 / 2
    assert contiguous.max(0).sum() == causal.contiguous_ring_pairs(float(length), float(c))
    assert zigzag.max(0).sum() == causal.zigzag_ring_pairs(float(length), float(c))


# Every formula matters


@pytest.mark.parametrize(
    ("module", "name", "build", "sizes"),
    [
        (sequence_messages, "activation_bytes", layer.layer, LAYER | {"recompute": "full"}),
        *(
            (context_messages, name, context.attention, ATTENTION | {"form": form})
            for name, form in (
                ("key_value_bytes", "ring"),
                ("key_value_bytes", "all-gather"),
                ("activation_bytes", "all-to-all"),
            )
        ),
    ],
)
def test_one_byte_more_in_the_formula_is_noticed(
    measured: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    name: str,
    build: Any,
    sizes: dict[str, Any],
) -> None:
    given = sizes if "form" not in sizes else sizes | {"order": "zigzag"}
    _, run = measured(build, **given)
    true_size = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *sized: true_size(*sized) + 1.0)
    assert not all(line.equal for line in compare.lines(build(**given), run))


# Refusals


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"form": "star"}, "unknown form"),
        ({"order": "random"}, "unknown order"),
        ({"seq_length": 18}, "does not divide seq_length=18"),
        ({"seq_length": 12}, "use a multiple of that"),
        ({"form": "all-to-all", "num_query_groups": 2}, "num_query_groups=2"),
        ({"context_parallel_size": 16, "seq_length": 32}, "there are 8"),
    ],
)
def test_impossible_cuts_are_refused_with_the_reason(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        context.attention(**{"form": "ring", "order": "zigzag"} | ATTENTION | changed)
