"""The explorer's first answer, made with the page, which draws it before it asks for others."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steptime.book.figure_page import WEB
from steptime.book.node import NodeError, node_path

_RUNNER = WEB / "explorer" / "first.mjs"


def first_answer(modules: Mapping[str, str]) -> dict[str, Any] | None:
    """Return what the page's own modules answer before anything is chosen, and the way out of it.

    Args:
        modules: Text of every module of the page, by its path.

    Returns:
        What `book/web/explorer/first.mjs` keeps of it; None where no Node can run them: such a
        page asks its formulas for the first answer, as it does for every other.
    """
    try:
        node = node_path()
    except NodeError:
        return None
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for path, text in modules.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text, encoding="utf-8")
        (place / "package.json").write_text('{"type": "module"}', encoding="utf-8")
        runner = place / "explorer" / _RUNNER.name
        runner.write_text(_RUNNER.read_text(encoding="utf-8"), encoding="utf-8")
        told = subprocess.run(
            [node, str(runner)], capture_output=True, text=True, check=True, timeout=120
        )
    found: dict[str, Any] = json.loads(told.stdout)
    return found
