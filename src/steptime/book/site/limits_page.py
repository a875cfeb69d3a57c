"""Write the page of what is not modelled, from ``data/limits.toml``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from steptime.answer.limits import Limit, limits
from steptime.book.references import references
from steptime.book.site.citations import captioned, named
from steptime.book.tables.markdown import markdown_table

_FLAG = re.compile(r"--[\w-]+")

HEAD = """\
# What it does not know

A model is as good as what it admits to leave out. This page is made from the same table as the
answers: where a question touches one of its lines, the answer says so under *assumed*. Nothing
here is priced, and no interval covers it.
"""
TAKEAWAY = """\
:::{admonition} Takeaway
:class: tip
Read the last lines of an answer first: what is assumed can be told, what is not modelled cannot.
:::

Next: try it on your own model. {doc}`/book/explorer`.
"""


def page(found: Sequence[Limit] | None = None) -> str:
    """Return the page.

    Args:
        found: The limits; those of ``data/`` if None.
    """
    every = limits() if found is None else found
    touched = [limit for limit in every if limit.place]
    never = [limit for limit in every if not limit.place]
    return "\n".join(
        [
            HEAD,
            "## Said where a question touches it",
            _table(touched, "An answer says it, under the name in the first column."),
            "## Never asked for",
            "No input asks for these.",
            _table(never, "Outside the model, or out of its scope."),
            TAKEAWAY,
        ]
    )


def _word(title: str) -> str:
    return f"`{title}`" if "_" in title else title


def _flags(source: str) -> str:
    """Return a source with options of a command line as code: two dashes stay two."""
    return _FLAG.sub(lambda hit: f"`{hit[0]}`", source)


def _table(found: Sequence[Limit], caption: str) -> str:
    keys = frozenset(references())
    rows = [[_word(one.title), one.says, one.since, _flags(one.source)] for one in found]
    columns = ["what", "what an answer says", "said since", "described in"]
    table = captioned(named(markdown_table(columns, rows), keys), caption)
    return table.replace(f"{caption}\n", f"{caption}\n:class: st-prose\n", 1)
