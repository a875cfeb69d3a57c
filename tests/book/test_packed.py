"""Records packed by column come out of the page's own script as they went in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from node_json import node_json

from steptime.book.explorer_data import explorer_data
from steptime.book.explorer_page import data_text, data_texts, modules
from steptime.book.packed import joined, packed_rows


def unpacked(text: str, more: str = "") -> Any:
    """Return the data of a page as its script reads it.

    Args:
        text: Module of the data.
        more: Module of what comes later, if any.
    """
    unpack = modules()["explorer/unpack.js"].replace("export ", "")
    body = "\n".join(text.replace("export ", "").splitlines()[1:])
    later = f"{more.replace('export ', '')}filled(data, rest);" if more else ""
    script = f"{unpack}\n{body}\n{later}\nconsole.log(JSON.stringify(data));"
    return node_json(script)


def test_all_data_of_the_explorer_comes_out_as_it_went_in() -> None:
    truth = json.loads(json.dumps(explorer_data()))
    whole = unpacked(data_text())
    assert {name: whole[name] for name in truth} == truth
    # In two pieces the same, but for the order of the fields of a record.
    first, rest = data_texts()
    both = unpacked(first, rest)
    assert {name: both[name] for name in truth} == truth


def test_a_value_that_many_records_share_stands_once() -> None:
    rows = [{"key": name, "source": "one paper, Table 2", "run": None} for name in "abcdef"]
    packed = packed_rows(rows)
    assert packed["rows"] == 6
    assert packed["columns"]["key"] == list("abcdef")
    assert packed["columns"]["source"] == {"of": ["one paper, Table 2"], "at": [0] * 6}
    assert json.dumps(packed).count("paper") == 1


# --- refusal
def test_texts_with_the_sign_that_parts_them_are_not_joined() -> None:
    assert joined(["a b", "", "c"]) == "a b||c"
    with pytest.raises(ValueError, match="parts texts"):
        joined(["a|b"])
