"""Many modules as one script: the same values, in the order in which they need each other."""

from __future__ import annotations

import subprocess

import pytest

from steptime.book.explorer_bundle import needed_order, one_script, scripts
from steptime.book.explorer_page import CHAIN, LATER, modules
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


LATE = """import { triple, Box } from "../b/more.js";
console.log(new Box(triple(6)).size + 2);
"""


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


def test_a_later_script_shares_the_modules_of_the_first() -> None:
    late = {**SMALL, "a/late.js": LATE}
    first, later = scripts(["a/start.js"], ["a/late.js"], late)
    assert "20" in run(f"{first}\n{later}").split()
    # What the first has is not sent twice.
    assert "class" not in later
    assert "Box" not in first.split("stParts")[1]


def test_each_script_of_a_chain_has_what_those_before_it_lack() -> None:
    more = {
        "a/first.js": 'import { triple } from "../b/more.js";\nconsole.log(triple(1));\n',
        "a/second.js": 'import { add } from "./sums.js";\n'
        'import { triple } from "../b/more.js";\nconsole.log(add(triple(2), 1));\n',
        "a/late.js": 'import { add } from "./sums.js";\n'
        'import { triple } from "../b/more.js";\nconsole.log(add(triple(3), 2));\n',
    }
    sent = scripts(["a/first.js", "a/second.js"], ["a/late.js"], {**SMALL, **more})
    assert run("\n".join(sent)).split() == ["3", "7", "11"]
    assert [script.count("class") for script in sent] == [1, 0, 0]


def test_every_module_of_the_explorer_is_sent_once_and_asks_for_none() -> None:
    every = modules()
    sent = scripts(CHAIN, LATER, every)
    for script in sent:
        assert "import(" not in script
        assert "\nimport " not in script
        assert "\nexport " not in script
    orders = [needed_order(one, every) for one in (*CHAIN, *LATER)]
    # Every module written for the page is in one of them.
    mine = {path for path in every if path.startswith("explorer/")}
    assert mine <= {path for order in orders for path in order}


# --- refusal
def test_a_ring_is_refused() -> None:
    ring = {"x.js": 'import "./y.js";\n', "y.js": 'import "./x.js";\n'}
    with pytest.raises(ValueError, match="needs itself"):
        one_script("x.js", ring)
