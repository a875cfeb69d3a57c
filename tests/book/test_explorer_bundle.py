"""Many modules as one script: the same values, in the order in which they need each other."""

from __future__ import annotations

import subprocess

import pytest

from steptime.book.explorer_bundle import needed_order, one_script
from steptime.book.explorer_page import modules
from steptime.book.node import node_path

SMALL = {
    "a/start.js": """/** Use all. */
import "./side.js";
import * as sums from "./sums.js";
import { triple, Box } from "../b/more.js";

const total = sums.add(triple(2), new Box(4).size);
console.log(total, globalThis.seen, import.meta.url.slice(0, 4));
""",
    "a/side.js": """import { triple } from "../b/more.js";
globalThis.seen = triple(1);
""",
    "a/sums.js": """function add(first, second) { return first + second; }
export { add };
""",
    "b/more.js": """const three = 3;
export function triple(number) { return three * number; }
export class Box {
  constructor(size) { this.size = size; }
}
""",
}


def run(script: str) -> str:
    """Return what a module prints under Node."""
    ran = subprocess.run(
        [node_path(), "--input-type=module", "--eval", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    return ran.stdout.strip()


# --- invariant
def test_one_script_does_what_the_modules_do() -> None:
    script = one_script("a/start.js", SMALL)
    assert "export" not in script
    assert "import " not in script
    assert run(script) == "10 3 file"


def test_what_is_needed_comes_first_and_once() -> None:
    order = needed_order("a/start.js", SMALL)
    assert order == ["b/more.js", "a/side.js", "a/sums.js", "a/start.js"]


def test_the_explorer_is_one_script_that_asks_for_formulas_alone() -> None:
    every = modules()
    script = one_script("explorer/index.js", every)
    assert "import(" not in script
    assert "\nimport " not in script
    assert "\nexport " not in script
    # Every module written for the page is in it.
    mine = {path for path in every if path.startswith("explorer/")}
    assert mine <= set(needed_order("explorer/index.js", every))


# --- refusal
def test_a_ring_is_refused() -> None:
    ring = {"x.js": 'import "./y.js";\n', "y.js": 'import "./x.js";\n'}
    with pytest.raises(ValueError, match="needs itself"):
        one_script("x.js", ring)
