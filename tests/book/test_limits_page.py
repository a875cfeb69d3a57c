"""The page of what is not modelled, and tables of notebooks on pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steptime.answer.limits import Limit, limits
from steptime.book.site import limits_page, notebook_table

LIMIT = Limit(key="x", title="x_y", says="not modelled: x", since="0.2.0", source="qi2023, Sec. 2")


# ---- invariant


def test_every_limit_stands_on_the_page_once() -> None:
    text = limits_page.page()
    for limit in limits():
        title = f"`{limit.title}`" if "_" in limit.title else limit.title
        assert text.count(f"| {title} | {limit.says} |") == 1, limit.key
    assert text.startswith("# ")


def test_a_new_limit_comes_to_its_table_with_its_source() -> None:
    text = limits_page.page([LIMIT])
    touched, never = text.split("## Never asked for")
    assert "not modelled: x" in never
    assert "not modelled: x" not in touched
    assert "| `x_y` | not modelled: x | 0.2.0 | {cite:t}`qi2023`, Sec. 2 |" in never


def test_a_table_of_a_notebook_has_its_caption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = "| a | b |\n| --- | --- |\n| qi2023 | -1 |"
    cell = {
        "cell_type": "code",
        "metadata": {"tags": ["results"]},
        "source": "# What it shows.\nshow()",
        "outputs": [{"data": {"text/markdown": table}}],
    }
    monkeypatch.setattr(notebook_table, "OUTPUT", tmp_path)
    monkeypatch.setattr(notebook_table, "read_executed", lambda _: {"cells": [cell]})
    (tmp_path / "12_bubble.ipynb").write_text(json.dumps({}), encoding="utf-8")
    text = notebook_table.table_text("12_bubble", 1)
    assert text.startswith("\n:::{table} What it shows.\n\n| a | b |")
    assert "{cite:t}`qi2023` | −1 |" in text
    with pytest.raises(LookupError, match="has 1 tables, not 2"):
        notebook_table.table_text("12_bubble", 2)


# ---- refusal


@pytest.mark.parametrize("name", ["99_none", "12_bubble"])
def test_a_notebook_that_has_not_run_is_told(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebook_table, "OUTPUT", tmp_path)
    with pytest.raises(LookupError, match="make results"):
        notebook_table.table_text(name, 1)
