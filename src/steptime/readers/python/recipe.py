"""Recipes in Python: torchtitan's registry, those of Megatron-Bridge and of NeMo, OLMo-core's."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.entries import Entry
from steptime.readers.keys.formats import Format, python_formats, recipe_calls, recognised
from steptime.readers.keys.leaves import MOST_KEYS, overruled
from steptime.readers.python.calls import FAMILY, defaults
from steptime.readers.python.module import LARGEST_BYTES, Library, Module
from steptime.readers.python.olmo_script import experiment
from steptime.readers.python.records import Budget, Record, Unknown
from steptime.readers.python.values import Scope

__all__ = ["LARGEST_BYTES", "recipe_entries"]

_MOST_DEEP = 8
_TOLD = 12
_Found = dict[str, tuple[Format, list[Entry], list[str]]]


def recipe_entries(
    path: Path, name: str, text: str, given: Mapping[str, str]
) -> tuple[Format, list[Entry], list[str]] | None:
    """Return the format of a recipe, its keys under our names, and notes; None if it holds none.

    Args:
        path: The file, whose folder may name the model, and hold what it takes names from.
        name: What to call the file.
        text: Its text.
        given: ``recipe`` names the function where there are several.

    Raises:
        ConfigError: If it is no Python, or holds several recipes and none is named.
    """
    library = Library(given=given)
    module = library.cut(text, path.resolve(), name)
    try:
        found = _recipes(path, library, module, given)
    except RecursionError:
        raise ConfigError(f"{name}: expressions are nested too deep") from None
    if "recipe" in given and given["recipe"] not in found:
        known = ", ".join(list(module.functions)[:_TOLD])
        raise ConfigError(f"{name} has no recipe {given['recipe'][:60]!r}; its functions: {known}")
    if len(found) > 1:
        listed = list(found)
        more = f" and {len(listed) - _TOLD} more" if len(listed) > _TOLD else ""
        raise ConfigError(
            f"{name} holds {len(listed)} recipes; name one, --set recipe=NAME: "
            f"{', '.join(listed[:_TOLD])}{more}"
        )
    return next(iter(found.values()), None)


def _recipes(path: Path, library: Library, module: Module, given: Mapping[str, str]) -> _Found:
    """Return each recipe of a module: its format, its keys and notes."""
    found: _Found = {}
    budget = Budget()
    wanted = given.get("recipe")
    for one in _callable(library, module):
        if wanted in (None, one):
            scope = Scope(library, module, budget=budget)
            _add(found, one, scope.value(ast.Call(ast.Name(one), [], [])), path, budget)
    if not found:
        # A script of OLMo-core names no recipe: it is one.
        scope = Scope(library, module, budget=budget)
        _add(found, wanted or "main", experiment(scope), path, budget)
    if not found:
        # A script may build its recipe outside all functions, or in one that it calls to start.
        names: dict[str, Any] = {}
        Scope(library, module, names, budget=budget).run([*module.assigned, *module.blocks])
        for one in _started(module):
            start = module.functions[one]
            outer = Scope(library, module, budget=budget)
            inner = Scope(library, module, defaults(start, outer), depth=1, budget=budget)
            inner.run(start.body)
            names |= inner.names
        for one, made in names.items():
            if wanted in (None, one):
                _add(found, one, made, path, budget)
    return found


def _started(module: Module) -> Iterator[str]:
    """Yield the functions that a file calls, without arguments, when it is a program."""
    for one in module.blocks[:100]:
        call = one.value if isinstance(one, ast.Expr) else None
        if not isinstance(call, ast.Call) or call.args or call.keywords:
            continue
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name in module.functions and _is_recipe(module.functions[name]):
            yield name


def _callable(library: Library, module: Module) -> Iterable[str]:
    """Return the names of a file's recipes: its own functions, or those that it passes on."""
    own = [one for one in module.functions if _is_recipe(module.functions[one])]
    if module.functions:
        return own
    passed = {name: library.taken(module, name) for name in list(module.imported)[:100]}
    return [
        name
        for name, taken in passed.items()
        if taken is not None
        and taken[1] in taken[0].functions
        and not name.startswith("_")
        and _is_recipe(taken[0].functions[taken[1]])
    ]


