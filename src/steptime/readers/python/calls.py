"""What calls in a Python recipe make: records, copies of records, and a few numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from steptime.readers.keys.formats import kept_calls, recipe_calls
from steptime.readers.keys.habits import starting_calls
from steptime.readers.python.module import Module
from steptime.readers.python.records import OPEN, Record, Scoped, Unknown, is_number, shown

CONFIGURED = ("Config", "Partial", "partial")
"""Last names of what keeps a call for later: its first argument is what is called."""
NUMBERS: Mapping[str, Callable[..., Any]] = {
    **{"int": int, "float": float},
    **{"max": max, "min": min, "len": len},
}
TEXTS: Mapping[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
}
MOST_ITEMS = 200
_MOST_BASES = 12
_COPY = 4
"""Values that copying a record takes as long as."""
FAMILY = "family"
"""The field of a registry's record that holds the family of its models."""
_SHAPE = {"num_layers", "hidden_size"}
"""Fields that the class of a model has."""


def counted(scope: Scoped, node: ast.Call, name: str) -> Any:
    """Return the number that a plain function of Python gives; `OPEN` if that is not known.

    Args:
        scope: Where it is called.
        node: The call.
        name: Of the function, one of `NUMBERS`.
    """
    values = [scope.value(arg) for arg in node.args[:MOST_ITEMS]]
    if name == "len":
        return len(values[0]) if values and isinstance(values[0], (list, str)) else OPEN
    return NUMBERS[name](*values) if values and all(map(is_number, values)) else OPEN


def changed(scope: Scoped, inside: Record, node: ast.Call) -> Record:
    """Return a copy of a record, and of those in it, with the fields that a call replaces.

    Args:
        scope: Where it is called.
        inside: The record.
        node: The call.
    """
    found = _copied(scope, inside, {})
    _put(scope, found, node)
    return found


def _copied(scope: Scoped, record: Record, done: dict[int, Record]) -> Record:
    """Return a copy of a record; what is in it twice, or is itself, stays so."""
    scope.spend(_COPY)
    made = done[id(record)] = Record(kind=record.kind)
    for key, (value, line) in record.fields.items():
        its = value
        if isinstance(value, Record):
            its = done.get(id(value)) or _copied(scope, value, done)
        made.fields[key] = (its, line)
    return made


def _put(scope: Scoped, record: Record, node: ast.Call) -> None:
    for keyword in node.keywords[:MOST_ITEMS]:
        if keyword.arg is not None:
            record.fields[keyword.arg] = (scope.value(keyword.value), keyword.value.lineno)


def made(scope: Scoped, node: ast.Call, name: str, callee: tuple[Module, str] | None) -> Record:
    """Return the record that a call makes, with what the class of a model gives itself.

    Args:
        scope: Where it is called.
        node: The call.
        name: What is called.
        callee: The class that it is, if that is known.
    """
    kind, args = name, node.args
    if args and name.rpartition(".")[2] in CONFIGURED:
        kind, callee, args = shown(args[0]), scope.callee(args[0]), args[1:]
    if kind in recipe_calls() and kind in scope.module.imported:
        # The module that it comes from tells of which model it is.
        kind = f"{scope.module.imported[kind][0]}.{kind}"
    found = Record(kind=kind)
    if name in kept_calls() or scope.module.imported.get(name, ("", 0, ""))[2] in kept_calls():
        # The folder of a registry names the family of its models.
        dotted = scope.module.imported.get(name, ("", 0, ""))[0].rpartition(".")[2]
        found.fields[FAMILY] = (dotted or scope.module.path.parent.name, node.lineno)
    if callee is not None and callee[1] in callee[0].classes:
        own = _own(scope, *callee, set())
        found.fields |= own if _SHAPE & own.keys() else {}
    for place, arg in enumerate(args[:20]):
        found.fields[str(place)] = (scope.value(arg), arg.lineno)
    _put(scope, found, node)
    return found


def starts(scope: Scoped, called: ast.expr) -> bool:
    """Return whether a call only starts what it is handed, as the makers' own function does.

    Args:
        scope: Where it stands; gives what its module imports.
        called: What is called.
    """
    name = shown(called)
    dotted, _, there = scope.module.imported.get(name, ("", 0, name))
    return name in starting_calls() or f"{dotted}.{there}" in starting_calls()


def _own(scope: Scoped, module: Module, name: str, seen: set[int]) -> dict[str, tuple[Any, int]]:
    """Return the plain values of a class, those of its bases first; each class counts once."""
    one = module.classes[name]
    seen.add(id(one))
    found: dict[str, tuple[Any, int]] = {}
    inner = scope.inside(module)
    for base in reversed(one.bases[:4]):
        callee = inner.callee(base) if len(seen) < _MOST_BASES else None
        its = None if callee is None else callee[0].classes.get(callee[1])
        if callee is not None and its is not None and id(its) not in seen:
            found |= _own(inner, *callee, seen)
    inner.run([each for each in one.body if isinstance(each, (ast.AnnAssign, ast.Assign))])
    for key, value in inner.names.items():
        if isinstance(value, (Unknown, Record)):
            # What is computed is not what a base gave.
            found.pop(key, None)
        else:
            found[key] = (value, 0)
    return found


def defaults(one: ast.FunctionDef, scope: Scoped) -> dict[str, Any]:
    """Return the default values of a function's arguments; those without are not known.

    Args:
        one: The function.
        scope: Where it stands.
    """
    names = [arg.arg for arg in (*one.args.posonlyargs, *one.args.args)]
    found: dict[str, Any] = {name: Unknown(name, is_option=True) for name in names}
    found |= {arg.arg: Unknown(arg.arg, is_option=True) for arg in one.args.kwonlyargs}
    last = names[len(names) - len(one.args.defaults) :]
    pairs = [*zip(last, one.args.defaults, strict=True)]
    only = zip(one.args.kwonlyargs, one.args.kw_defaults, strict=True)
    pairs += [(arg.arg, value) for arg, value in only if value is not None]
    return found | {name: scope.value(value) for name, value in pairs}
