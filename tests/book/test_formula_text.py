"""Formulas as the page gets them: fewer bytes, and the same lists again once read."""

from __future__ import annotations

import pytest
from node_json import node_json

from steptime.book.explorer_page import OPENED, TABLES, modules, texts_text, whole_numbers
from steptime.book.formula_short import short_bodies, short_form
from steptime.book.formula_text import formula_texts


# --- invariant
def test_the_page_reads_back_every_formula() -> None:
    script = modules()["explorer/texts.js"] + texts_text()
    script += "console.log(JSON.stringify(unpackedTexts(stFormulaTexts)));"
    assert node_json(script) == whole_numbers(formula_texts(OPENED, TABLES))


def test_a_short_form_is_shorter_and_says_the_same() -> None:
    part = ["at", "terms", ["text", "total"]]
    tree = ["=", "a", ["+", ["call", "floor", part, [".", "job", "tp"]], 2.5]]
    assert short_form(tree) == "(= a(+(! floor terms'total job.tp)2.5))"


def test_a_body_ends_with_what_it_returns_and_names_values_without_a_sign() -> None:
    tree = ["dict", ["tp", [".", "job", "tp"]], ["all", ["+", "a", 1.0]], ["a", "a"]]
    body = [["=", "a", 2.0], ["if", "a", [["=", "a", 3.0]]], ["return", tree]]
    assert (
        short_bodies([body, [["return", 0.0]]])
        == "((a 2)(if a((a 3)))(dict job.tp(all(+ a 1))a))(0)"
    )


# --- refusal
@pytest.mark.parametrize("body", [[["=", "a", 1.0]], [["=", "put", 1.0], ["return", 0.0]]])
def test_a_body_that_would_be_read_otherwise_is_refused(body: list[object]) -> None:
    with pytest.raises(TypeError, match="no short form"):
        short_bodies([body])


@pytest.mark.parametrize("word", [True, ["text", "two words"], "it's", "(", 'a"b', "a.b", "!"])
def test_what_would_be_read_otherwise_is_refused(word: object) -> None:
    with pytest.raises(TypeError, match="no short form"):
        short_form(word)
