"""Which sizes a schedule refuses, rule by rule, and sizes near by that it runs at."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from steptime.formulas.schedule_rules import chunks_held, mended_sizes, schedule_rule
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import SCHEDULES
from steptime.inputs.schedule_faults import INSTEAD
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
        if rule in (4.0, 7.0):
            again = schedule_rule(float(code), near["even_pp"], near["even"], float(chunks))
            assert again == 0.0
        if rule == 5.0:
            assert schedule_rule(*sizes, near["least"], float(chunks)) == 0.0
        met.add(rule)
    assert met == {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0}


def test_each_schedule_named_instead_runs_at_the_same_sizes() -> None:
    for code, ranks, micro, chunks in GRID:
        sizes = (float(ranks), float(micro))
        rule = int(schedule_rule(float(code), *sizes, float(chunks)))
        instead = INSTEAD[rule - 1] if rule else ""
        if instead:
            place = float(SCHEDULES.index(instead))
            assert schedule_rule(place, *sizes, chunks_held(place)) == 0.0
        if rule in (1, 2, 6):
            told = 1.0 if rule == 6 else chunks_held(float(code))
            assert schedule_rule(float(code), *sizes, told) not in (1.0, 2.0, 6.0)
        if rule == 2:
            looped = float(SCHEDULES.index("interleaved-1f1b"))
            assert schedule_rule(looped, float(ranks), 3.0 * ranks, float(chunks)) == 0.0


def test_what_the_command_advises_runs() -> None:
    met = set()
    for code, ranks, micro, chunks in GRID:
        name = SCHEDULES[code]
        said = refusal(name, ranks, micro, chunks)
        if found := re.search(r"use (\d+) and (\d+)$", said):
            again = [(int(found[1]), int(found[2]), chunks)]
        elif found := re.search(r"use micro_batches=(\d+) or (\d+)$", said):
            again = [(ranks, int(count), chunks) for count in found.groups()]
        elif found := re.search(r"micro_batches >= 2 x stages = (\d+),", said):
            again = [(ranks, int(found[1]), chunks)]
        elif found := re.search(r"use chunks=(\d+),", said):
            again = [(ranks, micro, int(found[1]))]
        else:
            # That a schedule has one chunk or two is told first, and then what it asks else.
            assert said == "" or "needs chunks=" in said
            continue
        met.add(found.re.pattern)
        assert [refusal(name, *sizes) for sizes in again] == [""] * len(again), (said, again)
    assert len(met) == 4


# --- refusal
@pytest.mark.parametrize(
    ("schedule", "pp", "batch", "vpp", "says"),
    [
        ("zb-v", 4, 8, 3, "schedule='zb-v' has two chunks a device; use vpp=2, got vpp=3"),
        (
            "zb-h1",
            4,
            8,
            2,
            "use vpp=1, or interleaved-1f1b with a multiple of 4 micro-batches, got vpp=2",
        ),
        ("interleaved-1f1b", 4, 13, 2, "at least pp=4 micro-batches, and 13 do .* use 12 or 16"),
        ("interleaved-1f1b", 1, 8, 3, "vpp=3 cuts a stage .* pp=1 makes none; use vpp=1$"),
        ("interleaved-zb", 4, 9, 2, "at least pp=4 micro-batches, and 9 do .* use 8 or 12"),
        ("dualpipe", 3, 9, None, "got 3 and 9; use 4 and 10, or dualpipe-v"),
        ("dualpipe", 2, 1, None, "got 2 and 1; use 2 and 4, or zb-v"),
        ("dualpipe", 4, 5, None, "got 4 and 5; use 4 and 8, or zb-v"),
        ("dualpipe", 3, 6, None, "got 3 and 6; use 4 and 8, or dualpipe-v"),
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
