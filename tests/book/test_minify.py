"""Scripts and styles that are sent smaller do the same."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from steptime.book import minify
from steptime.book.minify import small_script, small_style
from steptime.book.node import call_in_node

SCRIPT = """
const limit = 4;
let counter = 0;
export function total(values, options) {
  // Not sent.
  const { factor, offset } = options;
  let running = offset;
  for (const value of values) running += (value * factor);
  counter += 1;
  const holder = { running, counter, limit: running };
  const first = [[options]];
  const [{ factor: again }] = first.map(([one]) => one) || [];
  const { pair } = { pair: first };
  const shown = `${running} after ${counter} of ${limit}, ${`${limit}  x`}`;
  const nested = (inner, other = 2) => inner.limit * other + holder.running;
  return [running, shown, nested(holder), [...values, running], again, pair,
    /a  [/]b/g.test("a  /b")];
}
export function sums(a, b, c) {
  return [(a + b) + c, a + (b + c), a * (b * c), a / (b / c), a - (b - c), - -a, 0.1 + 0.2,
    0.1 * 3, 1 / 3, 1e21 + 1, 123456789012345680000, 1.7976931348623157e308, 5e-324, 1 / -0];
}
"""


def test_a_smaller_script_gives_the_same_values_to_the_last_bit() -> None:
    small = small_script(SCRIPT)
    assert len(small) < 0.7 * len(SCRIPT)
    calls = [("total", [[1, 2, 3.5], {"factor": 3, "offset": 0.25}]) for _ in range(2)]
    calls.append(("sums", [0.1, 0.7, 1e-17]))
    calls.append(("sums", [1e16, 3.0, -1.0]))
    assert call_in_node(small, calls) == call_in_node(SCRIPT, calls)


def test_nothing_is_worked_out_beforehand() -> None:
    assert small_script("x = 0.1 * 3 + 1 / 3;") == "x=.1*3+1/3"
    assert small_script("x = a + (b + c); y = (a + b) + c;") == "x=a+(b+c),y=a+b+c"


def test_every_process_gives_the_same_bytes() -> None:
    # Names are given by counting: in an order that must not hang on how one process hashes.
    code = (
        "import sys; from steptime.book.minify import small_script; "
        "sys.stdout.write(small_script(sys.stdin.read()))"
    )
    made = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=SCRIPT,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert made == {small_script(SCRIPT)}


def test_without_the_package_a_script_is_sent_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minify, "minify", None)
    assert small_script(SCRIPT) == SCRIPT


def test_small_styles_keep_what_needs_a_space_and_whose_they_are() -> None:
    code = "/*! mine */ /* gone */ .a :is(.b) > c:not(.d) { margin: 0 -1px; top: calc(1px + 2px) }"
    assert small_style(code) == ("/*!mine*/.a :is(.b)>c:not(.d){margin:0 -1px;top:calc(1px + 2px)}")


def test_rules_for_the_width_of_a_figure_are_sent_smaller_too() -> None:
    rule = "@container (max-width: 26rem) {\n  .b :is(.c) { top: 1px; }\n}"
    code = f".a {{ top: 0 }}\n{rule}\n.d {{ top: 0 }}"
    assert small_style(code) == (
        ".a{top:0}@container (max-width: 26rem){.b :is(.c){top:1px}}.d{top:0}"
    )
