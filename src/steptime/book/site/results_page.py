"""Turn results.md into the list of all results: each section's question, its answer, its page.

The file itself stays whole and plain, for readers of the repository. A page with every table
would be sixty screens high, and each section has a page with its tables, figures and code.
Headings stay, so that a link to a section of the list lands on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from steptime.book.references import references
from steptime.book.site.citations import named

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_NOTEBOOK = re.compile(r"^Notebook: \[[^\]]*\]\(notebooks/([\w.]+)\.ipynb\)", re.MULTILINE)
_BRACKET = re.compile(r"\[([a-z]+\d{4}[a-z0-9]*(?:, [a-z]+\d{4}[a-z0-9]*)*)\](?!\()")
_READING = "**Reading.**"

HEAD = """\
# Results

What was asked, what came out, and where to look it up: one page a section, with all its tables, its
figures and its code. `results.md` in the repository has every table in one file.

A number is *published* (printed in its source), *model* (worked out, nothing fitted) or *fitted*.
"""


def _answered(section: str) -> Iterator[str]:
    """Yield a section's heading, its question, its answer, and the way to all of it."""
    heading, *blocks = [one for one in section.strip().split("\n\n") if one]
    yield f"## {heading}"
    for one in blocks:
        # What stands before the first table asks; after it, tables are explained.
        if one.startswith(("|", "*")):
            break
        yield one
    for one in blocks:
        if one.startswith(_READING):
            said = one.removeprefix(_READING).strip()
            yield f":::{{admonition}} In short\n:class: tip st-answer\n{said}\n:::"
    place = _NOTEBOOK.search(section)
    if place is not None:
        number = heading.split()[0]
        yield f"{{doc}}`Tables, figures and code of {number} </build/notebooks/{place[1]}>`"


def linked(text: str, keys: frozenset[str]) -> str:
    """Return the page's source with its links.

    Args:
        text: results.md.
        keys: Every key of the bibliography.
    """

    def cited(hit: re.Match[str]) -> str:
        names = hit[1].split(", ")
        return f"{{cite:p}}`{','.join(names)}`" if keys.issuperset(names) else hit[0]

    _, *sections = re.split(r"^## ", text.split("\n## Sources\n")[0], flags=re.MULTILINE)
    blocks = [HEAD.rstrip(), *(block for one in sections for block in _answered(one))]
    return named(_BRACKET.sub(cited, "\n\n".join(blocks) + "\n"), keys)


def on_read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Change the text of the results page as it is read."""
    if docname == "results":
        source[0] = linked(source[0], frozenset(references()))


def setup(app: Sphinx) -> None:
    """Register it."""
    app.connect("source-read", on_read)
