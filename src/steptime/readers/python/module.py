"""Python files cut into what their names stand for; nothing of them is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.safe import file_text

LARGEST_BYTES = 128 * 1024
MOST_WORDS = 25_000
"""Of one file: some twice what the longest public recipe has; more take too long to cut."""
_MOST_TAKEN = 60_000
_MOST_TRIED = 200
_MOST_UP = 10
_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(slots=True)
class Module:
    """One file.

    Attributes:
        path: Where it lies.
        functions: By name.
        classes: By name.
        imported: By the name here: the module, how many folders up, and its name there.
        assigned: The statements that give names values.
        blocks: Bodies of conditions, such as what runs when the file is a program.
        names: Values of the names, once they are asked for.
    """

    path: Path
    functions: dict[str, ast.FunctionDef]
    classes: dict[str, ast.ClassDef]
    imported: dict[str, tuple[str, int, str]]
    assigned: list[ast.stmt]
    blocks: list[ast.stmt]
    names: dict[str, Any] | None = None


@dataclass(slots=True)
class Library:
    """The modules that a file takes names from, as far as they lie in the same package.

    Attributes:
        found: By path; None for what cannot be read.
        words: How many words were cut so far.
        given: What the user sets, which may be options of the program.
    """

    found: dict[Path, Module | None] = field(default_factory=dict)
    words: int = 0
    given: Mapping[str, str] = field(default_factory=dict)

    def cut(self, text: str, path: Path, name: str) -> Module:
        """Return a module of a text.

        Args:
            text: The text.
            path: Where it lies.
            name: What to call it.

        Raises:
            ConfigError: If it is no Python, or longer than any recipe.
        """
        if len(text) > LARGEST_BYTES:
            raise ConfigError(f"{name} is over {LARGEST_BYTES // 1024} KiB: no recipe is so long")
        count = sum(1 for _ in _WORD.finditer(text))
        if count > MOST_WORDS or self.words + count > _MOST_TAKEN:
            raise ConfigError(f"{name} has over {MOST_WORDS} words: no recipe is so long")
        self.words += count
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ConfigError(f"{name} is not valid Python") from None
        module = _module(tree, path)
        self.found[path] = module
        return module

    def taken(self, module: Module, name: str) -> tuple[Module, str] | None:
        """Return the module that a name comes from, and its name there; None if not here.

        Args:
            module: Where it is used.
            name: The name.
        """
        seen = 0
        while name in module.imported and seen < _MOST_UP:
            dotted, up, there = module.imported[name]
            other = next((one for one in self._beside(module, dotted, up)), None)
            if other is None:
                return None
            module, name, seen = other, there, seen + 1
        return (module, name) if seen else None

    def whole(self, module: Module, name: str) -> Module | None:
        """Return the module that a name stands for as a whole; None if it is none, or not here.

        Args:
            module: Where it is used.
            name: The name.
        """
        if name not in module.imported:
            return None
        dotted, up, there = module.imported[name]
        return next(self._beside(module, f"{dotted}.{there}".lstrip("."), up), None)

    def _beside(self, module: Module, dotted: str, up: int) -> Iterator[Module]:
        for path in _places(module.path, dotted, up):
            if path not in self.found:
                self.found[path] = None
                if len(self.found) <= _MOST_TRIED:
                    self._try(path)
            found = self.found[path]
            if found is not None:
                yield found

    def _try(self, path: Path) -> None:
        try:
            if path.is_file():
                self.cut(file_text(path, most=LARGEST_BYTES), path, path.name)
        except (ConfigError, OSError, ValueError):
            return


def _places(path: Path, dotted: str, up: int) -> Iterator[Path]:
    """Yield where a module may lie, seen from a file of the same package."""
    parts = dotted.split(".") if dotted else []
    if up:
        roots = list(path.parents)[up - 1 : up]
    elif len(parts) == 1:
        roots = [path.parent]
    else:
        # The folder above the package that both are in.
        above = path.parents[:_MOST_UP]
        roots = [one.parent for one in above if one.name == parts[0]][:2]
        # Or beside the package: a repository has its own name, and folders of recipes of others.
        roots += [one for one in above if parts and _is_package(one / parts[0])][:1]
    for root in roots:
        base = root.joinpath(*parts)
        yield from (base.with_name(f"{base.name}.py"), base / "__init__.py")


def _is_package(folder: Path) -> bool:
    try:
        return folder.is_dir()
    except (OSError, ValueError):
        return False


def _module(tree: ast.Module, path: Path) -> Module:
    imported: dict[str, tuple[str, int, str]] = {}
    blocks: list[ast.stmt] = []
    # What a function imports for itself counts where the module has no such name.
    inner = [each for one in tree.body if isinstance(one, ast.FunctionDef) for each in one.body]
    for one in (*inner, *tree.body):
        if isinstance(one, ast.ImportFrom):
            names = {alias.asname or alias.name: alias.name for alias in one.names[:200]}
            imported |= {here: (one.module or "", one.level, its) for here, its in names.items()}
    for one in tree.body:
        if isinstance(one, ast.If):
            blocks.extend(one.body)
        elif isinstance(one, ast.Expr):
            blocks.append(one)
    return Module(
        path=path,
        functions={one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)},
        classes={one.name: one for one in tree.body if isinstance(one, ast.ClassDef)},
        imported=imported,
        assigned=[one for one in tree.body if isinstance(one, (ast.Assign, ast.AnnAssign))],
        blocks=blocks,
    )
