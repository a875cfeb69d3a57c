"""Take the outputs out of notebooks before they are committed.

``python -m steptime.book.results.strip notebooks/*.ipynb`` changes the files in place
and ends with status 1 if there was something to take out, as a commit hook should.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def stripped(content: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with sources and tags, and nothing that a run leaves behind.

    Args:
        content: A notebook, format 4.
    """
    cells = []
    for number, cell in enumerate(content["cells"]):
        if "injected-parameters" in cell["metadata"].get("tags", []):
            continue
        clean = {**cell, "id": cell.get("id", f"cell-{number}")}
        clean["metadata"] = {
            name: value
            for name, value in cell["metadata"].items()
            if name not in {"papermill", "execution", "collapsed", "scrolled"}
        }
        if cell["cell_type"] == "code":
            clean.update(outputs=[], execution_count=None)
        cells.append(clean)
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def as_text(content: dict[str, Any]) -> str:
    """Return the notebook as it stands in a file: sorted, one space of indent."""
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main(paths: list[str]) -> int:
    """Strip each file and return 1 if any was changed.

    Args:
        paths: Notebook files.
    """
    changed = 0
    for path in map(Path, paths):
        before = path.read_text(encoding="utf-8")
        after = as_text(stripped(json.loads(before)))
        if json.loads(before) != json.loads(after):
            path.write_text(after, encoding="utf-8")
            print(f"stripped {path}")
            changed = 1
    return changed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
