"""What each kind of knowledge of the software buys."""

from __future__ import annotations

import math

import pytest

from steptime.evidence.ladder import (
    RUNGS,
    family_and_date,
    ladder,
    ladder_of,
    markdown,
    missed,
    nothing,
    weighed,
)
from steptime.evidence.row_question import roofline_question
from steptime.evidence.row_said import said_of
from steptime.evidence.runs import run_of
from steptime.evidence.schema import PublishedRow, published_rows


def row(name: str) -> PublishedRow:
    return next(row for row in published_rows() if row.id == name)


# limit


def test_a_row_that_says_no_more_than_its_family_loses_nothing() -> None:
    """Dgxc's rows name a family and a date, so both rungs ask the same."""
    line = next(line for line in ladder() if line.source == "dgxc")
    assert line.rungs["as told"] == line.rungs["family and date"]


def test_the_last_rung_says_nothing_of_the_software() -> None:
    said, _ = said_of(nothing(row("bloom-087")))
    assert (said.stack, said.date) == (None, None)
    software = roofline_question(run_of(nothing(row("hagemann-001")))).software
    assert software.stack.name == "usual"
    assert not software.known


def test_an_exact_stack_becomes_its_family() -> None:
    said, _ = said_of(family_and_date(row("hagemann-001")))
    assert (said.stack, said.date, said.exact) == ("gpt-neox", "2023-09", False)


# invariant


def test_every_rung_asks_the_same_runs() -> None:
    lines = ladder()
    assert {tuple(line.rungs) for line in lines} == {tuple(RUNGS)}
    assert sum(line.runs for line in lines) > 700


def test_knowledge_buys_accuracy_sources_weighing_the_same() -> None:
    told = weighed(ladder())
    sizes = [told[name].mean_size for name in RUNGS]
    assert sizes == sorted(sizes)


def test_a_line_is_the_mean_of_its_runs() -> None:
    chosen = [row("nar21-t1-001"), row("nar21-t1-005")]
    errors = [missed(one).error for one in chosen]
    (line,) = ladder_of(chosen)
    assert line.rungs["as told"].bias == pytest.approx(math.fsum(errors) / 2, abs=1e-12)


def test_the_table_has_a_row_a_source_and_their_mean() -> None:
    lines = ladder()
    text = markdown(lines).splitlines()
    assert len(text) == 2 + len(lines) + 1
    assert text[-1].startswith("| sources alike |")
