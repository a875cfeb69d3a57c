"""Run a generated ES module under Node and bring its numbers back bit for bit."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from steptime.book.javascript_text import literal

_RUNNER = """
import * as model from "./model.js";
import { calls } from "./calls.js";
const view = new DataView(new ArrayBuffer(8));
function coded(value) {
  if (typeof value === "number") {
    view.setFloat64(0, value);
    return { f: view.getBigUint64(0).toString(16).padStart(16, "0") };
  }
  if (Array.isArray(value)) return { l: value.map(coded) };
  if (value !== null && typeof value === "object") {
    return { d: Object.entries(value).map(([key, item]) => [key, coded(item)]) };
  }
  return { v: value === undefined ? null : value };
}
const out = calls.map(([name, args]) => {
  try { return coded(model[name](...args)); } catch (error) { return { e: error.message }; }
});
process.stdout.write(JSON.stringify(out));
"""


class NodeError(RuntimeError):
    """Node is missing, or the module did not load."""


def node_path() -> str:
    """Return the Node program: the one on the PATH, else the one in Playwright's wheel.

    Raises:
        NodeError: If there is neither.
    """
    found = shutil.which("node")
    if found:
        return found
    spec = find_spec("playwright")
    carried = Path(spec.origin or "").parent / "driver" / "node" if spec else Path("node")
    if not carried.is_file():
        raise NodeError("node is not on the PATH; install it, or steptime[test], which carries it")
    return str(carried)


def call_in_node(module: str, calls: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
    """Return the result of each call of an exported function.

    Args:
        module: Text of an ES module, as `steptime.book.javascript.bundle` returns it.
        calls: Function names with their arguments: numbers, text, lists, dicts.

    Returns:
        Per call its value: every number a float with the bits that JavaScript had, or a
        `JsFailure` if it threw.

    Raises:
        NodeError: If Node is missing or the module does not load.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "package.json").write_text('{"type": "module"}', encoding="utf-8")
        (place / "model.js").write_text(module, encoding="utf-8")
        given = literal([[name, list(arguments)] for name, arguments in calls])
        (place / "calls.js").write_text(f"export const calls = {given};", encoding="utf-8")
        (place / "run.js").write_text(_RUNNER, encoding="utf-8")
        done = subprocess.run(
            [node_path(), str(place / "run.js")],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    if done.returncode:
        raise NodeError(done.stderr.strip())
    return [_decoded(item) for item in json.loads(done.stdout)]


class JsFailure(Exception):
    """What JavaScript threw; equal to any error of Python with the same message."""


def _decoded(item: dict[str, Any]) -> Any:
    if "f" in item:
        return struct.unpack(">d", bytes.fromhex(item["f"]))[0]
    if "l" in item:
        return [_decoded(inner) for inner in item["l"]]
    if "d" in item:
        return {key: _decoded(inner) for key, inner in item["d"]}
    if "e" in item:
        return JsFailure(item["e"])
    return item["v"]


def same_bits(python: Any, javascript: Any) -> bool:
    """Whether a Python result and one from `call_in_node` agree to the last bit.

    Whole numbers count as the floats they are in JavaScript, tuples as lists.
    """
    if isinstance(python, bool) or python is None or isinstance(python, str):
        return bool(python == javascript and type(python) is type(javascript))
    if isinstance(python, int):  # has no -0
        return isinstance(javascript, float) and python == javascript
    if isinstance(python, float):
        if not isinstance(javascript, float):
            return False
        if python != python:
            return javascript != javascript
        return struct.pack(">d", python) == struct.pack(">d", javascript)
    if isinstance(python, (list, tuple)):
        return (
            isinstance(javascript, list)
            and len(python) == len(javascript)
            and all(map(same_bits, python, javascript))
        )
    if isinstance(python, dict):
        return (
            isinstance(javascript, dict)
            and list(python) == list(javascript)
            and all(same_bits(python[key], javascript[key]) for key in python)
        )
    return False
