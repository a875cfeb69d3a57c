"""The page of three days: its commands run, and what it shows is what they print."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.book.site import day_page
from steptime.book.site.day_page import DAYS, FILES, FailedError, Scene, page, transcript

SCENES = [scene for scenes in DAYS.values() for scene in scenes]


@pytest.fixture(scope="module")
def text() -> str:
    return page()


def test_every_command_and_file_stands_on_the_page(text: str) -> None:
    assert text.count("```console") == len(SCENES)
    for scene in SCENES:
        assert "$ steptime " + " \\\n    ".join(scene.words) in text
    for name, content in FILES.items():
        assert f"`{name}`:\n\n```text\n{content}```" in text
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        f"## {heading}" for heading in DAYS
    ]


def test_the_trace_of_an_unfused_run_is_found_to_be_unfused(text: str) -> None:
    day = text.split("$ steptime trace ")[1].partition("```")[0]
    worst = day.partition("slower than predicted:")[2]
    assert "could be: element-wise operations run one by one, not fused" in worst
    assert "100.0 % of the gap" in " ".join(worst.split())


def test_it_is_the_same_however_fast_the_machine_is(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "timed in" not in text
    monkeypatch.setenv("COLUMNS", "60")
    assert page() == text


def test_its_lines_are_no_wider_than_its_blocks(text: str) -> None:
    blocks = text.split("```console\n")[1:]
    lines = [line for block in blocks for line in block.partition("\n```")[0].splitlines()]
    assert max(map(len, lines)) <= int(day_page.COLUMNS)


def test_what_it_shows_follows_the_command() -> None:
    one = Scene(wish="", words=("place --tp 8 --pp 2", "--domain 8"))
    shown = transcript(one)
    assert shown.startswith(
        "```console\n$ steptime place --tp 8 --pp 2 \\\n    --domain 8\n16 GPUs"
    )
    cut = transcript(Scene(wish="", words=one.words, most=2))
    assert cut.count("\n") == 7
    assert "\n…\n```" in cut


def test_a_command_that_fails_fails_the_page() -> None:
    with pytest.raises(FailedError, match="unknown model 'llama9'"):
        page({"A bad day": [Scene(wish="", words=("predict -m llama9 -a h100 -s 1k -B 1",))]})


def test_the_page_is_in_the_book() -> None:
    root = Path(__file__).resolve().parents[2]
    assert "file: build/pages/days" in (root / "_toc.yml").read_text(encoding="utf-8")
