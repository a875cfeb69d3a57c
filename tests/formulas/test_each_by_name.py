"""Each public formula is named by a test: a number from outside holds it, not its callers alone."""

from __future__ import annotations

import ast
from pathlib import Path

from steptime.book.site.formula_pages import all_functions

TESTS = Path(__file__).parents[1]


def named() -> set[str]:
    """Return the names that the tests' code uses, whatever they mean there."""
    found: set[str] = set()
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                found.add(node.attr)
            if isinstance(node, ast.Name):
                found.add(node.id)
    return found


def test_each_formula_is_named_by_a_test() -> None:
    every = [one for one in all_functions() if not one.__name__.startswith("_")]
    assert len(every) > 350
    used = named()
    alone = [f"{one.__module__}.{one.__name__}" for one in every if one.__name__ not in used]
    assert alone == []
