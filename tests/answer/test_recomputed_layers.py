"""Full recomputation of some of a stage's layers: time and memory lie between none and all."""

from __future__ import annotations

from typing import Any

import pytest

from steptime.answer import Prediction, predict

ASKED: dict[str, Any] = {
    # 80 layers on 8 stages: ten each
    "model": "llama3-70b",
    "accelerator": "h100",
    "tp": 4,
    "pp": 8,
    "dp": 2,
    "cp": 2,
    "seq_length": 8192,
    "global_batch_size": 64,
    "stack": "megatron-core",
}


def found(layers: float) -> Prediction:
    return predict(**ASKED, recompute="full", facts={"recompute_layers": layers})


@pytest.mark.parametrize("layers", [1, 4, 9])
def test_some_layers_cost_their_share_of_all(layers: int) -> None:
    """megatronlm2026, --recompute-method block: the first layers of each stage run again."""
    none, every = predict(**ASKED, recompute="none"), found(0)
    some = found(layers).breakdown_s
    for part in ("recompute", "context_parallel", "tensor_parallel"):
        less, more = none.breakdown_s[part], every.breakdown_s[part]
        assert some[part] == pytest.approx(less + layers / 10 * (more - less), rel=1e-9)
    assert none.step_time_s < found(layers).step_time_s < every.step_time_s
    assert every.total_bytes < found(layers).total_bytes < none.total_bytes


@pytest.mark.parametrize("layers", [10, 12])
def test_no_more_than_all_layers_run_again(layers: int) -> None:
    assert found(layers).breakdown_s == found(0).breakdown_s


def test_only_recomputed_layers_execute_their_flop_again() -> None:
    """korthikanti2022, Sec. 6.3: HFU counts what runs; three of ten layers run forward again."""
    once, some, every = (found(layers) for layers in (10.0, 3.0, 0.0))
    assert once.hfu_fraction == every.hfu_fraction
    again = every.hfu_fraction / every.mfu_fraction - 1.0
    assert some.hfu_fraction / some.mfu_fraction - 1.0 == pytest.approx(0.3 * again, rel=1e-12)
    none = predict(**ASKED, recompute="none")
    assert none.hfu_fraction == none.mfu_fraction
    # Forward is a third of the model's FLOP, less the logits, which do not run again.
    assert 0.31 < again < 1.0 / 3.0
