"""Chains of actions: as long as the executor's steps, and kept in tables of few forms."""

from __future__ import annotations

import random
from base64 import b85encode
from collections.abc import Callable
from typing import Any
from zlib import compress

import numpy as np
import pytest

from steptime.evidence import chains, form_tables
from steptime.formulas.schedules.v_forms import _columns, settled_at
from steptime.formulas.schedules.v_half import v_half_idle
from steptime.formulas.schedules.v_half_table import V_HALF_FORMS
from steptime.formulas.schedules.v_min import v_min_idle
from steptime.formulas.schedules.v_min_table import V_MIN_FORMS
from steptime.pipeline.build import fixed_chunks
from steptime.pipeline.durations import slot_times
from steptime.pipeline.execute import execute
from steptime.pipeline.schedules import schedule_orders

Idle = Callable[[float, float, float], list[list[Any]]]


def test_the_longest_chain_of_two_ranks() -> None:
    orders = schedule_orders("1f1b", 2, 2)
    # Rank 1 is busy with two of each once the first F reaches it, then rank 0's last backward.
    equal, usual = chains.lattice(2)[:1], chains.lattice(2)[1:2]
    assert chains.longest(orders, 2, 2, equal).tolist() == [[3, 3, 3]]
    assert chains.idle_chains("1f1b", 2, 2, 1, usual).tolist() == [[1, 1, 1]]
    assert chains.idle_chains("1f1b", 4, 4, 1, usual).tolist() == [[3, 3, 3]]


@pytest.mark.parametrize("name", ["v-half", "v-min", "zb-h1", "1f1b"])
def test_chains_are_as_long_as_the_executors_steps(name: str) -> None:
    v = fixed_chunks(name)
    orders = schedule_orders(name, 5, 9, v)
    fresh = chains.ratios(20, 7)
    for lengths, chain in zip(fresh, chains.longest(orders, 5 * v, 9, fresh), strict=True):
        times = slot_times(orders, 5 * v, 9, *map(int, lengths))
        ends = execute(orders, 5 * v, 9, times)["ends"]
        assert max(end[-1] for end in ends) == lengths @ chain


def test_ranks_that_wait_for_one_another_have_no_chain() -> None:
    with pytest.raises(ValueError, match="wait for one another"):
        chains.longest([[2], []], 2, 1, chains.lattice(1))


def test_ratios_are_as_far_apart_as_they_may_be() -> None:
    near, wide = chains.ratios(300), chains.ratios(300, 2, 10.0)
    assert near[:3].tolist() == [[1000, 1000, 1000], [1000, 1200, 900], [1000, 2000, 1000]]
    assert 3.5 < (near.max(axis=1) / near.min(axis=1)).max() <= 4.0
    assert 4.0 < (wide.max(axis=1) / wide.min(axis=1)).max() <= 10.0
    # A hexagon of 1 + 3 n (n + 1) points, its six corners among them.
    even = chains.lattice(3).tolist()
    assert len(even) == 3 + 1 + 3 * 3 * 4
    assert [4000, 1000, 4000] in even
    assert [1000, 1000, 4000] in even


@pytest.mark.parametrize("name", ["v-half", "v-min"])
@pytest.mark.parametrize("p", [3, 6])
def test_few_forms_stay_within_their_tolerance(name: str, p: int) -> None:
    # Each number of micro-batches that is too few to settle, at fresh ratios.
    fresh = chains.ratios(60, 7)
    start = 1
    for served, *row in form_tables.few_rows(name, p):
        for m in range(start, start + served):
            forms = [
                [row[at + 3 + k] + (m - start) * row[at + k] for k in range(3)]
                for at in range(0, len(row), 6)
            ]
            truth = chains.idle_chains(name, p, m, 2, fresh)
            idle = (truth * fresh).sum(axis=1)
            found = (fresh @ np.array(forms).T).max(axis=1)
            step = idle + 2 * m * fresh.sum(axis=1)
            assert (abs(found - idle) <= 0.005 * step).all()
            assert (found[:3] == idle[:3]).all()
        start += served
    assert start == settled_at(float(p), form_tables.SETTLED[name])


@pytest.mark.parametrize(("name", "table"), [("v-half", V_HALF_FORMS), ("v-min", V_MIN_FORMS)])
def test_the_tables_are_what_their_maker_makes(name: str, table: dict[str, list[float]]) -> None:
    """The first ranks in order; the text of all takes a minute for the smaller half."""
    rows = [row for p in range(1, 10) for row in form_tables.rows_of(name, p)]
    numbers = [float(n) for row in rows for n in row[1:]]
    parts = ("forward", "input", "weight")
    slopes = list(zip(*(table[f"slopes_{part}"] for part in parts), strict=True))
    forms = zip(*(table[part] for part in ("slope", *parts)), strict=True)
    kept = [n for slope, *form in forms for n in (*slopes[int(slope)], *form)]
    assert kept[: len(numbers)] == numbers


def test_a_table_by_hand() -> None:
    # One rank: a row for two numbers of micro-batches with two forms, then one for all others.
    rows = [[2, 0, 0, 0, 3, 1, 2, 1, 0, -1, 4, 0, 0], [0, 0, 0, 0, 3, -1, 5]]
    text = b85encode(compress(form_tables.packed(rows))).decode()
    assert _columns([text]) == {
        **{"first": [0.0, 0.0, 2.0], "last": [1.0, 1.0, 2.0], "start": [1.0, 1.0, 3.0]},
        **{"slope": [0.0, 1.0, 0.0], "forward": [3.0, 4.0, 3.0], "input": [1.0, 0.0, -1.0]},
        **{"weight": [2.0, 0.0, 5.0], "forms": [0.0, 1.0]},
        **{"slopes_forward": [0.0, 1.0], "slopes_input": [0.0, 0.0]},
        "slopes_weight": [0.0, -1.0],
    }


@pytest.mark.parametrize(("name", "forms"), [("v-half", v_half_idle), ("v-min", v_min_idle)])
def test_steps_of_many_ranks_are_the_executors(name: str, forms: Idle) -> None:
    """2,000 steps in all: 25 sizes of 17 to 64 ranks, 40 ratios each, of either schedule."""
    draw, fresh = random.Random(name), chains.ratios(40, 11)
    for _ in range(25):
        p = draw.randint(17, 64)
        m = draw.randint(1, 2 * p)
        assert missed(name, forms, p, m, fresh) < 0.005, (p, m)


@pytest.mark.parametrize(("name", "forms"), [("v-half", v_half_idle), ("v-min", v_min_idle)])
@pytest.mark.parametrize(("p", "m"), [(70, 35), (75, 42), (80, 62), (96, 96)])
def test_beyond_64_ranks_forms_are_scaled(name: str, forms: Idle, p: int, m: int) -> None:
    assert missed(name, forms, p, m, chains.ratios(20, 11)) < 0.01


def missed(name: str, forms: Idle, p: int, m: int, ratios: chains.Forms) -> float:
    """Return the most by which the forms miss the executor's steps, as a share of them."""
    idle = (chains.idle_chains(name, p, m, 2, ratios) * ratios).sum(axis=1)
    rows = np.array(forms(float(p), float(m), 2.0), dtype=float)
    found = np.maximum((ratios @ rows.T).max(axis=1), 0.0)
    return float((abs(found - idle) / (idle + 2 * m * ratios.sum(axis=1))).max())
