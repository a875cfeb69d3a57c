"""The directive ``{notebook-table} NAME NUMBER``: a table that a notebook made, on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from steptime.book.references import references
from steptime.book.results.captions import captions, with_captions
from steptime.book.results.notebooks import OUTPUT, all_notebooks
from steptime.book.results.page import read_executed
from steptime.book.site.citations import captioned, named
from steptime.book.site.provenance import link_below, origin_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def table_text(name: str, number: int) -> str:
    """Return a table of an executed notebook as a page's Markdown, its caption with it.

    Args:
        name: Of the notebook.
        number: Of its cell tagged ``results``, counted from 1.

    Raises:
        LookupError: If there is no such notebook, or no such table in it.
    """
    chosen = [one for one in all_notebooks() if one.name == name]
    if not chosen or not (OUTPUT / f"{name}.ipynb").is_file():
        raise LookupError(f"notebook {name} has not run: run `make results` first")
    found = [
        with_captions(
            named("".join(output["data"]["text/markdown"]), frozenset(references())),
            captions(cell["source"]),
            captioned,
        )
        for cell in read_executed(chosen[0])["cells"]
        if "results" in cell["metadata"].get("tags", [])
        for output in cell.get("outputs", [])
        if "text/markdown" in output.get("data", {})
    ]
    if not 1 <= number <= len(found):
        raise LookupError(f"notebook {name} has {len(found)} tables, not {number}")
    return found[number - 1]


class NotebookTable(SphinxDirective):
    """Show a table that a notebook made."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Return the table; one that is not there is an error."""
        notebook, number = self.arguments
        self.env.note_dependency(str(OUTPUT / f"{notebook}.ipynb"))
        try:
            text = table_text(notebook, int(number))
        except (LookupError, ValueError) as problem:
            raise self.error(f"notebook-table: {problem}") from problem
        holder = nodes.container()
        self.state.nested_parse(StringList(text.splitlines(), notebook), 0, holder)
        below = link_below(origin_of(notebook), self.env.docname)
        return [*holder.children, nodes.raw("", below, format="html")]


def setup(app: Sphinx) -> None:
    """Register the directive.

    Args:
        app: The running build.
    """
    app.add_directive("notebook-table", NotebookTable)
