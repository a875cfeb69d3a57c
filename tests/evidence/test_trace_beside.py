"""Measured beside predicted: the parts of a prediction as a trace has them, and the causes."""

from __future__ import annotations

from typing import Any

import pytest

from steptime.answer import predict
from steptime.answer.kinds import compute_kinds
from steptime.evidence.trace_beside import beside, predicted_parts
from steptime.readers.trace.kernel_names import parts

QUESTIONS: list[dict[str, Any]] = [
    {"model": "llama3-8b", "tp": 2, "seq_length": 4096, "global_batch_size": 8},
    {
        **{"model": "llama3-70b", "tp": 8, "pp": 4, "dp": 4, "seq_length": 8192},
        **{"global_batch_size": 256, "recompute": "full"},
    },
    {
        **{"model": "gpt3-175b", "tp": 8, "pp": 8, "vpp": 3, "seq_length": 2048},
        **{"global_batch_size": 64, "recompute": "selective", "stack": "megatron"},
    },
    {
        **{"model": "mixtral-8x7b", "dp": 16, "ep": 8, "seq_length": 4096},
        **{"global_batch_size": 64, "facts": {"recompute_norms": 1.0}},
    },
]


# invariant


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one["model"])
def test_kinds_of_computing_add_up(question: dict[str, Any]) -> None:
    told = predict(accelerator="h100", **question)
    kinds = compute_kinds(told)
    assert kinds is not None
    whole = told.breakdown_s["compute"] + told.breakdown_s["recompute"]
    assert sum(kinds.values()) == pytest.approx(whole, rel=1e-9)
    assert kinds["products"] > kinds["elementwise"] > 0.0
    found = predicted_parts(told)
    assert sum(found.values()) == pytest.approx(told.step_time_s, rel=1e-9)
    assert set(found) <= set(parts())


def test_full_recomputation_runs_attention_half_again_as_long() -> None:
    question = {**QUESTIONS[1], "facts": {"kernel": "flash-2"}}
    plain = compute_kinds(predict(accelerator="h100", **{**question, "recompute": "none"}))
    again = compute_kinds(predict(accelerator="h100", **question))
    assert plain is not None
    assert again is not None
    # Forward once more beside forward and a backward of 2.5 times as long: 4.5 for 3.5.
    assert again["attention"] / plain["attention"] == pytest.approx(4.5 / 3.5)


def test_a_model_that_keeps_computing_whole_is_compared_whole() -> None:
    told = predict(accelerator="h100", predictor="baseline", **QUESTIONS[0])
    assert compute_kinds(told) is None
    rows = beside({"products": 1.0, "attention": 2.0, "host": 0.5}, {}, predicted_parts(told))
    compute = next(row for row in rows if row.part == "compute")
    assert compute.measured_s == 3.0
    assert compute.predicted_s == told.breakdown_s["compute"]


def test_the_worst_gap_comes_first() -> None:
    rows = beside(
        {"products": 10.0, "host": 3.0, "bubble": 1.0},
        {"data_parallel": 2.0},
        {"products": 10.1, "bubble": 2.0, "host": 0.0},
    )
    assert [row.part for row in rows] == ["host", "bubble", "products", "data_parallel"]
    data = rows[-1]
    assert (data.measured_s, data.hidden_s, data.gap_s) == (0.0, 2.0, 0.0)
