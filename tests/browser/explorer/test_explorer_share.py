"""Formulas behind the numbers, and layouts taken elsewhere."""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
import shlex
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from steptime.book.explorer_runs import published_layouts
from steptime.cli.main import every_command

pytestmark = pytest.mark.browser

PARTS = ("weights", "gradients", "optimizer", "activations", "logits", "buffers", "reserve")
BROKEN = re.compile(r"NaN|undefined|Infinity|\[object|null")

Open = Callable[..., Any]


# --- formulas and sharing
OPEN_ALL = """async () => {
  const out = [];
  const known = new Set();
  const dialog = () => document.querySelector('dialog[open]');
  const read = (path, printed) => out.push({path, printed, text: dialog().innerText,
    lines: [...dialog().querySelectorAll('.line')].map(line =>
      [...line.querySelectorAll('.filled')].map(code => code.textContent.slice(2)))});
  const back = () => [...dialog().querySelectorAll('button')]
    .find(one => one.textContent.includes('back')).click();
  const dive = (path, depth) => {
    const count = dialog().querySelectorAll('.dive').length;
    for (let at = 0; at < count; at++) {
      const link = dialog().querySelectorAll('.dive')[at];
      if (known.has(link.textContent)) continue;
      known.add(link.textContent);
      const next = [...path, link.textContent];
      link.click();
      read(next, null);
      if (depth > 1) dive(next, depth - 1);
      back();
    }
  };
  for (const button of document.querySelectorAll('.pictures .number:enabled')) {
    button.click();
    for (let left = 400; !dialog() && left; left--) await new Promise(done => setTimeout(done, 5));
    read([button.dataset.number], button.querySelector('b').textContent);
    dive([button.dataset.number], 2);
    dialog().close();
  }
  return out;
}"""


@pytest.mark.parametrize(
    "query",
    [
        "?l.pp=8&l.n=128&l.schedule=v-min&l.batch=64",
        "?l.pp=8&l.n=128&l.model=deepseek-v3&l.schedule=dualpipe&l.by=roofline&l.ep=8&l.etp=2",
    ],
)
def test_each_number_opens_its_formula_with_the_values_put_in(
    open_explorer: Open, query: str
) -> None:
    seen = open_explorer(query)
    opened = seen.page.evaluate(OPEN_ALL)
    assert len(opened) > 60
    checked = 0
    for one in opened:
        text = one["text"]
        assert re.search(r"^Source", text, re.MULTILINE), text
        assert "Code: formulas/" in text
        assert not BROKEN.search(text), text
        if one["printed"]:
            # The walked formula gives the number on the button, to the digits shown.
            digits = re.sub(r"[^\d.]", "", one["printed"].split(" ")[0])
            assert digits in re.sub(r"[, ]", "", text), (one["printed"], text)
        checked += sum(adds_up(line, one["path"]) for line in one["lines"] if len(line) == 2)
    assert checked > 40
    assert seen.errors == []


def adds_up(line: list[str], path: list[str]) -> bool:
    """Check a line of plain numbers as a reader with a calculator does; others are passed by."""
    put, value = (
        re.sub(r"(?<=\d),(?=\d{3})", "", one.replace("×", "*").replace("−", "-")) for one in line
    )
    plain = re.sub(r"maximum|minimum|floor|ceil|(?<=\d)e(?=-?\d)", "", put)
    if re.search(r"[A-Za-zµ%]", plain) or not re.fullmatch(r"-?[\d.]+(e-?\d+)?", value):
        return False
    known = {"maximum": max, "minimum": min, "floor": math.floor, "ceil": math.ceil}
    assert eval(put, {"__builtins__": {}}, known) == pytest.approx(float(value), rel=0.02), (
        path,
        line,
    )
    return True


def test_a_layout_can_be_shared_as_link_command_python_and_table(open_explorer: Open) -> None:
    seen = open_explorer("?l.pp=8&l.n=64&l.zero=1")
    page = seen.page
    copied = {}
    for tool in ("link", "command", "python", "csv"):
        copied[tool] = copy(seen, tool)
    assert copied["link"] == page.url
    assert copied["command"].startswith("steptime predict --model gpt3-175b")
    rows = [line.split(",") for line in copied["csv"].splitlines()]
    assert {len(row) for row in rows} == {4}
    assert sum(row[0] == "memory optimizer" for row in rows) == 8
    check_command(copied["command"], seen.value("step"))
    check_python(copied["python"], seen.value("step"), sum(seen.value(part) for part in PARTS))


def test_a_model_of_ones_own_can_be_taken_to_python(open_explorer: Open) -> None:
    own = "48-5120-13824-40-8-64000-1-0-64-4-1408-2"
    seen = open_explorer(f"?l.model=own&l.own={own}&l.tp=2&l.n=32&l.ep=4&l.by=roofline")
    total = sum(seen.value(part) for part in PARTS)
    check_python(copy(seen, "python"), seen.value("step"), total)
    assert "my-model.toml" in copy(seen, "command")


def copy(seen: Any, tool: str) -> str:
    """Return what a button copies: what writes it is fetched with the first."""
    before = json.dumps(seen.page.input_value(".copied"))
    seen.page.click(f'[data-tool="{tool}"]')
    seen.until(f"document.querySelector('.copied').value !== {before}")
    return str(seen.page.input_value(".copied"))


def check_command(command: str, step_s: float) -> None:
    """Run the copied command and compare its step time with the page's."""
    result = CliRunner().invoke(every_command(), [*shlex.split(command)[1:], "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["step_time_s"] == pytest.approx(step_s, rel=1e-12)


def check_python(code: str, step_s: float, total_bytes: float) -> None:
    """Run the copied Python and compare its step time and memory with the page's."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "copied", "exec"), {})
    time, memory, fits = printed.getvalue().split()
    assert float(time) == pytest.approx(step_s, rel=1e-12)
    assert float(memory) == pytest.approx(total_bytes, rel=1e-12)
    assert fits in ("True", "False")


def test_own_numbers_start_from_the_model_at_hand(open_explorer: Open) -> None:
    seen = open_explorer("?l.pp=8&l.n=64")
    page = seen.page
    before = seen.value("optimizer")
    page.select_option("[data-control=model] select", "own")
    assert seen.value("optimizer") == pytest.approx(before, rel=0.01)
    field = page.locator(".own input").first
    field.fill("48")
    field.press("Enter")
    assert seen.value("optimizer") < 0.6 * before
    field.fill("x")
    field.press("Enter")
    assert "Whole numbers" in page.inner_text(".own .note")


def test_a_published_layout_is_one_click_away(open_explorer: Open) -> None:
    seen = open_explorer("?l.model=llama3-405b")
    page = seen.page
    assert page.get_attribute(".verdict", "data-verdict") == "over"
    page.click('[data-tool="published"]')
    # The software is not named here: so full a layout is then likelier not to fit, though it ran.
    assert page.get_attribute(".verdict", "data-verdict") in ("fits", "tight", "unlikely")
    run = published_layouts()["llama3-405b"]
    assert page.inner_text('[data-out="gpus"]') == f"{run['state']['n']:,}"
    assert page.inner_text('[data-tool="published"]') == f"As published: {run['id']}"
    assert f"{run['id']} ({run['source']})" in page.inner_text('[data-out="assumptions"]')
    page.click('[data-tool="undo"]')
    assert page.get_attribute(".verdict", "data-verdict") == "over"
