"""The JavaScript of the pages against the Python it is made from."""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
import random
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("pscript")

from steptime.book import javascript, sources
from steptime.book.minify import small_script
from steptime.book.node import JsFailure, call_in_node, same_bits
from steptime.book.subset import SubsetError
from steptime.formulas.schedule import SCHEDULES

FORMULAS = importlib.import_module("steptime.formulas")
MODULES = [
    importlib.import_module(entry.name)
    for entry in pkgutil.walk_packages(FORMULAS.__path__, "steptime.formulas.")
    if not entry.ispkg
]
DRAWS = 40


class Record(dict):
    """A dict whose keys can also be read as attributes, as JavaScript objects' can."""

    __getattr__ = dict.__getitem__


def fields_read(nodes: Iterable[ast.AST], *, by_key: bool) -> dict[str, set[str]]:
    """Return, by name, the attributes (or the text keys) that are read from it."""
    fields: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and not by_key:
            fields.setdefault(node.value.id, set()).add(node.attr)
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and by_key:
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if isinstance(key, str):
                fields.setdefault(node.value.id, set()).add(key)
    return fields


@functools.cache
def used_fields() -> dict[str, set[str]]:
    """Return the fields that any formula reads from the records, which share their names."""
    trees = [ast.parse(Path(module.__file__ or "").read_text()) for module in MODULES]
    return fields_read((node for tree in trees for node in ast.walk(tree)), by_key=False)


def draw_number(rng: random.Random) -> float:
    """Return a switch, a count, a rate or a small fraction."""
    kind = rng.randrange(5)
    if kind == 0:
        return 0.0 if rng.random() < 0.2 else 1.0
    if kind == 1:
        return float(rng.choice([1, 2, 3, 4, 8, 12, 16, 64, 72, 96, 128]))
    if kind == 2:
        return float(rng.randrange(1, 10**6))
    return 10 ** rng.uniform(3, 15) if kind == 3 else rng.uniform(1e-6, 2.0)


def draw_field(name: str, rng: random.Random) -> float:
    """Return a number for a field or parameter: a schedule is a place in their list."""
    place = rng.randrange(len(SCHEDULES))
    return {"schedule": float(place), "place": place}.get(name, draw_number(rng))


def draw_arguments(
    function: ast.FunctionDef, fields: dict[str, set[str]], rng: random.Random
) -> list[Any]:
    arguments: list[Any] = []
    for parameter in function.args.args:
        if parameter.annotation and ast.unparse(parameter.annotation) == "str":
            words = SCHEDULES if parameter.arg == "name" else ("forward", "x")
            arguments.append(rng.choice(words))
        elif parameter.arg in fields:
            names = sorted(fields[parameter.arg])
            arguments.append(Record((name, draw_field(name, rng)) for name in names))
        else:
            arguments.append(draw_field(parameter.arg, rng))
    return arguments


def drawn_calls(module: ModuleType) -> list[tuple[str, list[Any], Any]]:
    """Return DRAWS calls of each public formula of a module, with Python's answers."""
    rng = random.Random(module.__name__)
    fields = used_fields()
    tree = ast.parse(Path(module.__file__ or "").read_text())
    calls: list[tuple[str, list[Any], Any]] = []
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef) or function.name.startswith("_"):
            continue
        if function.name == "where":
            continue
        done = 0
        keys = fields | fields_read(ast.walk(function), by_key=True)
        for _ in range(60 * DRAWS):
            arguments = draw_arguments(function, keys, rng)
            try:
                answer = getattr(module, function.name)(*arguments)
            except ZeroDivisionError:
                continue
            except (TypeError, KeyError):
                # It takes what another formula returns, and is compared inside that one.
                done = DRAWS
                break
            calls.append((function.name, arguments, answer))
            done += 1
            if done == DRAWS:
                break
        assert done == DRAWS, f"{function.name} divides by zero on nearly every draw"
    return calls


# ---- invariant: the same to the last bit


@pytest.mark.slow
def test_every_formula_agrees_to_the_last_bit() -> None:
    made = javascript.Bundle(["steptime.formulas"])
    calls = [
        (made.names[module.__name__, name], given, answer)
        for module in MODULES
        for name, given, answer in drawn_calls(module)
    ]
    # As the pages send it: what makes it smaller may work nothing out.
    sent = small_script(made.text())
    assert len(sent) < len(made.text())
    answers = call_in_node(sent, [(name, given) for name, given, _ in calls])
    wrong = [
        (name, python, js)
        for (name, _, python), js in zip(calls, answers, strict=True)
        if not same_bits(python, js)
    ]
    assert not wrong, f"{len(wrong)} of {len(calls)} differ, first {wrong[0]}"
    assert len(calls) > 2000


