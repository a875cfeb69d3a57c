"""Functions of a library that set many fields of a recipe, by what data say of their arguments."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from steptime.readers.keys.formats import AS_SET, setters
from steptime.readers.python.records import Record, Scoped, Unknown

ITS_VALUE = ""
"""Stands for the argument itself in what a rule sets."""


def set_by(scope: Scoped, node: ast.Call, name: str) -> Record | None:
    """Return the record that a function of the library sets fields of; None if it is no such call.

    Args:
        scope: Where it is called.
        node: The call, whose first argument is the record.
        name: The function's last name.
    """
    setter = setters().get(name)
    record = scope.value(node.args[0]) if setter is not None and node.args else None
    if setter is None or not isinstance(record, Record):
        return None
    names = setter["arguments"].split()
    given = {one: scope.value(arg) for one, arg in zip(names, node.args, strict=False)}
    given |= {word.arg: scope.value(word.value) for word in node.keywords if word.arg}
    for rule in setter["rules"]:
        its = [given.get(one) for one in rule["of"].split()]
        holds = _holds(rule, its)
        for path, value in rule["sets"].items() if holds is not False else ():
            wanted = its[0] if value == ITS_VALUE else value
            _put(record, path, Unknown(f"{AS_SET}{name}") if holds is None else wanted, node)
    return record


def _holds(rule: Mapping[str, Any], its: list[Any]) -> bool | None:
    """Return whether a rule counts for the values of its arguments; None if that is not known."""
    if its[0] is None:
        return False
    plain = "above" not in rule and "is" not in rule
    if plain or any(isinstance(one, Unknown) for one in its):
        return True if plain else None
    if "above" in rule:
        return isinstance(its[0], (int, float)) and its[0] > float(rule["above"])
    return " ".join(str(one).lower() for one in its) == str(rule["is"])


def _put(record: Record, path: str, value: Any, node: ast.Call) -> None:
    """Set a field by its path; records between are made where there are none."""
    *outer, last = path.split(".")
    for part in outer:
        inner, _ = record.fields.get(part, (None, 0))
        if not isinstance(inner, Record) or inner.kind.endswith("mixed"):
            inner = Record(kind="")
            record.fields[part] = (inner, node.lineno)
        record = inner
    record.fields[last] = (value, node.lineno)
