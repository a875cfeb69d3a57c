"""What benchmarks write into pages, that it is there, and that what they time runs."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def written() -> ModuleType:
    spec = importlib.util.spec_from_file_location("written", ROOT / "bench" / "written.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_table_takes_the_place_of_the_one_before(written: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!--made by bench/x.py-->\nold\n<!--end of bench/x.py-->\nb\n")
    for number in (1, 2):
        written.put(page, "x", written.table(["one", "two"], [[number, "y"]]))
    assert page.read_text() == (
        "a\n<!--made by bench/x.py-->\n| one | two |\n| --- | --- |\n| 2 | y |\n"
        "<!--end of bench/x.py-->\nb\n"
    )
    with pytest.raises(ValueError, match=r"page\.md has no place for y"):
        written.put(page, "y", "")


def test_the_table_of_mutants_counts_what_was_drawn() -> None:
    text = (ROOT / "book" / "built.md").read_text(encoding="utf-8")
    part = text.partition("<!--made by bench/mutants.py-->\n")[2]
    lines = part.partition("<!--end of bench/mutants.py-->")[0].splitlines()
    lines = [line for line in lines if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert head == ["room", "killed", "late", "survived", "equivalent", "noticed"]
    assert rows
    for _, killed, late, survived, _, noticed in rows:
        found, left = int(killed) + int(late), int(survived)
        assert noticed == f"{100 * found / max(found + left, 1):.0f} %"


def test_what_cannot_be_loaded_does_not_count_as_having_noticed_a_mutant(tmp_path: Path) -> None:
    """Such a file fails with every mutant, and with none: the run has to stop."""
    test, seen = tmp_path / "test_a.py", tmp_path / "seen.json"
    test.write_text("import a_module_that_there_is_not\n", encoding="utf-8")
    given = os.environ | {"PYTHONPATH": str(ROOT / "bench"), "MUTANTS_SEEN": str(seen)}
    words = [sys.executable, "-m", "pytest", "-p", "mutants_seen", "-p", "no:cacheprovider"]
    subprocess.run([*words, str(test)], cwd=tmp_path, env=given, capture_output=True, check=False)
    assert json.loads(seen.read_text(encoding="utf-8"))["unread"] == ["test_a.py"]


def test_each_mutant_that_changes_no_answer_is_of_a_line_that_there_is() -> None:
    with (ROOT / "bench" / "equivalent.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    gone = []
    for row in rows:
        text = (ROOT / "src" / "steptime" / row["file"]).read_text(encoding="utf-8")
        lines = {line.strip() for line in text.splitlines()}
        if row["text"] not in lines or row["old"] not in row["text"] or not row["reason"]:
            gone.append(row)
    assert gone == []


def test_what_is_timed_of_an_answer_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    core = importlib.import_module("core")
    called: list[str] = []

    def once(call: Callable[[], object], number: int = 1) -> float:
        call()
        called.append(str(number))
        return 1.0

    monkeypatch.setattr(core, "fastest_s", once)
    monkeypatch.setattr(core.timeit, "timeit", once)
    monkeypatch.setattr(core, "ROUNDS", 1)
    names = [*core.door_s(), *core.predictions_s()]
    assert len(called) == len(names) == len(set(names)) == 6
