"""The page's own modules under Node: states in, answers out."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

from steptime.book.explorer_page import write_modules
from steptime.book.node import node_path

RUNNER = Path(__file__).with_name("explorer_runner.mjs")


def page_answers(states: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Return what the page makes of each state; numbers as their 64 bits."""
    write_modules(folder)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (folder / "states.json").write_text(json.dumps(states), encoding="utf-8")
    shutil.copyfile(RUNNER, folder / "run.js")
    subprocess.run([node_path(), "run.js"], cwd=folder, check=True, timeout=120)
    found: list[dict[str, Any]] = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    return found


def bits(value: float) -> str:
    return struct.pack(">d", float(value)).hex()
