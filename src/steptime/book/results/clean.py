"""Take out of an executed notebook all that differs from one run to the next."""

from __future__ import annotations

import re
from typing import Any

_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")


class UnstableOutputError(ValueError):
    """An output that would not be the same next time."""


def cleaned(notebook: Any) -> Any:
    """Return the notebook with only what its sources and parameters decide.

    Out go papermill's times, the kernel's version, the injected cell's random id and
    whatever went to stderr.

    Args:
        notebook: An executed ``NotebookNode``; changed in place.

    Raises:
        UnstableOutputError: If an output shows an address in memory.
    """
    notebook.metadata.pop("papermill", None)
    notebook.metadata.pop("widgets", None)
    notebook.metadata.pop("language_info", None)
    for place, cell in enumerate(notebook.cells):
        for name in ("papermill", "execution"):
            cell.metadata.pop(name, None)
        tags = cell.metadata.get("tags", [])
        if "injected-parameters" in tags:
            cell["id"] = "injected-parameters"
        if cell.cell_type != "code":
            continue
        cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
        for output in cell.outputs:
            output.pop("transient", None)
            for text in _texts(output):
                if hit := _ADDRESS.search(text):
                    raise UnstableOutputError(f"cell {place} prints an address: {hit[0]}")
    return notebook


def stderr_of(notebook: Any) -> str:
    """Return what the notebook's cells wrote to stderr, before it is stripped.

    Args:
        notebook: An executed ``NotebookNode``.
    """
    return "".join(
        output["text"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.get("name") == "stderr"
    )


def _texts(output: Any) -> list[str]:
    """Return every piece of text in one output."""
    data = output.get("data", {})
    pieces = [output.get("text", ""), *data.values()]
    return ["".join(one) for one in pieces if isinstance(one, (str, list))]
