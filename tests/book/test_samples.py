"""Python that a reader copies from README or a page: it names what there is, and runs."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "book").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SAMPLES = [
    pytest.param(code, id=f"{page.stem}-{place}")
    for page in PAGES
    for place, code in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
]
# The others read what a cluster or a training script of the reader's own gives them.
WHOLE = [one for one in SAMPLES if str(one.id).partition("-")[0] in ("README", "rerun", "search")]


@pytest.mark.parametrize("code", SAMPLES)
def test_what_a_sample_imports_of_steptime_is_there(code: str) -> None:
    taken = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    for node in taken:
        if str(node.module).startswith("steptime"):
            module = importlib.import_module(str(node.module))
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                there = hasattr(module, alias.name) or importlib.util.find_spec(whole)
                assert there, f"no {whole}"


@pytest.mark.parametrize("code", WHOLE)
def test_a_sample_that_needs_nothing_runs(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(code, "sample", "exec"), names)
    assert "steptime" in names or (tmp_path / "answers").is_dir()


def test_samples_were_found_on_the_pages_that_have_them() -> None:
    assert len(SAMPLES) >= 7
    assert len(WHOLE) == 3
