"""No test without a way to fail: each asserts something, and nothing that is always so."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOM = Path(__file__).parent
# What fails by itself: of pytest, of Playwright, and of subprocess.
FAILS = {"raises", "fail", "wait_for_url", "wait_for_selector", "check_call"}


def trees() -> Iterator[tuple[str, ast.Module]]:
    """Yield the name and the tree of every file of tests."""
    for path in sorted(ROOM.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield path.relative_to(ROOM).as_posix(), ast.parse(text)


@dataclass(frozen=True, slots=True)
class Function:
    """What of a function decides whether it can fail.

    Attributes:
        name: Its name.
        line: Its first line.
        asserts: Whether it does so itself.
        calls: Names of what it calls.
    """

    name: str
    line: int
    asserts: bool
    calls: frozenset[str]


def functions(tree: ast.AST) -> list[Function]:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [
        Function(
            one.name,
            one.lineno,
            any(isinstance(node, ast.Assert) for node in ast.walk(one)),
            frozenset(called(node) for node in ast.walk(one) if isinstance(node, ast.Call)),
        )
        for one in found
    ]


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def can_fail(function: Function, known: set[str]) -> bool:
    """Return whether a function asserts, or calls what does."""
    return function.asserts or not function.calls.isdisjoint(known)


def failing(every: list[Function]) -> set[str]:
    """Return the names of helpers and fixtures that can fail, those that call others too."""
    known = set(FAILS)
    while True:
        more = {one.name for one in every if can_fail(one, known)} - known
        if not more:
            return known
        known |= more


def always(test: ast.expr) -> bool:
    """Return whether a condition says nothing: a constant, a tuple, a name against itself."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides = (test.left, test.comparators[0])
        plain = all(isinstance(one, ast.Name | ast.Constant) for one in sides)
        return plain and ast.dump(sides[0]) == ast.dump(sides[1])
    return isinstance(test, ast.Constant | ast.Tuple | ast.JoinedStr | ast.Lambda)


def without_a_way_to_fail(found: list[tuple[str, ast.Module]]) -> list[str]:
    """Return the places of tests that assert nothing, and of assertions that say nothing.

    A test counts on helpers of its own file, and of files that hold no tests: another file's may
    share the name of anything that it calls.
    """
    helpers = [
        one
        for name, tree in found
        if not Path(name).name.startswith("test_")
        for one in functions(tree)
    ]
    wrong = []
    for name, tree in found:
        own = functions(tree)
        known = failing([*helpers, *own])
        tests = [one for one in own if one.name.startswith("test_")]
        wrong += [f"{name}:{one.line}" for one in tests if not can_fail(one, known)]
        said = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
        wrong += [f"{name}:{one.lineno}" for one in said if always(one.test)]
    return wrong


def test_every_test_can_fail() -> None:
    assert without_a_way_to_fail(list(trees())) == []


def test_a_test_that_cannot_fail_is_found() -> None:
    text = """
def helper(x):
    assert x
def test_nothing():
    print(1)
def test_by_a_helper():
    helper(0)
def test_always():
    assert (helper, "said")
    assert text == text
    assert True
"""
    other = "def print(x):\n    assert x\n"
    trees = [("test_a.py", ast.parse(text)), ("test_b.py", ast.parse(other))]
    assert without_a_way_to_fail(trees) == [f"test_a.py:{line}" for line in (4, 9, 10, 11)]


def test_browser_tests_lie_where_they_are_looked_for() -> None:
    """`make browser` collects their folder alone, and `make unit` all others."""
    marked = {name for name, _ in trees() if "pytest.mark.browser" in (ROOM / name).read_text()}
    there = {name for name, _ in trees() if Path(name).name.startswith("test_")}
    assert marked - {"test_tests.py"} == {name for name in there if name.startswith("browser/")}


def item(path: str, slow: bool) -> Any:
    marks = [SimpleNamespace(name="slow")] if slow else []
    return SimpleNamespace(path=ROOM / path, iter_markers=lambda: marks)


@pytest.fixture(scope="module")
def order() -> Any:
    """Give the file that holds for every test, as a module."""
    spec = importlib.util.spec_from_file_location("order", ROOM / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_a_test_of_a_list_that_is_empty_stops_the_run(tmp_path: Path) -> None:
    """A list of files or rows that finds none any more would skip its test without a word."""
    text = "import pytest\n@pytest.mark.parametrize('x', [])\ndef test_none(x):\n    assert x\n"
    (tmp_path / "test_a.py").write_text(text, encoding="utf-8")
    (tmp_path / "conftest.py").write_text((ROOM / "conftest.py").read_text(encoding="utf-8"))
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", str(tmp_path)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "test_none" in done.stderr + done.stdout


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_each_worker_begins_with_what_is_fast_and_no_test_is_lost(order: Any, workers: int) -> None:
    paths = [f"{room}/test_{n}.py" for room in ("answer", "inputs", "readers") for n in range(4)]
    items = [item(path, slow) for path in paths for slow in (False, True, False)]
    found = order.dealt(sorted(items, key=order._rank), workers)
    assert len(found) == len(items)
    assert {*map(id, found)} == {*map(id, items)}
    length = len(items) // workers
    for first in range(0, workers * length, length):
        run = found[first : first + length]
        slow = [bool(one.iter_markers()) for one in run]
        assert not slow[0]
        assert slow[-1]
