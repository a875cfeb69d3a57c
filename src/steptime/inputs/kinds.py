"""Records from users' files and calls: each field is checked by the type that it states."""

from __future__ import annotations

import functools
import math
import numbers
import operator
from dataclasses import fields
from typing import Any, get_args, get_type_hints

from steptime.inputs.errors import ConfigError

MUST_BE = {
    bool: "true or false",
    str: "a text in quotes",
    int: "a whole number",
    float: "a number",
    list: "a list in brackets",
    dict: "a table",
}
"""How a message calls a type."""


def check_kinds(record: object) -> None:
    """Refuse a record of which a field holds a value of another type than it states.

    Numbers of other libraries become Python's own.

    Args:
        record: Of a dataclass.

    Raises:
        ConfigError: With the field, its value, and what it must be.
    """
    own: Any = type(record)
    for name, kinds in _stated(own):
        value = as_python(getattr(record, name))
        if type(value) is not type(getattr(record, name)):
            object.__setattr__(record, name, value)
        if not holds(value, kinds):
            words = [must_be(kind) for kind in kinds if kind is not type(None)]
            raise ConfigError(f"{name} must be {' or '.join(words)}, got {value!r:.80}")
    for name, kinds in _stated(own):
        if float in kinds and not math.isfinite(getattr(record, name) or 0.0):
            raise ConfigError(f"{name} must be a finite number, got {getattr(record, name)!r}")


PYTHONS = (bool, int, float, str, type(None))
"""Types of values that are Python's own."""


def as_python(value: Any) -> Any:
    """Return numbers of other libraries, alone or several, as Python's own; the rest as it is.

    Python's abstract numbers and ``tolist`` are what NumPy, its kin and tables have in common.

    Args:
        value: As it came in.
    """
    if type(value) in PYTHONS:
        return value
    if type(value) in (list, tuple):
        return type(value)(as_python(one) for one in value)
    if type(value) is dict:
        return {name: as_python(one) for name, one in value.items()}
    if isinstance(value, numbers.Integral):
        return operator.index(value)
    # Fractions are Python's own, and exact.
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
        return float(value)
    return value.tolist() if hasattr(value, "tolist") else value


def holds(value: object, kinds: tuple[type, ...]) -> bool:
    """Return whether a value is of one of some types: a whole number is a number, true is none.

    Args:
        value: As it came in.
        kinds: The types.
    """
    if isinstance(value, bool):
        return bool in kinds
    # No float holds a larger one.
    whole = isinstance(value, int) and abs(value) < 10**300
    return isinstance(value, kinds) or (whole and float in kinds)


def must_be(kind: type) -> str:
    """Return how a message calls what a field must be.

    Args:
        kind: The type that it states.
    """
    return MUST_BE.get(kind, f"a table of {kind.__name__}")


@functools.cache
def _stated(kind: type[Any]) -> tuple[tuple[str, tuple[type, ...]], ...]:
    """Return the types that each field of a dataclass may have; a tuple stands for itself."""
    hints = get_type_hints(kind)
    found = []
    for one in fields(kind):
        hint = hints[one.name]
        # tuple[Fact, ...] has arguments too, and they are not its types.
        kinds = (hint.__origin__,) if hasattr(hint, "__origin__") else get_args(hint) or (hint,)
        found.append((one.name, kinds))
    return tuple(found)
