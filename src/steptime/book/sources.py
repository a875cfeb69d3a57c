"""Modules of the package as source: their functions, constants and imports."""

from __future__ import annotations

import ast
import importlib.util
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from steptime.book.subset import SubsetError

Symbol = tuple[str, str]
"""A module's dotted name and the name of one function or constant in it."""

ROOMS = (
    "steptime.formulas",
    "steptime.pipeline",
    "steptime.planning.groups",
    "steptime.planning.cuts",
)
ERRORS = "steptime.inputs.errors"


@dataclass(slots=True)
class Source:
    """One module, read but not run.

    Attributes:
        name: Dotted name.
        path: Its file.
        functions: Top-level functions by name.
        constants: Names of top-level assignments, in order.
        imports: From a name used in the module to the symbol it stands for.
        modules: From an alias to the module it stands for.
    """

    name: str
    path: Path
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    constants: list[str] = field(default_factory=list)
    imports: dict[str, Symbol] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)

    def symbol(self, name: str) -> Symbol | None:
        """Return the symbol that a global name of this module stands for, if any."""
        if "." in name:
            alias, attribute = name.split(".", 1)
            return (self.modules[alias], attribute) if alias in self.modules else None
        if name in self.functions or name in self.constants:
            return (self.name, name)
        return self.imports.get(name)

    def value(self, name: str) -> Any:
        """Return the value of a top-level constant; this runs the module."""
        return getattr(import_module(self.name), name)


def check_room(name: str) -> None:
    """Refuse a module outside the rooms that may become JavaScript.

    Args:
        name: Dotted name.

    Raises:
        SubsetError: If it is in another room.
    """
    if not name.startswith(ROOMS):
        raise SubsetError(f"{name} is outside {' and '.join(ROOMS)}: only these become JavaScript")


def read_source(name: str) -> Source:
    """Return a module's functions, constants and imports.

    Args:
        name: Dotted name of a module in ``formulas`` or ``pipeline``.

    Raises:
        SubsetError: If there is no such module, or it is in another room.
    """
    check_room(name)
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SubsetError(f"there is no module {name}")
    path = Path(spec.origin)
    source = Source(name, path)
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        _take(source, statement)
    return source


def _take(source: Source, statement: ast.stmt) -> None:
    """Enter one top-level statement into ``source``."""
    if isinstance(statement, ast.FunctionDef):
        source.functions[statement.name] = statement
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                source.constants.append(target.id)
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        source.constants.append(statement.target.id)
    elif isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("steptime"):
        for alias in statement.names:
            whole = f"{statement.module}.{alias.name}"
            if _is_module(whole):
                source.modules[alias.asname or alias.name] = whole
            else:
                source.imports[alias.asname or alias.name] = (statement.module or "", alias.name)


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
