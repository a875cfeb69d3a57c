"""One of a thing is told as one: every unit that a control of the explorer says, under Node."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from steptime.book.explorer_page import write_modules
from steptime.book.node import node_path

SAYS = """
import { inNumber as units } from "./shared/number.js";
import { RADIOS, MORE_RADIOS } from "./explorer/controls.js";
import { NUMBERS } from "./explorer/fields.js";
const said = [...RADIOS, ...MORE_RADIOS, ...NUMBERS].map((row) => row[3]);
const words = [...new Set([...said, "micro-batches"])].filter(Boolean);
const told = words.map((one) => [one, [units(1, one), units(2, one)]]);
console.log(JSON.stringify(Object.fromEntries(told)));
"""
ONE = {
    "ways": "way",
    "stages": "stage",
    "chunks": "chunk",
    "sequences": "sequence",
    "copies": "copy",
    "GPUs": "GPU",
    "tokens": "token",
    "micro-batches": "micro-batch",
}


def test_one_of_each_unit_is_told_as_one(tmp_path: Path) -> None:
    write_modules(tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (tmp_path / "run.js").write_text(SAYS, encoding="utf-8")
    command = [node_path(), "run.js"]
    run = subprocess.run(command, cwd=tmp_path, check=True, timeout=60, capture_output=True)
    assert json.loads(run.stdout) == {many: [one, many] for many, one in ONE.items()}
