"""The book is in words of its own: no run of eight is one of the text that it set out from.

source_runs.txt has hashes of that text's runs, made by bench/source_runs.py; the text is not here.
"""

from __future__ import annotations

import ast
import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
_SPEC = importlib.util.spec_from_file_location("source_runs", ROOT / "bench" / "source_runs.py")
assert _SPEC is not None
assert _SPEC.loader is not None
source_runs = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(source_runs)
KEPT = frozenset(source_runs.KEPT.read_text(encoding="utf-8").split())


def strings(path: Path) -> str:
    """Return the docstrings and other texts of a Python file, a break between them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = [one.value for one in ast.walk(tree) if isinstance(one, ast.Constant)]
    return "\n\u2029 break \u2029\n".join(one for one in texts if isinstance(one, str))


def cells(path: Path) -> str:
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in found)


def plain(path: Path) -> str:
    return path.read_text(encoding="utf-8")


READ = {
    "book/*.md": plain,
    "book/web/**/*.js": plain,
    "*.md": plain,
    "data/*.toml": plain,
    "notebooks/*.ipynb": cells,
    "src/**/*.py": strings,
}
# Read in the tests: every worker collects all of them.
FILES = [(pattern, path) for pattern in READ for path in sorted(ROOT.glob(pattern))]


def shared(text: str) -> list[str]:
    return [run for key, run in source_runs.runs(text).items() if key in KEPT]


@pytest.mark.parametrize(
    ("pattern", "path"), FILES, ids=[str(path.relative_to(ROOT)) for _, path in FILES]
)
def test_no_run_of_eight_words_is_the_source_s(pattern: str, path: Path) -> None:
    assert shared(READ[pattern](path)) == []


def test_a_run_is_found_whatever_its_case_and_punctuation() -> None:
    sentence = "One two, three: FOUR five-six; seven (eight) nine."
    found = source_runs.runs(sentence)
    assert list(found.values()) == [
        "one two three four five six seven eight",
        "two three four five six seven eight nine",
    ]
    assert len(KEPT) > 900
    assert all(len(one) == 16 for one in KEPT)
