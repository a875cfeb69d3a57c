"""Formulas as the page gets them: fewer bytes, and the same lists again once read."""

from __future__ import annotations

import json
import subprocess

import pytest

from steptime.book.explorer_page import OPENED, TABLES, modules, texts_text, whole_numbers
from steptime.book.formula_text import formula_texts, short_form
from steptime.book.node import node_path


# --- invariant
def test_the_page_reads_back_every_formula() -> None:
    script = modules()["explorer/texts.js"] + texts_text()
    script += "console.log(JSON.stringify(unpackedTexts(stFormulaTexts)));"
    ran = subprocess.run(
        [node_path(), "--input-type=module"],
        input=script,
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    assert json.loads(ran.stdout) == whole_numbers(formula_texts(OPENED, TABLES))


def test_a_short_form_is_shorter_and_says_the_same() -> None:
    part = ["at", "terms", ["text", "total"]]
    tree = ["=", "a", ["+", ["call", "floor", part, [".", "job", "tp"]], 2.5]]
    assert short_form(tree) == "(= a(+(! floor terms'total job.tp)2.5))"


# --- refusal
@pytest.mark.parametrize("word", [True, ["text", "two words"], "it's", "(", 'a"b', "a.b", "!"])
def test_what_would_be_read_otherwise_is_refused(word: object) -> None:
    with pytest.raises(TypeError, match="no short form"):
        short_form(word)
