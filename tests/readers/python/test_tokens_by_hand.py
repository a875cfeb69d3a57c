"""Recipes in Python, expression by expression, and where reading ends."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers.python import expressions, recipe
from steptime.readers.python.calls import _copied
from steptime.readers.python.module import MOST_WORDS, Library, _places
from steptime.readers.python.records import Record, summed
from steptime.readers.python.values import Scope


class Literal:
    """A scope that knows literals alone."""

    def value(self, node: ast.expr) -> Any:
        return ast.literal_eval(node)

    def spend(self, _: int) -> None:
        pass


SCOPE: Any = Literal()


def node(text: str) -> Any:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("text", "value"),
    # Minus a number is known; plus it, or minus a word, is left open; so is what turns bits.
    [("-5", -5), ("-0.5", -0.5), ("+5", "open"), ("-'a'", "open"), ("~5", "open"), ("not 0", True)],
)
def test_signs(text: str, value: Any) -> None:
    wanted = expressions.OPEN if value == "open" else value
    assert (
        expressions._unary(SCOPE, node(text)) is wanted
        or expressions._unary(SCOPE, node(text)) == wanted
    )


@pytest.mark.parametrize(("parts", "is_known"), [(19, True), (20, True), (21, False)])
def test_a_text_of_many_parts_is_left_open(parts: int, is_known: bool) -> None:
    text = "f'" + "".join("a" if place % 2 else "{1}" for place in range(parts)) + "'"
    found = expressions._text(SCOPE, node(text))
    known = "".join("a" if place % 2 else "1" for place in range(parts))
    assert found == known if is_known else found is expressions.OPEN


def test_words_are_put_together_up_to_a_length() -> None:
    assert summed(ast.Add, "a" * 100, "b" * 100) == "a" * 100 + "b" * 100
    assert summed(ast.Add, "a" * 101, "b" * 100) is None
    assert summed(ast.Add, "a" * 10, 3) is None


def test_a_copy_holds_copies_of_what_was_in_it() -> None:
    inner = Record(kind="Inner", fields={"n": (3, 7)})
    outer = Record(kind="Outer", fields={"one": (inner, 1), "two": (inner, 2), "size": (5, 3)})
    outer.fields["self"] = (outer, 4)
    made = _copied(SCOPE, outer, {})
    one, two = made.fields["one"][0], made.fields["two"][0]
    assert one == inner
    assert one is not inner
    # What is in it twice, or is itself, stays so.
    assert one is two
    assert made.fields["self"][0] is made
    assert made.fields["size"] == (5, 3)


def test_twenty_of_a_recipes_callbacks_are_read() -> None:
    made = [Record(kind=f"mod.Own{place}", fields={"n": (place, 1)}) for place in range(22)]
    found = [str(one) for one in recipe._listed(made, ("trainer", "callbacks"))]
    assert any("Own19" in one for one in found)
    assert not any("Own20" in one for one in found)


def test_a_module_lies_above_its_package_or_beside_the_file() -> None:
    file = Path("/own/pkg/sub/run.py")
    found = list(_places(file, "pkg.other", 0))
    assert Path("/own/pkg/other.py") in found
    assert Path("/own/pkg/pkg/other.py") not in found
    assert next(_places(file, "other", 0)) == Path("/own/pkg/sub/other.py")
    assert next(_places(file, "other", 2)) == Path("/own/pkg/other.py")


def test_a_recipe_may_have_as_many_words_as_told() -> None:
    library, path = Library(), Path("own.py")
    full = "b\n" * MOST_WORDS
    library.cut(full, path, "own.py")
    with pytest.raises(ConfigError, match=f"over {MOST_WORDS} words"):
        Library().cut(full + "b\n", path, "own.py")


def test_functions_that_call_each_other_go_one_deeper_each() -> None:
    own: Any = SimpleNamespace()
    scope = Scope(own, own)
    assert scope.inside(own).depth == 1
    assert scope.inside(own).inside(own).depth == 2
