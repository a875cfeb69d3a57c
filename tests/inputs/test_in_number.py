"""Counts are said in their number, by Python and by the page alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from node_json import node_json

from steptime.inputs.in_number import counted, in_number

ROOT = Path(__file__).parents[2]
WORDS = {
    **{"GPUs": "GPU", "micro-batches": "micro-batch", "stages": "stage", "chunks": "chunk"},
    **{"places": "place", "ranks": "rank", "sequences": "sequence", "copies": "copy", "": ""},
}


@pytest.mark.parametrize(("several", "one"), WORDS.items())
def test_one_is_said_as_one(several: str, one: str) -> None:
    assert [in_number(count, several) for count in (0, 1, 2)] == [several, one, several]
    assert counted(1, several) == f"1 {one}"


def test_the_page_says_the_same() -> None:
    page = (ROOT / "book/web/shared/number.js").read_text(encoding="utf-8")
    script = f"{page}; const words = {json.dumps(list(WORDS))};"
    script += "console.log(JSON.stringify(words.map((w) => [inNumber(1, w), inNumber(3, w)])))"
    assert node_json(script) == [[one, several] for several, one in WORDS.items()]
