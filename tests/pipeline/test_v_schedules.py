"""V-Half and V-Min against what their authors' code made of 84 sizes and lengths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steptime.pipeline.codes import KINDS, kind_of
from steptime.pipeline.report import summary
from steptime.pipeline.timeline import Work, simulate

DATA = Path(__file__).parents[2] / "data" / "v_schedules.json"
RECORDS: list[dict[str, Any]] = json.loads(DATA.read_text(encoding="utf-8"))["records"]

# ---- published


def test_all_records_are_there() -> None:
    assert len(RECORDS) == 84


@pytest.mark.parametrize("name", ["v-half", "v-min"])
def test_steps_and_peaks_are_the_authors(name: str) -> None:
    for record in RECORDS:
        if record["schedule"] != name:
            continue
        work = Work(
            forward=record["forward"],
            backward_input=record["input"],
            backward_weight=record["weight"],
        )
        found = summary(simulate(name, record["stages"], record["micro_batches"], 2, work))
        assert found["makespan"] == record["makespan"], record
        assert max(found["peak_in_flight"]) == record["peak_chunks"], record


@pytest.mark.parametrize("micro_batches", [32, 64, 96])
def test_idle_time_does_not_grow_with_the_micro_batches(micro_batches: int) -> None:
    work = Work(forward=10, backward_input=12, backward_weight=9)
    found = summary(simulate("v-half", 8, micro_batches, 2, work))
    assert found["makespan"] - micro_batches * 2 * 31 == 221


def test_rank_7_of_8_repeats_the_authors_block() -> None:
    rank = simulate("v-half", 8, 32, 2).orders[7]
    # F of both chunks are stages 7 and 8; the middle of the step, past both ends.
    kinds = "".join(KINDS[kind_of(code, 16, 32)] for code in rank)
    assert "FFIWIW" * 8 in kinds
