"""Give results.md its links: to the executed notebooks and into the bibliography.

The file itself stays plain, for readers of the repository; only the page is changed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_NOTEBOOK = re.compile(r"\]\(notebooks/([\w.]+)\.ipynb\)")
_BRACKET = re.compile(r"\[([a-z]+\d{4}[a-z]?(?:, [a-z]+\d{4}[a-z]?)*)\](?!\()")
_SOURCES = re.compile(r"(?<= · sources: )([a-z0-9, ]+)(?=\.$)", re.MULTILINE)


def linked(text: str, keys: frozenset[str]) -> str:
    """Return the page's source with its links.

    Args:
        text: results.md.
        keys: Every key of the bibliography.
    """

    def cited(hit: re.Match[str]) -> str:
        names = hit[1].split(", ")
        return f"{{cite:p}}`{','.join(names)}`" if keys.issuperset(names) else hit[0]

    def listed(hit: re.Match[str]) -> str:
        return ", ".join(
            f"{{cite:t}}`{name}`" if name in keys else name for name in hit[1].split(", ")
        )

    text = _NOTEBOOK.sub(r"](build/notebooks/\1.ipynb)", text)
    return _SOURCES.sub(listed, _BRACKET.sub(cited, text))


def on_read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Change the text of the results page as it is read."""
    if docname != "results":
        return
    bibliography = Path(app.srcdir) / "data" / "references.bib"
    entries = bibliography.read_text(encoding="utf-8")
    keys = frozenset(re.findall(r"^@\w+\{([^,\s]+)", entries, re.MULTILINE))
    source[0] = linked(source[0], keys)


def setup(app: Sphinx) -> None:
    """Register it."""
    app.connect("source-read", on_read)
