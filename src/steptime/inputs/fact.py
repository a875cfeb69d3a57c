"""One fact of the software: its value, the kind of knowledge it is, and where it stands."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError

KINDS = ("counted", "printed", "inferred", "read off runs", "stated")
"""How a value is known: counted in code, printed by a source, inferred, read off measured runs,
or stated by who asks."""
KINDS_OF_STEP = (
    *("experts", "dense", "latent attention", "16 bits", "8 bits and below"),
    *("recompute unstated", "undated", "kernels counted"),
)
"""What a line can be limited to, beside a precision and a generation of devices: a kind of model,
all wide or all narrow precisions, what nobody stated, such as the month of the software, and a
generation whose kernels are counted together."""

Value = float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One line of a table of facts.

    Attributes:
        name: A field of `TimeFacts` or `MemoryFacts`, ``kernel`` or ``cp_comm_type``.
        value: Its value; a word for the last two.
        kind: One of ``KINDS``.
        source: Key in ``references.bib`` and place, or from what it was inferred.
        when: Of `conditions`, all of which must be true; empty where it always holds.
        before: Month, as ``2025-02``, from which on it holds no more; empty for ever.
    """

    name: str
    value: Value
    kind: str
    source: str
    when: tuple[str, ...] = ()
    before: str = ""

    def holds(self, conditions: Iterable[str], date: str | None) -> bool:
        """Return whether the line holds; without a date, software is taken to be new.

        Args:
            conditions: What is true of model and precision.
            date: Month of the software, as ``2025-02``, or None.
        """
        if not set(self.when) <= set(conditions):
            return False
        return not self.before or (date is not None and date < self.before)


@functools.cache
def conditions() -> frozenset[str]:
    """Return what a line can be limited to; precisions and generations are those of the data."""
    return frozenset(
        (*KINDS_OF_STEP, *data_table("precisions.toml"), *data_table("generations.toml"))
    )


def facts_from(table: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Return the facts of a TOML table: a line each, or a list of lines under one name.

    Args:
        table: From a data file.

    Raises:
        ConfigError: If a kind or a condition is none that is known.
    """
    found = []
    for name, entry in table.items():
        for line in entry if isinstance(entry, list) else [entry]:
            if not isinstance(line, Mapping) or not {"value", "kind", "source"} <= {*line}:
                raise ConfigError(
                    f"facts: {name} must be a table with value, kind and source, got {line!r:.80}"
                )
            value, when = line["value"], line.get("when", ())
            fact = Fact(
                name=name,
                value=value if isinstance(value, str) else float(value),
                kind=line["kind"],
                source=line["source"],
                when=(when,) if isinstance(when, str) else tuple(when),
                before=line.get("before", ""),
            )
            if fact.kind not in KINDS or not set(fact.when) <= conditions():
                raise ConfigError(f"fact {name}: {fact.kind!r} or {fact.when!r} is not known")
            found.append(fact)
    return tuple(found)
