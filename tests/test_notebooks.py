"""Every notebook runs from top to bottom with the small parameters of params.yml."""

from __future__ import annotations

from pathlib import Path

import pytest
from notebook_cells import ran

from steptime.book.results.notebooks import Notebook, all_notebooks
from steptime.book.results.page import section

pytestmark = pytest.mark.notebooks


@pytest.mark.parametrize("notebook", all_notebooks(), ids=lambda notebook: notebook.name)
def test_notebook_runs_with_other_parameters(notebook: Notebook) -> None:
    assert notebook.quick, f"params.yml has no small set for {notebook.name}"
    text = section(notebook, ran(notebook))
    assert text.startswith(f"## §{notebook.section} ")


def test_each_parameter_cell_declares_something() -> None:
    assert [one.name for one in all_notebooks() if not one.all_parameters()] == []


def test_papermill_finds_the_same_parameters_as_the_runner() -> None:
    import papermill

    for notebook in all_notebooks():
        assert set(papermill.inspect_notebook(str(notebook.path))) == set(notebook.all_parameters())


def test_a_wrong_parameter_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "params.yml").write_text("99_missing: {}", encoding="utf-8")
    with pytest.raises(ValueError, match="99_missing"):
        all_notebooks(tmp_path)
