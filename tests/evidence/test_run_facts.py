"""The table of what is known of published runs: every line says something, of somebody."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steptime.evidence.nanotron_sweep import nanotron_sweep
from steptime.evidence.row_question import question_of_run
from steptime.evidence.row_said import stated_facts
from steptime.evidence.run_facts import KINDS, RunFact, begins, run_facts, with_run_facts
from steptime.evidence.runs import run_of
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.evidence.sweeps import figure_rows, playbook_rows
from steptime.evidence.text_table import text_rows
from steptime.inputs.datafiles import data_path
from steptime.inputs.stack import FACT_NAMES

BIB = Path(__file__).parents[2] / "data" / "references.bib"
KEYS = set(re.findall(r"^@\w+\{([^,\s]+)", BIB.read_text(encoding="utf-8"), re.MULTILINE))
ROWS = [*published_rows(), *figure_rows(), *playbook_rows(), *nanotron_sweep()]
CELLS = [cells for _, cells in text_rows(data_path("published_runs.csv"))]
LINES = [pytest.param(fact, id=f"{fact.scopes[0]} {fact.fact}") for fact in run_facts()]


@pytest.mark.parametrize("fact", LINES)
def test_a_line_has_a_known_fact_a_kind_and_a_place(fact: RunFact) -> None:
    assert fact.fact in {*PublishedRow.model_fields, *FACT_NAMES}
    assert fact.is_column == (fact.fact in PublishedRow.model_fields)
    assert fact.fact not in ("id", "notes", "source", "location", "facts")
    assert all(column in PublishedRow.model_fields for column, _ in fact.where)
    assert fact.kind in KINDS
    assert fact.value.strip()
    key, _, place = fact.place.partition(",")
    key = key.partition(":")[0]
    assert key in KEYS
    assert place or ":" in fact.place


@pytest.mark.parametrize("fact", LINES)
def test_a_line_reaches_a_run(fact: RunFact) -> None:
    """Each scope is an id or the beginning of one, and each condition holds for some run."""
    ids = {row.id for row in ROWS}
    assert all(any(begins(name, scope) for name in ids) for scope in fact.scopes)
    assert any(fact in row.taken or fact.reach(cells_of(row)) for row in ROWS)


def cells_of(row: PublishedRow) -> dict[str, object]:
    printed = next((cells for cells in CELLS if cells["id"] == row.id), {})
    return {**row.model_dump(), **printed}


def test_every_run_names_its_software_and_most_their_date() -> None:
    unknown = {row.id.rsplit("-", 1)[0] for row in ROWS if not row.software}
    assert unknown <= {"maxtext"}
    assert all(row.date for row in ROWS)


def test_a_longer_scope_wins_then_a_later_line() -> None:
    rows = {row.id: row for row in ROWS}
    assert rows["nar21-t2-001"].software == "deepspeed-zero3-2021"
    assert rows["nar21-t2-007"].software == "megatron-2021"
    assert (rows["nanotron-006"].tied, rows["nanotron-008"].tied) == ("y", "n")


def test_a_scope_ends_where_a_word_ends() -> None:
    assert begins("bloom-001", "bloom")
    assert not begins("bloomberg-001", "bloom")
    assert not begins("nar21-t1-0011", "nar21-t1-001")


def test_a_cell_of_facts_keeps_what_it_had() -> None:
    cells, taken = with_run_facts({"id": "nar21-t1-001", "facts": "flash=1"})
    assert cells["facts"] == "overlap_dp=1; flash=1"
    assert {fact.fact for fact in taken} == {"software", "date", "overlap_dp"}


def test_facts_of_time_win_over_the_stacks_own() -> None:
    row = next(row for row in ROWS if row.id.startswith("nar21-fig18") and row.facts)
    assert stated_facts(row) == {"scattered_sends": 0.0}
    assert question_of_run(run_of(row)).stack.scattered_sends == 0.0
