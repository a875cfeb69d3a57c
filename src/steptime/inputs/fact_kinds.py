"""The kind of value that each fact of the software has, and its range: data/fact_kinds.toml."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.suffixes import as_number

LAYERS = "layers"
"""The kind of those that no model has more of than layers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactKind:
    """One kind of value.

    Attributes:
        name: Key in ``data/fact_kinds.toml``.
        title: What it is called.
        least: Smallest value allowed.
        above: The value must be larger; None where ``least`` says it all.
        most: Largest value allowed.
        whole: Whether it has no fractions.
        facts: Names of the facts that are of it.
    """

    name: str
    title: str
    least: float
    above: float | None
    most: float
    whole: bool
    facts: tuple[str, ...]

    def holds(self, value: float) -> bool:
        """Return whether a value is in range.

        Args:
            value: A number.
        """
        # Compared before it becomes a float: a huge int does not fit in one.
        inside = self.least <= value <= self.most
        if not inside or (self.above is not None and value <= self.above):
            return False
        return not self.whole or float(value).is_integer()

    @property
    def range(self) -> str:
        """Return what a value must be, as an error says it."""
        least = f">= {self.least:g}" if self.above is None else f"> {self.above:g}"
        return f"a {'whole ' if self.whole else ''}number {least} and <= {self.most:g}"


@functools.cache
def fact_kinds() -> dict[str, FactKind]:
    """Return the kind of each fact, by the fact's name.

    Raises:
        ConfigError: If a fact has two.
    """
    found: dict[str, FactKind] = {}
    for name, entry in data_table("fact_kinds.toml").items():
        above = entry.get("above")
        kind = FactKind(
            name=name,
            title=entry["title"],
            least=float(entry.get("least", -math.inf)),
            above=None if above is None else float(above),
            most=float(entry.get("most", math.inf)),
            whole=bool(entry.get("whole", False)),
            facts=tuple(entry["facts"]),
        )
        for fact in kind.facts:
            if fact in found:
                raise ConfigError(f"fact {fact} is both {found[fact].name} and {name}")
            found[fact] = kind
    return found


def check_fact(name: str, value: object) -> float:
    """Return the value of a fact as a float.

    Args:
        name: Of the fact; not one whose value is a word.
        value: As it came in.

    Raises:
        ConfigError: If it is no number in the range of its kind.
    """
    kind = fact_kinds()[name]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        hint = as_number(value, whole=False)
        raise ConfigError(f"fact {name} must be a number, got {value!r:.60}{hint}")
    if not kind.holds(value):
        shown = repr(value) if isinstance(value, float) or abs(value) < 10**20 else "a huge int"
        raise ConfigError(f"fact {name} must be {kind.range}, got {shown} ({kind.title})")
    return float(value)
