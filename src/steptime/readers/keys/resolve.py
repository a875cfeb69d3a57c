"""Put in what the values of a YAML file refer to: ``${...}``, other keys, small sums."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_INNERMOST = re.compile(r"\$\{([^{}]*)\}")
_MOST_STEPS = 16
_LONGEST = 1000


def _quotient(left: int, right: int) -> int:
    return left // right


def _quotient_up(left: int, right: int) -> int:
    return -(-left // right)


def _product(left: int, right: int) -> int:
    return left * right


def _total(left: int, right: int) -> int:
    return left + right


RESOLVERS: dict[str, Callable[[int, int], int]] = {
    "multiply": _product,
    "divide": _quotient,
    "divide_floor": _quotient,
    "divide_ceil": _quotient_up,
    "sum": _total,
    "add": _total,
}
"""What the launchers' own resolvers compute, by name."""


@dataclass(frozen=True, slots=True)
class Resolver:
    """The values of one file, and what its user sets.

    Attributes:
        by_path: Values by their path of keys, joined by dots.
        given: What the user sets.
    """

    by_path: Mapping[str, object]
    given: Mapping[str, str]

    def value(self, value: object, path: tuple[str, ...]) -> tuple[object, bool]:
        """Return a value with what it refers to put in, and whether that could be done.

        Args:
            value: As the file has it.
            path: Where it stands, for what is named from there.
        """
        for _ in range(_MOST_STEPS):
            if not isinstance(value, str) or "${" not in value:
                return value, True
            match = _INNERMOST.search(value[:_LONGEST])
            found = None if match is None else self._inner(match[1].strip(), path)
            if match is None or found is None:
                return value, False
            if match[0] == value:
                value = found
            else:
                value = (value[: match.start()] + str(found) + value[match.end() :])[:_LONGEST]
        return value, False

    def _inner(self, inner: str, path: tuple[str, ...]) -> object:
        """Return what stands for the text within the brackets; None if that is not known."""
        name, colon, rest = inner.partition(":")
        if name == "oc.env":
            variable, comma, default = rest.partition(",")
            return self.given.get(variable.strip(), default.strip() if comma else None)
        if colon and name in RESOLVERS:
            left, _, right = rest.partition(",")
            try:
                return RESOLVERS[name](int(left[:18]), int(right[:18]))
            except (ValueError, ZeroDivisionError):
                return None
        if colon and name.isidentifier() and name.isupper():
            # A variable of the environment with its default, as a shell writes it.
            return self.given.get(name, rest.removeprefix("-").strip("\"'"))
        if name.startswith("."):
            # One dot is the section where the value stands, each further one a section out.
            dots = len(name) - len(name.lstrip("."))
            outer = path[: max(0, len(path) - dots)]
            return self.by_path.get(".".join((*outer, name.lstrip("."))))
        return self.given.get(inner, self.by_path.get(inner, self._from_any_root(inner)))

    def _from_any_root(self, inner: str) -> object:
        """Return a key of a file that is a part of a larger one, where its root has a name."""
        _, dot, rest = inner.partition(".")
        return self.by_path.get(rest) if dot else None
