"""Captions of tables: the comments that a cell tagged ``results`` begins with.

The first comment belongs to the cell's first table, the second to its second; a bare ``#``
leaves a table without one. So a caption stands where the notebook makes the table, and both
results.md and the website show it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_LED = re.compile(
    r"^(?!:::|\*|#)([^|\n][^\n]*):\n\n(\|.*\|\n\| *:?-.*\|\n(?:\|.*\|(?:\n|\Z))*)", re.MULTILINE
)
_TABLE = re.compile(r"^\|.*\|\n\| *:?-.*\|\n(?:\|.*\|(?:\n|\Z))*", re.MULTILINE)


def captions(source: str) -> list[str]:
    """Return the comments that a cell begins with.

    Args:
        source: The cell's code.
    """
    found = []
    for line in source.splitlines():
        if not line.startswith("#"):
            break
        found.append(line.lstrip("#").strip())
    return found


def with_leads(markdown: str, written: Callable[[str, str], str]) -> str:
    """Return text in which a sentence that leads to a table, ending with a colon, is its caption.

    Args:
        markdown: Tables and sentences.
        written: Makes the text of a table and its caption.
    """
    return _LED.sub(lambda hit: written(hit[2], f"{hit[1]}."), markdown)


def with_captions(markdown: str, said: list[str], written: Callable[[str, str], str]) -> str:
    """Return a cell's output with a caption put to each table that has one.

    Args:
        markdown: What the cell displays: tables, and perhaps sentences.
        said: From `captions`.
        written: Makes the text of a table and its caption.
    """
    left = iter(said)

    def put(hit: re.Match[str]) -> str:
        caption = next(left, "")
        return written(hit[0], caption) if caption else hit[0]

    return _TABLE.sub(put, markdown)
