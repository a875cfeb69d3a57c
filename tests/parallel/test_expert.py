"""Expert parallelism: results, traffic, and where the tokens go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steptime.formulas import traffic
from steptime.formulas.messages import expert as messages
from steptime.inputs.errors import ConfigError
from steptime.parallel import compare, expert

FEW = settings(max_examples=2, deadline=None, derandomize=True, database=None)
SIZES = {
    "expert_parallel_size": 4,
    "num_experts": 8,
    "hidden_size": 16,
    "expert_ffn_hidden_size": 24,
    "tokens_per_device": 24,
}
SWITCH = SIZES | {"kind": "switch"}
GSHARD = SIZES | {"kind": "gshard", "skew": 1.0}
DEEPSEEK = SIZES | {"kind": "deepseek", "num_experts": 32, "top_k": 8, "num_shared_experts": 1}


# Invariants: one device's numbers, and the formulas' traffic to the byte


@pytest.mark.parametrize("sizes", [SWITCH, GSHARD, DEEPSEEK], ids=lambda sizes: sizes["kind"])
def test_mixture(agrees: Callable[..., None], sizes: dict[str, Any]) -> None:
    agrees(expert.mixture, **sizes)


@FEW
@given(
    devices=st.sampled_from([2, 3, 8]),
    each=st.integers(1, 3),
    width=st.integers(1, 9),
    tokens=st.integers(1, 20),
    skew=st.sampled_from([0.0, 3.0]),
)
def test_mixture_of_any_shape(
    agrees: Callable[..., None], devices: int, each: int, width: int, tokens: int, skew: float
) -> None:
    agrees(
        expert.mixture,
        kind="gshard",
        expert_parallel_size=devices,
        num_experts=devices * each,
        hidden_size=width,
        expert_ffn_hidden_size=5,
        tokens_per_device=tokens,
        skew=skew,
    )


def test_without_spare_room_the_boxes_hold_the_tokens_sent() -> None:
    built = expert.mixture(**SWITCH | {"capacity_factor": 1.0})
    whole = traffic.activation_bytes(1.0, 24.0, 1.0, 16.0, 8.0)
    assert {entry["bytes"] for entry in built.traffic if entry["kind"] == "all_to_all"} == {whole}


# Where tokens go


@pytest.mark.parametrize("skew", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("sizes", [SWITCH, GSHARD, DEEPSEEK], ids=lambda sizes: sizes["kind"])
def test_dropped_tokens_are_those_over_the_capacity(sizes: dict[str, Any], skew: float) -> None:
    built = expert.mixture(**sizes | {"skew": skew})
    found = expert.load(built)
    top_k = built.facts["router"].top_k
    assert found.chosen.sum() == 4 * 24 * top_k
    assert (found.kept == np.minimum(found.chosen, found.capacity)).all()
    assert found.dropped == found.dropped_by_formula


def test_skew_drops_more_and_the_dropless_form_never() -> None:
    skews = (0.0, 2.0, 4.0)
    switch = [expert.load(expert.mixture(**SWITCH | {"skew": skew})).dropped for skew in skews]
    assert switch == sorted(switch)
    assert switch[0] < switch[-1]
    assert expert.load(expert.mixture(**DEEPSEEK | {"skew": 4.0})).dropped == 0


# Every formula matters


@pytest.mark.parametrize("sizes", [SWITCH, GSHARD, DEEPSEEK], ids=lambda sizes: sizes["kind"])
def test_one_byte_more_in_the_formula_is_noticed(
    measured: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, sizes: dict[str, Any]
) -> None:
    _, run = measured(expert.mixture, **sizes)
    true_size = messages.dispatched_bytes
    monkeypatch.setattr(messages, "dispatched_bytes", lambda *given: true_size(*given) + 1.0)
    assert not all(line.equal for line in compare.lines(expert.mixture(**sizes), run))


# Refusals


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"kind": "random"}, "unknown kind"),
        ({"num_experts": 6}, "does not divide num_experts=6"),
        ({"top_k": 2}, "leave out top_k=2"),
        ({"kind": "deepseek", "top_k": 9}, "top_k must be <= 8"),
        ({"kind": "deepseek"}, "top_k must be >= 1"),
        ({"skew": -1.0}, "skew must be"),
        ({"tokens_per_device": 0}, "tokens_per_device must be >= 1"),
        ({"capacity_factor": 0.0}, "capacity must be >= 1"),
    ],
)
def test_impossible_mixtures_are_refused_with_the_reason(
    changed: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        expert.mixture(**SWITCH | changed)
