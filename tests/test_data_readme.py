"""The README of the data names every file that is there, and none that is gone."""

from __future__ import annotations

import re
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data"


def test_every_file_has_its_line_and_every_line_its_file() -> None:
    text = (DATA / "README.md").read_text(encoding="utf-8")
    table = text.partition("| --- |")[2].partition("\n\n")[0]
    heads = [line.split("|")[1] for line in table.splitlines() if line.startswith("|")]
    named = {name.rstrip("/") for head in heads for name in re.findall(r"`([^`]+)`", head)}
    assert named == {path.name for path in DATA.iterdir()} - {"README.md"}