def _add(found: _Found, name: str, made: Any, path: Path, budget: Budget) -> None:
    entries = list(islice(_entries(made, path), MOST_KEYS)) if isinstance(made, Record) else []
    form = recognised((entry.name for entry in entries), python_formats())
    if form is not None:
        notes = [f"line {line}: {call} may change what is read" for line, call in budget.touched]
        over = overruled(form, [entry.name for entry in entries])
        kept = [
            entry
            for entry in entries
            if over.get((parts := entry.name.split("."))[-1], parts[-1]) in parts
        ]
        found[name] = (form, [_mapped(entry, form) for entry in kept], notes)
    budget.touched.clear()


def _is_recipe(one: ast.FunctionDef) -> bool:
    """Return whether a function can be called without arguments, by others."""
    needed = len(one.args.posonlyargs) + len(one.args.args) - len(one.args.defaults)
    wanted = [default for default in one.args.kw_defaults if default is None]
    return needed <= 0 and not wanted and not one.name.startswith("_")


def _entries(made: Record, path: Path) -> Iterator[Entry]:
    """Yield the values of a record, and those of records in it, by their path."""
    yield from _flat(made, (), 0)
    outer, _, last = made.kind.rpartition(".")
    if outer and last in recipe_calls():
        yield _entry(("library_recipe",), f"{outer.rpartition('.')[2]}.{last}", 0)
    if "model_spec" in made.fields:
        # torchtitan keeps the registry of a model in the model's folder.
        spec, line = made.fields["model_spec"]
        family, _ = spec.fields.get(FAMILY, ("", 0)) if isinstance(spec, Record) else ("", 0)
        folder = family or path.resolve().parent.name
        yield Entry("?", folder, line if family else 0, "the registry's folder", True, "model.name")


def _flat(made: Record, outer: tuple[str, ...], line: int) -> Iterator[Entry]:
    # What is called with a name, such as a registry or a recipe of precision, says less than that.
    if made.kind and "0" not in made.fields:
        yield _entry((*outer, "kind"), made.kind, line)
    for key, (value, at) in list(made.fields.items())[:500]:
        here = (*outer, key)
        if isinstance(value, Record) and outer and _is_computed(value):
            yield _entry(here, f"{value.kind}(...)", at, known=False)
            yield _entry((*here, "call"), value.kind, at)
        elif isinstance(value, Record) and len(here) < _MOST_DEEP:
            yield from _flat(value, here, at)
        elif isinstance(value, list):
            yield from _listed(value, here)
            items = [one.kind if isinstance(one, Record) else one for one in value]
            plain = [str(one.text) if isinstance(one, Unknown) else one for one in items]
            yield _entry(here, plain, at)
        elif isinstance(value, Unknown):
            yield _entry(here, value.text, at, known=False)
        elif not isinstance(value, Record):
            yield _entry(here, value, at)


def _listed(values: list[Any], outer: tuple[str, ...]) -> Iterator[Entry]:
    """Yield what the records of a list give, by their kind: callbacks set much of a recipe."""
    for one in values[:20]:
        if isinstance(one, Record) and outer[-1] == "callbacks" and len(outer) < _MOST_DEEP:
            yield from _flat(one, (*outer, one.kind.rpartition(".")[2]), 0)


def _is_computed(made: Record) -> bool:
    """Return whether a call computes a value inside a section, rather than making a record."""
    if not made.kind:
        # A recipe sets its fields: the section itself is made elsewhere.
        return False
    last = made.kind.removesuffix(".Config").rpartition(".")[2]
    return last[:1].islower() or not last.isidentifier()


def _entry(path: tuple[str, ...], value: Any, line: int, *, known: bool = True) -> Entry:
    written = ".".join(path)
    return Entry("?", value, line, written[-80:], known, written.lower()[-200:])


def _mapped(entry: Entry, form: Format) -> Entry:
    ours = form.our_name(entry.name.split(".")) or f"?{entry.name}"
    return Entry(ours, entry.value, entry.line, entry.written, entry.known, entry.name)
