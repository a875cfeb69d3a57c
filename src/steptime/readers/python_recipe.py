"""Recipes in Python: torchtitan's registry, and those of Megatron-Bridge."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.readers.entries import Entry
from steptime.readers.formats import Format, recognised
from steptime.readers.leaves import MOST_KEYS
from steptime.readers.python_values import MOST_CALLS, Record, Scope, Unknown

LARGEST_BYTES = 128 * 1024
_MOST_NODES = 100_000
_MOST_DEEP = 8
_TOLD = 12


def recipe_entries(
    path: Path, name: str, text: str, given: Mapping[str, str]
) -> tuple[Format, list[Entry], list[str]] | None:
    """Return the format of a recipe, its keys under our names, and notes; None if it holds none.

    Args:
        path: The file, whose folder may name the model.
        name: What to call the file.
        text: Its text.
        given: ``recipe`` names the function where there are several.

    Raises:
        ConfigError: If it is no Python, or holds several recipes and none is named.
    """
    functions, names = _module(text, name)
    try:
        found = _recipes(path, functions, names, given)
    except RecursionError:
        raise ConfigError(f"{name}: expressions are nested too deep") from None
    if "recipe" in given and given["recipe"] not in found:
        known = ", ".join(list(functions)[:_TOLD])
        raise ConfigError(f"{name} has no recipe {given['recipe'][:60]!r}; its functions: {known}")
    if len(found) > 1:
        listed = list(found)
        more = f" and {len(listed) - _TOLD} more" if len(listed) > _TOLD else ""
        raise ConfigError(
            f"{name} holds {len(listed)} recipes; name one, --set recipe=NAME: "
            f"{', '.join(listed[:_TOLD])}{more}"
        )
    return next(iter(found.values()), None)


def _recipes(
    path: Path,
    functions: Mapping[str, ast.FunctionDef],
    names: Mapping[str, Any],
    given: Mapping[str, str],
) -> dict[str, tuple[Format, list[Entry], list[str]]]:
    """Return each recipe of a module: its format, its keys and notes."""
    found: dict[str, tuple[Format, list[Entry], list[str]]] = {}
    calls = [MOST_CALLS]
    for one in functions:
        if _is_recipe(functions[one]) and (given.get("recipe", one) == one):
            scope = Scope(functions, dict(names), calls=calls)
            made = scope.returned(one)
            entries = (
                list(islice(_entries(made, path), MOST_KEYS)) if isinstance(made, Record) else []
            )
            form = recognised(entry.name for entry in entries)
            if form is not None:
                notes = [
                    f"line {line}: {call} may change what is read" for line, call in scope.touched
                ]
                found[one] = (form, [_mapped(entry, form) for entry in entries], notes)
    return found


def _module(text: str, name: str) -> tuple[dict[str, ast.FunctionDef], dict[str, Any]]:
    """Return the functions and the plain names of a module."""
    if len(text) > LARGEST_BYTES:
        raise ConfigError(f"{name} is over {LARGEST_BYTES // 1024} KiB: no recipe is so long")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ConfigError(f"{name} is not valid Python") from None
    if sum(1 for _ in ast.walk(tree)) > _MOST_NODES:
        raise ConfigError(f"{name} has over {_MOST_NODES} expressions: no recipe is so long")
    functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    scope = Scope({})
    try:
        scope.run([one for one in tree.body if isinstance(one, (ast.Assign, ast.AnnAssign))])
    except RecursionError:
        raise ConfigError(f"{name}: expressions are nested too deep") from None
    return functions, scope.names


def _is_recipe(one: ast.FunctionDef) -> bool:
    """Return whether a function can be called without arguments, by others."""
    needed = len(one.args.posonlyargs) + len(one.args.args) - len(one.args.defaults)
    wanted = [default for default in one.args.kw_defaults if default is None]
    return needed <= 0 and not wanted and not one.name.startswith("_")


def _entries(made: Record, path: Path) -> Iterator[Entry]:
    """Yield the values of a record, and those of records in it, by their path."""
    yield from _flat(made, (), 0)
    if "model_spec" in made.fields:
        # torchtitan keeps the registry of a model in the model's folder.
        folder = path.resolve().parent.name
        yield Entry("?", folder, 0, "the file's folder", True, "model.name")


def _flat(made: Record, outer: tuple[str, ...], line: int) -> Iterator[Entry]:
    # What is called with a name, such as a registry or a recipe of precision, says less than that.
    if made.kind and "0" not in made.fields:
        yield _entry((*outer, "kind"), made.kind, line)
    for key, (value, at) in list(made.fields.items())[:500]:
        here = (*outer, key)
        if isinstance(value, Record) and outer and _is_computed(value):
            yield _entry(here, f"{value.kind}(...)", at, known=False)
        elif isinstance(value, Record) and len(here) < _MOST_DEEP:
            yield from _flat(value, here, at)
        elif isinstance(value, list):
            items = [one.kind if isinstance(one, Record) else one for one in value]
            plain = [str(one.text) if isinstance(one, Unknown) else one for one in items]
            yield _entry(here, plain, at)
        elif isinstance(value, Unknown):
            yield _entry(here, value.text, at, known=False)
        elif not isinstance(value, Record):
            yield _entry(here, value, at)


def _is_computed(made: Record) -> bool:
    """Return whether a call computes a value inside a section, rather than making a record."""
    last = made.kind.removesuffix(".Config").rpartition(".")[2]
    return last[:1].islower() or not last.isidentifier()


def _entry(path: tuple[str, ...], value: Any, line: int, *, known: bool = True) -> Entry:
    written = ".".join(path)
    return Entry("?", value, line, written[-80:], known, written.lower()[-200:])


def _mapped(entry: Entry, form: Format) -> Entry:
    ours = form.our_name(entry.name.split(".")) or f"?{entry.name}"
    return Entry(ours, entry.value, entry.line, entry.written, entry.known, entry.name)
