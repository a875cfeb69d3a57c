"""Formulas behind the numbers, and layouts taken elsewhere."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from steptime.cli.main import app

pytestmark = pytest.mark.browser

PARTS = ("weights", "gradients", "optimizer", "activations", "logits", "buffers", "reserve")
BROKEN = re.compile(r"NaN|undefined|Infinity|\[object|null")

Open = Callable[..., Any]


# --- formulas and sharing
@pytest.mark.parametrize(("model", "by"), [("gpt3-175b", "baseline"), ("deepseek-v3", "roofline")])
def test_each_number_opens_its_formula_with_the_values_put_in(
    open_explorer: Open, model: str, by: str
) -> None:
    seen = open_explorer(f"?l.pp=8&l.n=128&l.model={model}&l.by={by}")
    page = seen.page
    for button in page.locator(".pictures .number:not(:disabled)").all():
        printed = button.locator("b").inner_text()
        button.click()
        page.wait_for_selector("dialog[open]")
        text = page.inner_text("dialog")
        assert "Code: formulas/" in text
        assert "=" in text
        assert not BROKEN.search(text), text
        # The walked formula gives the number on the button, to the digits shown.
        digits = re.sub(r"[^\d.]", "", printed.split(" ")[0])
        assert digits in re.sub(r"[, ]", "", text), (printed, text)
        page.keyboard.press("Escape")
    page.click("[data-number=tensor_parallel]")
    page.click("dialog .dive >> nth=0")
    assert page.locator("dialog button:has-text('back')").is_visible()
    assert seen.errors == []


def test_a_layout_can_be_shared_as_link_command_python_and_table(open_explorer: Open) -> None:
    seen = open_explorer("?l.pp=8&l.n=64&l.zero=1")
    page = seen.page
    copied = {}
    for tool in ("link", "command", "python", "csv"):
        page.click(f'[data-tool="{tool}"]')
        copied[tool] = page.input_value(".copied")
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
    seen.page.click('[data-tool="python"]')
    total = sum(seen.value(part) for part in PARTS)
    check_python(seen.page.input_value(".copied"), seen.value("step"), total)
    seen.page.click('[data-tool="command"]')
    assert "my-model.toml" in seen.page.input_value(".copied")


def check_command(command: str, step_s: float) -> None:
    """Run the copied command and compare its step time with the page's."""
    result = CliRunner().invoke(app, [*shlex.split(command)[1:], "--json"])
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
    assert page.get_attribute(".verdict", "data-verdict") in ("fits", "tight")
    assert page.inner_text('[data-out="gpus"]') == "8,192"
    assert page.inner_text('[data-tool="published"]') == "As published: llama3-001"
    assert "llama3-001 (grattafiori2024)" in page.inner_text('[data-out="assumptions"]')
    page.click('[data-tool="undo"]')
    assert page.get_attribute(".verdict", "data-verdict") == "over"