SEMANTICS = '''
def divisions(a: int, b: int) -> list[float]:
    """Floor division and remainder round towards minus infinity."""
    return [a // b, a % b, a // 2, -a // 4, a // 1]

def conditions(n: int) -> int:
    items = list(range(n))
    kept: list[int] = []
    while items:
        last = items.pop()
        if not last % 2 == 0:
            kept.append(last)
    return len(kept) if kept else -1

def bounds(n: int) -> list[int]:
    grown = [0] * 2 + [n]
    for i in range(len(grown)):
        grown.append(i)
    for i in range(n, 0, -1):
        grown.append(i)
    for i in range(n, -n, -1 - n):
        grown.append(i)
    return grown

def extremes(n: int) -> list[int]:
    many = [abs(i - n) for i in range(200000)]
    return [max(many), min(many), max(n, 3, 5), min(n, 2)]

def methods(n: int) -> list[int]:
    items = list(range(n))
    items.extend(range(200000))
    first = items.pop(0) if n > 0 else -1
    last = items.pop()
    items.reverse()
    inside = 3 in items and n not in (2, 4)
    return [first, last, items[0], items[len(items) - 1], int(inside)]

def chained(a: float, b: float) -> bool:
    return 0 <= a < b

def keywords(a: int) -> int:
    return shifted(a, by=3) - shifted(by=1, value=a)

def shifted(value: int, *, scale: int = 2, by: int = 0) -> int:
    return value * scale + by

def named(new: int, default: int) -> str:
    return f"{new} of {default}, {'x'!r}"

def pairs(n: int) -> list[list[int]]:
    rows = [[i, j] for i in range(n) for j in range(i)]
    for k, (a) in enumerate(range(n)):
        rows.append([k, a])
    return rows

def refused(n: int) -> int:
    if n > 3:
        raise ValueError(f"n={n} is over 3")
    return n
'''


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a maker of throw-away modules in the room of formulas."""

    def make(text: str) -> ModuleType:
        (tmp_path / "made_up.py").write_text(textwrap.dedent(text))
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(sources, "ROOMS", ("made_up", "steptime.formulas"))
        monkeypatch.delitem(sys.modules, "made_up", raising=False)
        importlib.invalidate_caches()
        return importlib.import_module("made_up")

    return make


def test_python_keeps_its_meaning_where_javascript_differs(made: Any) -> None:
    module = made(SEMANTICS)
    numbers = [-9, -7, -1, 1, 2, 5, 9]
    calls: list[tuple[str, list[Any]]] = [("divisions", [a, b]) for a in numbers for b in numbers]
    for n in range(6):
        calls += [
            (name, [n]) for name in ("conditions", "bounds", "extremes", "keywords", "methods")
        ]
        calls += [("chained", [n, 3]), ("named", [n, 2]), ("pairs", [n]), ("shifted", [n])]
    answers = call_in_node(javascript.bundle(module.__name__), calls)
    for (name, given), answer in zip(calls, answers, strict=True):
        assert same_bits(getattr(module, name)(*given), answer), (name, given, answer)


def test_an_error_comes_out_with_its_message(made: Any) -> None:
    (answer,) = call_in_node(javascript.bundle(made(SEMANTICS).__name__), [("refused", [4])])
    assert isinstance(answer, JsFailure)
    assert str(answer) == "ValueError: n=4 is over 3"


# ---- refusal: nothing is translated into something else


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("return a ** 0.5", r"\*\*"),
        ("return sum([a, b])", "write the loop"),
        ("return round(a)", "round"),
        ("return a or b", "use if"),
        ("return [a] == [b]", "element by element"),
        ("return open(a)", "open"),
        ("import math", "import"),
        ("return unknown(a)", "unknown"),
        ("return f'{a:.2f}'", "format"),
        ("for i in range(3):\n        pass\n    return i", "counter"),
        ("try:\n        return a\n    except ValueError:\n        return b", "try"),
        ("return {a, b}", "set"),
        ("yield a", "yield"),
        ("c: dict[int, int] = {}\n    return c", "keys"),
    ],
)
def test_what_has_no_exact_translation_is_refused(made: Any, line: str, said: str) -> None:
    module = made(f"def f(a, b):\n    {line}\n")
    with pytest.raises(SubsetError, match=rf"made_up\.py:\d+: .*{said}"):
        javascript.bundle(module.__name__)


def test_other_rooms_are_refused() -> None:
    with pytest.raises(SubsetError, match=r"steptime\.cli is outside"):
        javascript.bundle("steptime.cli")


def test_a_missing_function_is_named() -> None:
    with pytest.raises(SubsetError, match="has no nothing_here"):
        javascript.bundle("steptime.formulas.number:nothing_here")


# ---- the files


@pytest.mark.slow
def test_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    first = javascript.write_bundles(tmp_path / "a")
    second = javascript.write_bundles(tmp_path / "b")
    assert [path.name for path in first] == [f"{name}.js" for name in javascript.BUNDLES]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_only_what_the_roots_reach_is_in_a_bundle() -> None:
    code = javascript.bundle("steptime.formulas.number:ceil_div")
    assert "ceil_div" in code
    assert "maximum" not in code
