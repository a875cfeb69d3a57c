"""Which sizes a schedule refuses, rule by rule, and sizes near by that it runs at."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from steptime.formulas.schedule_rules import mended_sizes, schedule_rule
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import SCHEDULES
from steptime.pipeline.build import build_orders, fixed_chunks, refusal

GRID = list(itertools.product(range(12), (1, 2, 3, 4, 8), (1, 2, 3, 7, 8, 9, 16, 17), (1, 2, 3)))


# --- invariant
def test_rules_are_the_same_for_arrays_and_floats() -> None:
    rules = schedule_rule(*np.array(GRID, dtype=np.float64).T)
    for place, sizes in enumerate(GRID):
        assert rules[place] == schedule_rule(*(float(size) for size in sizes)), sizes


def test_what_no_rule_forbids_the_generator_builds() -> None:
    allowed = 0
    for code, ranks, micro, chunks in GRID:
        name = SCHEDULES[code]
        rule = schedule_rule(float(code), float(ranks), float(micro), float(chunks))
        chunked = chunks == 1 if ranks == 1 else fixed_chunks(name) in (0, chunks)
        said = refusal(name, ranks, micro, chunks)
        assert (rule in (1.0, 2.0, 6.0)) == (not chunked), (name, ranks, micro, chunks)
        assert (rule == 0.0) == (said == ""), (name, ranks, micro, chunks, said)
        if not rule:
            orders = build_orders(name, ranks, micro, chunks)
            whole = [code for order in orders for code in order if code >= 0]
            assert len(whole) >= 2 * ranks * micro, (name, ranks, micro, chunks)
        allowed += rule == 0.0
    assert allowed > 200


def test_the_sizes_named_are_ones_the_schedule_runs_at() -> None:
    met = set()
    for code, ranks, micro, chunks in GRID:
        sizes = (float(code), float(ranks))
        rule = schedule_rule(*sizes, float(micro), float(chunks))
        near = mended_sizes(float(ranks), float(micro))
        if rule == 3.0:
            assert schedule_rule(*sizes, near["fewer"], float(chunks)) == 0.0
            assert schedule_rule(*sizes, near["more"], float(chunks)) == 0.0
        if rule == 4.0:
            again = schedule_rule(float(code), near["even_pp"], near["even"], float(chunks))
            assert again in (0.0, 5.0)
        if rule == 5.0:
            assert schedule_rule(*sizes, near["least"], float(chunks)) == 0.0
        met.add(rule)
    assert met == {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0}


# --- refusal
@pytest.mark.parametrize(
    ("schedule", "pp", "batch", "vpp", "says"),
    [
        ("zb-v", 4, 8, 3, "schedule='zb-v' has two chunks a device; use vpp=2, got vpp=3"),
        ("zb-h1", 4, 8, 2, "has one chunk a device; use vpp=1 or interleaved-1f1b, got vpp=2"),
        ("interleaved-1f1b", 4, 13, 2, "at least pp=4 micro-batches, and 13 do .* use 12 or 16"),
        ("interleaved-1f1b", 1, 8, 3, "vpp=3 cuts a stage .* pp=1 makes none; use vpp=1, or pp=2"),
        ("interleaved-zb", 4, 9, 2, "at least pp=4 micro-batches, and 9 do .* use 8 or 12"),
        ("dualpipe", 3, 9, None, "got 3 and 9; use 4 and 10, or dualpipe-v"),
        ("dualpipe-v", 4, 7, None, "needs 2 pp = 8 micro-batches, got 7"),
    ],
)
def test_each_rule_has_its_sentence(
    schedule: str, pp: int, batch: int, vpp: int | None, says: str
) -> None:
    from steptime.inputs.training_step import training_step

    with pytest.raises(ConfigError, match=says):
        training_step(
            model="gpt3-175b",
            accelerator="h100",
            seq_length=2048,
            global_batch_size=batch,
            pp=pp,
            vpp=vpp,
            schedule=schedule,
        )
