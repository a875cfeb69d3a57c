"""Tables at any width: every number stands whole on one line, and no head is cut."""

from __future__ import annotations

import io
import random
import re
from collections import Counter

import pytest

from steptime.cli.columns import tables

SEARCH = ("search", "-m", "llama3-70b", "-a", "h100", "--gpus", "512", "-s", "8k", "-B", "1024")
RUN = ("--tokens", "15T", "--price-per-gpu-hour", "2.5", "--top", "5")
NUMBER = re.compile(r"[=!]?[\d,.]+%?")
COMMANDS = [
    (*SEARCH, *RUN, "--schedule", "1f1b,zb-v", "--pp", "8", "--tp", "4,8"),
    ("accelerators",),
    ("models",),
    ("memory", "-m", "llama3-70b", "-a", "h100", "--tp", "4", "--dp", "8", "-s", "8k", "-B", "64"),
    ("place", "--tp", "8", "--pp", "4", "--dp", "16", "-a", "h100"),
]


def _lines(columns: list[tuple[str, str]], rows: list[tuple[str, ...]], width: int) -> list[str]:
    from rich.console import Console

    out = io.StringIO()
    for one in tables(columns, rows, width):
        Console(file=out, width=width, color_system=None).print(one, crop=False)
    return out.getvalue().splitlines()


def _cells(lines: list[str], rule: str) -> list[str]:
    """Return the cells between rules of one kind: thick ones are around heads."""
    return [cell.strip() for line in lines if line[:1] == rule for cell in line.split(rule)[1:-1]]


@pytest.mark.parametrize("width", [30, 60, 80, 100, 200])
def test_no_width_breaks_a_number_or_cuts_a_head(width: int) -> None:
    draw = random.Random(width)
    for _ in range(40):
        sides = ["left", *(draw.choice(["left", "right", "right"]) for _ in range(9))]
        heads = [" ".join(draw.choices(["step", "s", "GB/s", "network"], k=2)) for _ in sides]
        rows = [
            tuple("some words" if one == "left" else f"{draw.random():.6g}" for one in sides)
            for _ in range(3)
        ]
        lines = _lines(list(zip(heads, sides, strict=True)), rows, width)
        assert max(map(len, lines)) <= width
        numbers = [row[at] for row in rows for at, side in enumerate(sides) if side == "right"]
        shown = _cells(lines, "│")
        assert sorted(one for one in shown if one in set(numbers)) == sorted(numbers)
        words = " ".join(_cells(lines, "┃")).split()
        assert set(words) == set(" ".join(heads).split())


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_commands_print_the_same_numbers_at_every_width(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    columns: int,
) -> None:
    from steptime.cli.main import run

    def numbers(width: int) -> Counter[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        assert run(list(words)) == 0
        lines = capsys.readouterr().out.splitlines()
        assert max(len(line) for line in lines if line[:1] in "│┃┡└┏") <= width
        every = Counter(_cells(lines, "│"))
        return Counter({one: every[one] for one in every if NUMBER.fullmatch(one)})

    # A number in a text that is folded may come to stand alone, so there may be more.
    assert numbers(400) <= numbers(columns)


def test_what_is_too_wide_goes_on_below_with_the_names_of_the_rows() -> None:
    columns = [("name", "left"), *((f"n{at}", "right") for at in range(8))]
    rows = [(f"row{at}", *(f"{at}.12345" for _ in range(8))) for at in range(2)]
    assert len(tables(columns, rows, 200)) == 1
    parts = tables(columns, rows, 40)
    assert len(parts) > 1
    assert all([str(cell) for cell in part.columns[0].cells] == ["row0", "row1"] for part in parts)
