"""The directive ``{notebook-figure} 17_roofline 1``: a notebook's figure on another page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from steptime.book.results.notebooks import OUTPUT
from steptime.book.site.provenance import link_below, origin_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_SVG = re.compile(r"<svg .*?</svg>", re.DOTALL)
_VARIABLE = re.compile(r"var\([\w-]+, (#\w+)\)")
INK = "#1f2328"


def figure_markup(notebook: str, number: int, folder: Path = OUTPUT) -> str:
    """Return a figure of an executed notebook as HTML.

    Args:
        notebook: Its name, such as ``17_roofline``.
        number: 1 for its first figure.
        folder: Where executed notebooks lie.

    Raises:
        LookupError: If the notebook has not run, or has not so many figures.
    """
    path = folder / f"{notebook}.ipynb"
    if not path.is_file():
        raise LookupError(f"notebook {notebook} has not run")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    shown = [
        "".join(output["data"]["text/html"])
        for cell in cells
        for output in cell.get("outputs", [])
        if "<figure" in "".join(output.get("data", {}).get("text/html", ""))
    ]
    if not 1 <= number <= len(shown):
        raise LookupError(f"notebook {notebook} has {len(shown)} figures, not {number}")
    return shown[number - 1]


def standalone_svg(markup: str) -> str:
    """Return a figure as an SVG file of its own: light colours, on white.

    Args:
        markup: From `figure_markup`.

    Raises:
        LookupError: If there is no drawing in it.
    """
    found = _SVG.search(markup)
    if found is None:
        raise LookupError("no drawing in the figure")
    text = _VARIABLE.sub(r"\1", found[0]).replace("currentColor", INK)
    head, rest = text.split(">", 1)
    font = f' fill="{INK}" font-family="sans-serif"'
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    return (
        f'{head} xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink"{font}>{paper}{rest}\n'
    )


class NotebookFigure(SphinxDirective):
    """Show a figure that a notebook drew."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Return the figure; one that is not there is an error."""
        notebook, number = self.arguments
        self.env.note_dependency(str(OUTPUT / f"{notebook}.ipynb"))
        try:
            markup = figure_markup(notebook, int(number))
            below = link_below(origin_of(notebook), self.env.docname)
        except (LookupError, ValueError) as problem:
            raise self.error(f"notebook-figure: {problem}") from problem
        # Inside the figure, under its caption.
        head, end, _ = markup.rpartition("</figure>")
        return [nodes.raw("", f"{head}{below}\n{end}", format="html")]


def setup(app: Sphinx) -> None:
    """Register the directive.

    Args:
        app: The running build.
    """
    app.add_directive("notebook-figure", NotebookFigure)
