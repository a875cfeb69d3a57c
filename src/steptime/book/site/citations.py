"""Tables as a page has them: keys turned into names with links, and captions."""

from __future__ import annotations

import re

_KEY = re.compile(r"(?<![\w`{/@#.-])([a-z][a-z0-9]*(?:19|20)\d\d[a-z0-9]*)(?![\w`}/-])")
_TIMES = re.compile(r"(?<=\d) × (?=\d)")
_MINUS = re.compile(r"(?:(?<=\| )|(?<= to ))-(?=\d)")


def named(text: str, keys: frozenset[str]) -> str:
    """Return Markdown with each known key as a citation, and numbers as a page sets them.

    Args:
        text: A notebook's output, or a part of results.md.
        keys: Every key of the bibliography.
    """

    def cited(hit: re.Match[str]) -> str:
        return f"{{cite:t}}`{hit[1]}`" if hit[1] in keys else hit[0]

    # What stands between backticks is code, or a citation already.
    parts = re.split(r"(`[^`]*`)", text)
    for place in range(0, len(parts), 2):
        part = _MINUS.sub("−", _KEY.sub(cited, parts[place]))
        # A layout such as 8 × 1 × 16 × 64 is one thing.
        parts[place] = _TIMES.sub("\u00a0×\u00a0", part)
    return "".join(parts)


def captioned(table: str, caption: str) -> str:
    """Return a table with its caption, as the page's Markdown has it.

    Args:
        table: Markdown.
        caption: One sentence.
    """
    return f"\n:::{{table}} {caption}\n\n{table.rstrip()}\n:::\n"
