"""One layout, told in four places: the home page, §18, the explorer and its stand-in."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import steptime
from steptime.answer import predict
from steptime.book.explorer_page import write_modules
from steptime.book.explorer_static import fragment, presets
from steptime.book.node import node_path
from steptime.book.study.memory_cases import GPT3_SERVER, known_cases
from steptime.book.tables.markdown import fixed

RUNNER = Path(__file__).with_name("explorer_default.mjs")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Give what the page's own modules answer before anything is chosen."""
    folder = tmp_path_factory.mktemp("default")
    write_modules(folder)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    shutil.copyfile(RUNNER, folder / "run.js")
    subprocess.run([node_path(), "run.js"], cwd=folder, check=True, timeout=60)
    found: dict[str, Any] = json.loads((folder / "said.json").read_text(encoding="utf-8"))
    return found


# --- invariant


def test_the_explorer_opens_with_the_roofline_model_and_its_interval(
    opened: dict[str, Any],
) -> None:
    asked = predict(**GPT3_SERVER)
    assert opened["predictor"] == asked.predictor == "roofline"
    assert opened["step_s"] == asked.step_time_s
    assert [opened["low_s"], opened["high_s"]] == [asked.step_time_low_s, asked.step_time_high_s]


def test_stand_in_home_page_and_explorer_tell_one_memory(opened: dict[str, Any]) -> None:
    first = presets()[0]
    assert first.parts_bytes["total"] == opened["memory_bytes"]
    (told,) = (memory for name, memory in known_cases() if name == "GPT-3 175B, t = 8 alone")
    assert told.total_bytes == opened["memory_bytes"]
    assert predict(**GPT3_SERVER).total_bytes == steptime.memory(**GPT3_SERVER).total_bytes
    assert predict(**GPT3_SERVER).total_bytes == opened["memory_bytes"]
    assert f"{fixed(told.total_bytes / 1e9, 0)} of " in fragment()
    # The home page takes it from §18, which takes it from that case.
    assert "{value}`memory_gpt_total`" in (ROOT / "book" / "index.md").read_text(encoding="utf-8")
