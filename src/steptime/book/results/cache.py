"""Tell whether a notebook's last outputs still stand.

The key covers everything that a notebook can read: itself, its parameters, the modules
that it imports and those that they import, every data file, the figure style and the
versions of Python and of the packages installed.
"""

from __future__ import annotations

import ast
import hashlib
import json
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

from steptime.book.results.notebooks import OUTPUT, ROOT, Notebook

SOURCE = ROOT / "src"


def _module_file(name: str) -> Path | None:
    """Return the file of module ``steptime.…``, or None if there is none."""
    base = SOURCE.joinpath(*name.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


def imported_modules(code: str, package: str = "") -> set[str]:
    """Return the modules of steptime that ``code`` imports, anywhere in it.

    Args:
        code: Python source.
        package: Its package, to resolve imports that begin with a dot.
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*parents, node.module or ""]).strip(".") if node.level else node.module
            found.add(base or "")
            # "from steptime.book import tables" names a module, not only a value.
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return {name for name in found if name.split(".")[0] == "steptime"}


@cache
def _imports_of(name: str) -> frozenset[str]:
    """Return what module ``name`` imports, its parent packages included."""
    path = _module_file(name)
    if path is None:
        return frozenset()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    parents = {name.rsplit(".", n)[0] for n in range(1, name.count(".") + 1)}
    return frozenset(imported_modules(path.read_text(encoding="utf-8"), package) | parents)


def module_closure(code: str) -> list[Path]:
    """Return the files of steptime that running ``code`` can reach.

    Args:
        code: Python source.
    """
    todo, seen = list(imported_modules(code)), set[str]()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(_imports_of(name))
    return sorted(path for name in seen if (path := _module_file(name)))


@cache
def _surroundings() -> str:
    """Return a digest of the data, the style and the versions, the same for all notebooks."""
    digest = hashlib.sha256(platform.python_version().encode())
    for path in sorted((ROOT / "data").rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    digest.update((ROOT / "book" / "figures.mplstyle").read_bytes())
    installed = sorted(f"{d.name}=={d.version}" for d in metadata.distributions())
    digest.update("\n".join(installed).encode())
    return digest.hexdigest()


def key(notebook: Notebook) -> str:
    """Return the digest of everything that the notebook's outputs depend on.

    Args:
        notebook: The notebook, to be run in full.
    """
    cells = notebook.cells()
    code = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
    digest = hashlib.sha256(_surroundings().encode())
    digest.update(notebook.path.read_bytes())
    digest.update(json.dumps(notebook.parameters, sort_keys=True, default=str).encode())
    runner = Path(__file__).parent
    for path in [*module_closure(code), *sorted(runner.glob("*.py"))]:
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def is_fresh(notebook: Notebook, wanted: str, folder: Path = OUTPUT) -> bool:
    """Return whether the executed notebook in ``folder`` was made from just this.

    Args:
        notebook: The notebook.
        wanted: What `key` returned for it.
        folder: Where the executed notebooks lie.
    """
    stamp = folder / f"{notebook.name}.key"
    made = folder / f"{notebook.name}.ipynb"
    return made.is_file() and stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted
