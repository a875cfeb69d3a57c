"""The rules that refuse a layout: one source for Python, arrays and the page."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest

from steptime.formulas.validity import (
    device_fault,
    largest_divisor,
    layout_fault,
    leaves_rest,
    left_over,
)
from steptime.inputs.layout import RULES

LEGAL = {
    "num_layers": 96,
    "num_attention_heads": 96,
    "num_experts": 0,
    "seq_length": 2048,
    "global_batch_size": 1536,
    "micro_batch_size": 1,
    "tp": 8,
    "cp": 1,
    "pp": 8,
    "vpp": 1,
    "dp": 8,
    "dp_replicate": 1,
    "ep": 1,
    "etp": 1,
    "first_stage_layers": 0,
    "last_stage_layers": 0,
}


def fault(**changed: int) -> dict[str, float]:
    counts = {key: float(value) for key, value in {**LEGAL, **changed}.items()}
    found: dict[str, float] = layout_fault(SimpleNamespace(**counts))
    return found


# --- limit
def test_a_published_layout_breaks_no_rule() -> None:
    assert fault()["rule"] == 0.0


# --- refusal
@pytest.mark.parametrize(
    ("changed", "rule", "nearest"),
    [
        ({"global_batch_size": 1500}, 1, 1504),
        ({"global_batch_size": 2}, 1, 8),
        ({"pp": 97}, 2, 96),
        ({"vpp": 13}, 3, 12),
        ({"tp": 64}, 4, 48),
        ({"cp": 24}, 5, 16),
        ({"ep": 4}, 6, 1),
        ({"num_experts": 60, "ep": 8, "tp": 6}, 7, 6),
        ({"num_experts": 256, "ep": 128}, 8, 64),
        ({"dp_replicate": 3}, 9, 2),
        ({"dp_replicate": 16}, 9, 8),
        # 90 + 1 leave five layers for six stages.
        ({"first_stage_layers": 90, "last_stage_layers": 1}, 10, 0),
    ],
)
def test_each_rule_names_a_value_that_mends_it(
    changed: dict[str, int], rule: int, nearest: int
) -> None:
    found = fault(**changed)
    assert (found["rule"], found["nearest"]) == (rule, nearest)
    blamed = RULES[rule - 1].field
    assert fault(**{**changed, blamed: nearest})["rule"] == 0.0


def test_devices_that_do_not_divide_name_the_nearest_count() -> None:
    assert device_fault(60.0, 8.0, 1.0, 8.0) == {"broken": 1.0, "nearest": 64.0}
    assert device_fault(128.0, 8.0, 1.0, 8.0)["broken"] == 0.0


# --- invariant
def test_dividing_agrees_with_whole_number_arithmetic() -> None:
    draw = random.Random(7)
    for _ in range(2000):
        whole, part = draw.randrange(10**12), draw.randrange(1, 10**6)
        assert leaves_rest(float(whole), float(part)) == (whole % part > 0)
        assert left_over(float(whole), float(part)) == whole % part
        assert whole % largest_divisor(float(whole), float(part)) == 0


def test_arrays_get_the_verdict_of_each_layout_alone() -> None:
    draw = random.Random(11)
    sizes = [1, 2, 3, 4, 6, 8, 16, 48, 97, 128]
    rows = [
        {
            key: draw.choice(sizes)
            for key in ("tp", "cp", "pp", "vpp", "dp", "dp_replicate", "ep", "etp")
        }
        for _ in range(500)
    ]
    columns = {
        key: np.array([{**LEGAL, "num_experts": 64, **row}[key] for row in rows], dtype=float)
        for key in LEGAL
    }
    found = layout_fault(SimpleNamespace(**columns))
    alone = [fault(num_experts=64, **row) for row in rows]
    assert found["rule"].tolist() == [one["rule"] for one in alone]
    assert found["nearest"].tolist() == [one["nearest"] for one in alone]
