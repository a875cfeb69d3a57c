"""How context-parallel ranks get each other's keys and values: ``data/context_kinds.toml``."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import check_choice
from steptime.inputs.fact import Fact, facts_from

CONTEXT_KIND = "cp_comm_type"
"""The fact that names a kind; its value is a word."""


@functools.cache
def context_kinds() -> dict[str, tuple[Fact, ...]]:
    """Return the facts that follow from each kind, in the order of the data file."""
    table = data_table("context_kinds.toml")
    return {name: facts_from(entry["facts"]) for name, entry in table.items()}


def context_facts(lines: Mapping[str, Fact]) -> dict[str, Fact]:
    """Return the facts that follow from the kind that some lines name: none where they name none.

    Args:
        lines: The line of each fact.

    Raises:
        ConfigError: If there is no such kind.
    """
    named = lines.get(CONTEXT_KIND)
    if named is None:
        return {}
    kind = check_choice(f"fact {CONTEXT_KIND}", str(named.value), tuple(context_kinds()))
    return {fact.name: fact for fact in context_kinds()[kind]}


def windows_refused(lines: Mapping[str, Fact]) -> str:
    """Return where the software of a kind refuses sliding windows; nothing where it does not.

    Args:
        lines: The line of each fact.
    """
    named = lines.get(CONTEXT_KIND)
    table = data_table("context_kinds.toml")
    return "" if named is None else str(table[str(named.value)].get("no_windows", ""))
