"""Give results.md its links: to the executed notebooks and into the bibliography.

The file itself stays plain, for readers of the repository; only the page is changed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steptime.book.references import references
from steptime.book.results.captions import with_leads
from steptime.book.site.citations import captioned, named

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_NOTEBOOK = re.compile(r"\]\(notebooks/([\w.]+)\.ipynb\)")
_BRACKET = re.compile(r"\[([a-z]+\d{4}[a-z0-9]*(?:, [a-z]+\d{4}[a-z0-9]*)*)\](?!\()")
_HEAD = re.compile(r"^Made by `make results`.*?(?=^## )", re.MULTILINE | re.DOTALL)
_SOURCES = re.compile(r"^## Sources\n.*\Z", re.MULTILINE | re.DOTALL)
_CAPTION = re.compile(r"^\*(.+)\*\n\n((?:\|.*\n)+)", re.MULTILINE)

HEAD = """\
Every table of the book in one place, for looking up and for searching. Each section has
a page of its own, with its answer, its figures and its code: the link below its tables leads there.

A number is *published* (printed in its source), *model* (worked out, nothing fitted) or *fitted*.

"""


def linked(text: str, keys: frozenset[str]) -> str:
    """Return the page's source with its links.

    Args:
        text: results.md.
        keys: Every key of the bibliography.
    """

    def cited(hit: re.Match[str]) -> str:
        names = hit[1].split(", ")
        return f"{{cite:p}}`{','.join(names)}`" if keys.issuperset(names) else hit[0]

    # The bibliography has a page; what each notebook ran with stands on its own page.
    text = _SOURCES.sub("", _HEAD.sub(HEAD, text))
    text = _CAPTION.sub(lambda hit: captioned(hit[2], hit[1]), text)
    text = with_leads(text, captioned)
    text = _BRACKET.sub(cited, text)
    return _NOTEBOOK.sub(r"](build/notebooks/\1.ipynb)", named(text, keys))


def on_read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Change the text of the results page as it is read."""
    if docname == "results":
        source[0] = linked(source[0], frozenset(references()))


def setup(app: Sphinx) -> None:
    """Register it."""
    app.connect("source-read", on_read)
