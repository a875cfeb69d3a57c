"""What a Python recipe builds: records of fields, and values that are not written down."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from steptime.readers.python.module import Library, Module

MOST = 10**15
MOST_CALLS = 6_000
MOST_STEPS = 60_000
_LONGEST = 60
_LONGEST_TEXT = 200
_MOST_POWER = 64


def _power(one: Any, other: Any) -> Any:
    """Return a power of whole numbers; None for one so high that it would take long."""
    whole = isinstance(one, int) and isinstance(other, int)
    return one**other if whole and 0 <= other <= _MOST_POWER else None


SUMS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
COMPARED: Mapping[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, several: one in several,
    ast.NotIn: lambda one, several: one not in several,
}
PLAIN = (int, float, str, bool, type(None))


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that is not written down.

    Attributes:
        text: The expression.
        is_option: Whether it is an option of the program, which its user may leave out.
    """

    text: str
    is_option: bool = False


OPEN = Unknown("")
"""For an expression whose value is not known; whoever asked puts its text in."""


@dataclass(slots=True)
class Record:
    """What a call with arguments makes.

    Attributes:
        kind: The name that is called.
        fields: Values by keyword, and by position as a number; with their lines.
    """

    kind: str
    fields: dict[str, tuple[Any, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Budget:
    """What may still be asked for, shared by all recipes of a file.

    Attributes:
        calls: How many more calls are followed.
        steps: How many more expressions are looked at.
        touched: Lines where a record is handed to a function that may change it.
    """

    calls: int = MOST_CALLS
    steps: int = MOST_STEPS
    touched: list[tuple[int, str]] = field(default_factory=list)


class Scoped(Protocol):
    """Where an expression stands: what gives its parts their values."""

    @property
    def names(self) -> dict[str, Any]:
        """Return values by name."""

    @property
    def module(self) -> Module:
        """Return the module that it is a part of."""

    @property
    def library(self) -> Library:
        """Return the modules that names may come from, and what the user sets."""

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression."""

    def callee(self, node: ast.expr) -> tuple[Module, str] | None:
        """Return the function or class that an expression names, and its module."""

    def inside(self, module: Module) -> Scoped:
        """Return the same for another module."""

    def run(self, body: list[ast.stmt]) -> Any:
        """Take statements one by one."""

    def spend(self, many: int = 1) -> None:
        """Count more values."""


def shown(node: ast.AST) -> str:
    """Return an expression as it is written, shortened.

    Args:
        node: The expression.
    """
    return ast.unparse(node)[:_LONGEST]


def is_number(value: object) -> bool:
    """Return whether a value is a number that may be counted with.

    Args:
        value: Any.
    """
    return type(value) in (int, float) and abs(value) < MOST  # type: ignore[arg-type]


def summed(kind: type, one: Any, other: Any) -> Any:
    """Return what an operator makes of two values; None if that is not known.

    Args:
        kind: Of the operator, as `ast` names it.
        one: The left value.
        other: The right one.
    """
    short = isinstance(one, str) and isinstance(other, str)
    if kind is ast.Add and short and len(one) + len(other) <= _LONGEST_TEXT:
        return one + other
    if kind not in SUMS or not (is_number(one) and is_number(other)):
        return None
    return (
        None if kind in (ast.FloorDiv, ast.Div, ast.Mod) and not other else SUMS[kind](one, other)
    )


def compared(kind: type, one: Any, other: Any) -> bool | None:
    """Return whether a comparison holds; None if that is not known.

    Args:
        kind: Of the comparison, as `ast` names it.
        one: The left value.
        other: The right one.
    """
    if kind not in COMPARED or isinstance(one, Unknown) or isinstance(other, Unknown):
        return None
    if isinstance(one, Record) or isinstance(other, Record):
        # A record is something: it is not None, and nothing else is known of it.
        nothing = one is None or other is None
        return kind is ast.IsNot if nothing and kind in (ast.Is, ast.IsNot) else None
    if kind in (ast.In, ast.NotIn) and not (
        isinstance(other, (list, str)) and isinstance(one, PLAIN)
    ):
        return None
    try:
        return bool(COMPARED[kind](one, other))
    except TypeError:
        return None


def truth(value: Any) -> bool | None:
    """Return whether a value counts as true; None if that is not known.

    Args:
        value: Of an expression.
    """
    if isinstance(value, Unknown):
        return None
    return True if isinstance(value, Record) else bool(value)
