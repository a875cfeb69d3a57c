"""Which notebooks there are, and the parameters each one runs with."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[4]
NOTEBOOKS = ROOT / "notebooks"
PARAMETERS_FILE = NOTEBOOKS / "params.yml"
OUTPUT = ROOT / "build" / "notebooks"

_NAME = re.compile(r"(\d+)([a-z]?)_[a-z0-9_]+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Notebook:
    """One notebook as the repository holds it.

    Attributes:
        path: The file under ``notebooks/``.
        parameters: What ``params.yml`` sets for the full run.
        quick: What it sets on top of that in the tests, to be fast.
    """

    path: Path
    parameters: dict[str, Any]
    quick: dict[str, Any]

    @property
    def name(self) -> str:
        """Return the file's name without its ending, such as ``12_bubble``."""
        return self.path.stem

    @property
    def section(self) -> str:
        """Return the section's number, such as ``11a``."""
        return self.name.partition("_")[0]

    def cells(self) -> list[dict[str, Any]]:
        """Return the cells, sources joined to one string each."""
        content = json.loads(self.path.read_text(encoding="utf-8"))
        for cell in content["cells"]:
            cell["source"] = "".join(cell["source"])
        return list(content["cells"])

    def all_parameters(self, quick: bool = False) -> dict[str, Any]:
        """Return each parameter with the value that the run uses.

        Args:
            quick: Whether to take the small set.
        """
        values = declared_parameters(self.cells())
        return {**values, **self.parameters, **(self.quick if quick else {})}


def declared_parameters(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the defaults in the cell tagged ``parameters``.

    Args:
        cells: The notebook's cells.
    """
    values: dict[str, Any] = {}
    for cell in cells:
        if "parameters" not in cell["metadata"].get("tags", []):
            continue
        for line in ast.parse(cell["source"]).body:
            targets = (
                line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
            )
            value = getattr(line, "value", None)
            if isinstance(targets[0], ast.Name) and value is not None:
                values[targets[0].id] = ast.literal_eval(value)
    return values


def _order(path: Path) -> tuple[int, str]:
    """Return the key that puts §11a after §11 and before §12."""
    hit = _NAME.match(path.stem)
    if hit is None:
        raise ValueError(f"notebooks/{path.name}: a name begins with its section, as 12_bubble")
    return int(hit[1]), hit[2]


def all_notebooks(folder: Path = NOTEBOOKS) -> list[Notebook]:
    """Return every notebook in the order of its section.

    Args:
        folder: Where the notebooks and ``params.yml`` lie.

    Raises:
        ValueError: If ``params.yml`` names a notebook or a parameter that is not there.
    """
    paths = sorted(folder.glob("*.ipynb"), key=_order)
    file = folder / PARAMETERS_FILE.name
    settings = yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else {}
    settings = settings or {}
    unknown = set(settings) - {path.stem for path in paths}
    if unknown:
        raise ValueError(f"{file.name} names notebooks that are not there: {sorted(unknown)}")
    found = []
    for path in paths:
        entry = settings.get(path.stem) or {}
        notebook = Notebook(
            path=path,
            parameters=entry.get("parameters") or {},
            quick=entry.get("quick") or {},
        )
        known = declared_parameters(notebook.cells())
        wrong = {**notebook.parameters, **notebook.quick}.keys() - known.keys()
        if wrong or set(entry) - {"parameters", "quick"}:
            raise ValueError(f"{file.name}, {path.stem}: unknown {sorted(wrong) or sorted(entry)}")
        found.append(notebook)
    return found


def select(notebooks: list[Notebook], only: list[str]) -> list[Notebook]:
    """Return the notebooks whose section or name is asked for; all if none is.

    Args:
        notebooks: Every notebook.
        only: Sections (``12``) or names (``12_bubble``).

    Raises:
        ValueError: If one of them is not there.
    """
    if not only:
        return notebooks
    names = {notebook.section for notebook in notebooks} | {n.name for n in notebooks}
    missing = [name for name in only if name not in names]
    if missing:
        raise ValueError(f"no notebook {missing[0]!r}; there are: {', '.join(sorted(names))}")
    return [n for n in notebooks if n.section in only or n.name in only]
