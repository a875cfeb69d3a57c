"""The Sphinx extension that _config.yml names: it only puts ours together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steptime.book.site import (
    bibliography,
    mathml,
    notebook_figure,
    polish,
    results_page,
    values,
    widget,
)

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Register everything.

    Args:
        app: The running build.
    """
    for part in (bibliography, mathml, values, widget, notebook_figure, results_page, polish):
        part.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
