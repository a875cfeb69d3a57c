"""The runner: order, parameters, cache, and an old results.md that no failure harms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from steptime.book.results import __main__ as command
from steptime.book.results import cache, page
from steptime.book.results.clean import UnstableOutputError, cleaned
from steptime.book.results.execute import execute
from steptime.book.results.notebooks import Notebook, all_notebooks, select

TABLE = """\
from steptime.book import tables
from steptime.book.glue import glue
glue("worst", f"{max(sizes)} units")
tables.show(tables.markdown_table(["size"], [[size] for size in sizes]))"""


def write(path: Path, code: str = TABLE, title: str = "", reading: str = "") -> Path:
    tagged = {"tags": ["results"]}
    section = path.stem.partition("_")[0]
    book = new_notebook(
        cells=[
            new_markdown_cell(title or f"# §{section} Title\n\nWhy, says {{cite:p}}`smith2024`?"),
            new_code_cell("sizes = [1, 2]", metadata={"tags": ["parameters"]}),
            new_code_cell(code, metadata=tagged),
            new_markdown_cell(reading or "**Reading.** At worst {glue:text}`worst`."),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    for place, cell in enumerate(book.cells):
        cell["id"] = f"cell-{place}"
    path.write_text(nbformat.writes(book), encoding="utf-8")
    return path


def notebook(path: Path, **parameters: Any) -> Notebook:
    return Notebook(path=path, parameters=parameters, quick={})


# Order and parameters


def test_sections_come_in_their_order(tmp_path: Path) -> None:
    for name in ("12_c", "11a_b", "11_a", "2_z"):
        write(tmp_path / f"{name}.ipynb")
    assert [one.section for one in all_notebooks(tmp_path)] == ["2", "11", "11a", "12"]


def test_parameters_are_the_cells_then_the_files(tmp_path: Path) -> None:
    write(tmp_path / "12_c.ipynb")
    (tmp_path / "params.yml").write_text("12_c: {parameters: {sizes: [7]}, quick: {sizes: [8]}}")
    (found,) = all_notebooks(tmp_path)
    assert found.all_parameters() == {"sizes": [7]}
    assert found.all_parameters(quick=True) == {"sizes": [8]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("13_d: {}", "13_d"),
        ("12_c: {parameters: {size: 1}}", "size"),
        ("12_c: {sizes: 1}", "sizes"),
    ],
)
def test_unknown_names_in_the_parameter_file_are_refused(
    tmp_path: Path, text: str, said: str
) -> None:
    write(tmp_path / "12_c.ipynb")
    (tmp_path / "params.yml").write_text(text)
    with pytest.raises(ValueError, match=said):
        all_notebooks(tmp_path)


def test_unknown_section_is_refused_with_those_there_are(tmp_path: Path) -> None:
    write(tmp_path / "12_c.ipynb")
    with pytest.raises(ValueError, match=r"no notebook '99'; there are: 12, 12_c"):
        select(all_notebooks(tmp_path), ["99"])


# Runs, each of which starts a kernel


@pytest.mark.notebooks
def test_two_runs_give_the_same_bytes_and_the_section_reads_as_it_should(tmp_path: Path) -> None:
    book = notebook(write(tmp_path / "12_c.ipynb"), sizes=[3, 4])
    for folder in ("one", "two"):
        outcome = execute(book, tmp_path / folder)
        assert outcome.error == ""
    one, two = (tmp_path / folder / "12_c.ipynb" for folder in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    # Before it the introduction, after it the works that the introduction cites.
    section = page.assemble([book], tmp_path / "one").partition("## ")[2]
    assert section.partition("\n## Sources")[0] == (
        "§12 Title\n\nWhy, says [smith2024]?\n\n| size |\n| ---: |\n| 3 |\n| 4 |\n\n"
        "**Reading.** At worst 4 units.\n\n"
        "Notebook: [12_c.ipynb](notebooks/12_c.ipynb) · parameters: `sizes = [3, 4]`"
        " · sources: smith2024.\n"
    )


@pytest.mark.notebooks
def test_a_failing_cell_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    book = notebook(write(tmp_path / "12_c.ipynb", code="total = 1\ntotal / 0"))
    outcome = execute(book, tmp_path / "out")
    assert outcome.error.startswith("notebooks/12_c.ipynb, cell 2: ZeroDivisionError")
    assert "| total / 0" in outcome.error
    assert not (tmp_path / "out").exists()


@pytest.mark.notebooks
def test_a_failure_leaves_the_old_results_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "11_good.ipynb")
    write(tmp_path / "12_bad.ipynb", code="raise KeyError('lost')")
    monkeypatch.setattr(command, "all_notebooks", lambda: all_notebooks(tmp_path))
    refresh = command.refresh
    monkeypatch.setattr(command, "refresh", lambda *given: refresh(*given, tmp_path))
    old = tmp_path / "results.md"
    old.write_text("whole")
    assert command.main(["--out", str(old)]) == 1
    assert old.read_text() == "whole"
    assert "notebooks/12_bad.ipynb, cell 2: KeyError" in capsys.readouterr().err


# The cache


def test_key_follows_notebook_parameters_and_what_it_imports(tmp_path: Path) -> None:
    path = write(tmp_path / "12_c.ipynb")
    keys = {cache.key(notebook(path)), cache.key(notebook(path, sizes=[9]))}
    write(path, code=TABLE + "\n")
    keys.add(cache.key(notebook(path)))
    assert len(keys) == 3
    assert cache.key(notebook(path)) in keys


def test_closure_holds_parents_lazy_imports_and_modules_named_in_from() -> None:
    files = {path.name for path in cache.module_closure("from steptime.book import figures")}
    assert {"__init__.py", "svg.py", "colours.py"} <= files
    assert "pool.py" not in files


def test_relative_imports_are_resolved() -> None:
    found = cache.imported_modules("from .number import where", package="steptime.formulas")
    assert "steptime.formulas.number" in found


# What results.md refuses


def executed(title: str, tags: list[str], text: str) -> dict[str, Any]:
    output = {"data": {"text/markdown": [text]}, "metadata": {}}
    return {
        "cells": [
            {"cell_type": "markdown", "source": title, "metadata": {}},
            {"cell_type": "code", "source": "", "metadata": {"tags": tags}, "outputs": [output]},
        ]
    }


@pytest.mark.parametrize(
    ("title", "tags", "said"),
    [
        ("# Title", ["results"], "must begin '# §12 Title'"),
        ("# §13 Title", ["results"], "must begin '# §12 Title'"),
        ("# §12 Title", [], "no cell tagged 'results'"),
        ("# §12 Title\n\n{glue:text}`gone`", ["results"], "no cell glues it"),
    ],
)
def test_sections_of_the_wrong_shape(
    tmp_path: Path, title: str, tags: list[str], said: str
) -> None:
    book = notebook(write(tmp_path / "12_c.ipynb"))
    with pytest.raises(page.NotebookError, match=said):
        page.section(book, executed(title, tags, "| a |"))


def test_roles_become_plain_text() -> None:
    text = "{math}`x^2`, {numref}`fig <fig-a>`, {cite:t}`a2020,b2021`, {value}`w`"
    assert page.plain(text, {"w": "5 s"}) == "$x^2$, fig, [a2020, b2021], 5 s"


def test_an_address_in_an_output_is_refused() -> None:
    book = new_notebook(cells=[new_code_cell("x")])
    book.cells[0].outputs = [
        nbformat.v4.new_output("execute_result", {"text/plain": "<A at 0x7f12ab34cd>"})
    ]
    with pytest.raises(UnstableOutputError, match="cell 0"):
        cleaned(book)


def test_difference_names_the_lines(tmp_path: Path) -> None:
    old = tmp_path / "results.md"
    old.write_text("a\nb\n")
    assert command.difference(old, "a\nb\n") == ""
    assert "-b\n+c\n" in command.difference(old, "a\nc\n")


@pytest.mark.parametrize(("before", "status"), [("new\n", 0), ("old\n", 1)])
def test_a_check_writes_nothing_and_fails_where_results_differ(
    before: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "results.md"
    made.write_text(before, encoding="utf-8")
    monkeypatch.setattr(command, "OUTPUT", tmp_path)
    monkeypatch.setattr(command, "all_notebooks", list)
    monkeypatch.setattr(command, "assemble", lambda _: "new\n")
    assert command.main(["--check", "--out", str(made)]) == status
    assert made.read_text(encoding="utf-8") == before
    assert command.main(["--out", str(made)]) == 0
    assert made.read_text(encoding="utf-8") == "new\n"
