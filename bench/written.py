"""Put a table that a benchmark measured into a page, between two comments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def put(page: Path, name: str, text: str) -> None:
    """Replace what stands between the comments of that name.

    Raises:
        ValueError: If the page has no such place.
    """
    whole = page.read_text(encoding="utf-8")
    before, start, rest = whole.partition(f"<!--made by bench/{name}.py-->\n")
    _, end, after = rest.partition(f"<!--end of bench/{name}.py-->")
    if not start or not end:
        raise ValueError(f"{page.name} has no place for {name}")
    page.write_text(f"{before}{start}{text}\n{end}{after}", encoding="utf-8")
