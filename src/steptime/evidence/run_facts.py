"""What is known of published runs beside their columns: `data/run_facts.csv`.

A line says it of one run, of several, or of all runs whose ids begin alike, such as ``bloom``; of
those alone whose cells are as ``where`` says. A longer scope wins over a shorter one, then a later
line over an earlier one. A fact is a column of the runs, or one of the software, of
`steptime.inputs.stack.FACT_NAMES`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steptime.evidence.text_table import text_rows
from steptime.inputs.datafiles import data_path
from steptime.inputs.stack import FACT_NAMES

FILE = "run_facts.csv"
KINDS = ("read", "inferred", "read off runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFact:
    """One line of the table.

    Attributes:
        scopes: Ids, or what ids begin with.
        where: Cells that a run must have: those of a column, each one of several.
        fact: A column, or a fact of the software.
        value: As text.
        place: Key of ``references.bib`` and place, or what it is inferred from.
        kind: One of ``KINDS``.
    """

    scopes: tuple[str, ...]
    where: tuple[tuple[str, tuple[str, ...]], ...]
    fact: str
    value: str
    place: str
    kind: str

    @property
    def is_column(self) -> bool:
        """Return whether it fills a column, not the cell of facts."""
        return self.fact not in FACT_NAMES

    def reach(self, cells: Mapping[str, Any]) -> int:
        """Return the length of the scope that a run falls under, 0 if none.

        Args:
            cells: Of the run.
        """
        name = str(cells.get("id", ""))
        longest = max((len(scope) for scope in self.scopes if begins(name, scope)), default=0)
        fits = all(_cell(cells, column) in values for column, values in self.where)
        return longest if fits else 0


def begins(name: str, scope: str) -> bool:
    """Return whether an id is a scope or begins with it, up to the end of a word.

    Args:
        name: The id.
        scope: Such as ``bloom``.
    """
    rest = name[len(scope) :]
    return name.startswith(scope) and not (rest[:1].isalpha() or rest[:1].isdecimal())


def _cell(cells: Mapping[str, Any], column: str) -> str:
    value = cells.get(column)
    return "" if value is None else str(value).strip()


def _where(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    pairs = (part.partition("=") for part in text.split(";") if part.strip())
    return tuple((name.strip(), tuple(values.split("|"))) for name, _, values in pairs)


@functools.cache
def run_facts() -> tuple[RunFact, ...]:
    """Return the lines of the table."""
    return tuple(
        RunFact(
            scopes=tuple(row["scope"].split()),
            where=_where(row["where"]),
            fact=row["fact"],
            value=row["value"],
            place=row["place"],
            kind=row["kind"],
        )
        for _, row in text_rows(data_path(FILE))
    )


def with_run_facts(cells: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[RunFact, ...]]:
    """Return the cells of a published run with what the table says of it, and those lines.

    Args:
        cells: As they were printed.
    """
    reached = [(fact.reach(cells), fact) for fact in run_facts()]
    reached = sorted((pair for pair in reached if pair[0]), key=lambda pair: pair[0])
    taken = {fact.fact: fact for _, fact in reached}
    found = dict(cells)
    found.update({name: fact.value for name, fact in taken.items() if fact.is_column})
    beside = [f"{name}={fact.value}" for name, fact in taken.items() if not fact.is_column]
    own = _cell(cells, "facts")
    found["facts"] = "; ".join([*beside, *([own] if own else [])])
    return found, tuple(taken.values())
