"""The Sphinx extension that _config.yml names: it only puts ours together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steptime.book.site import (
    bibliography,
    formula,
    mathml,
    notebook_figure,
    notebook_page,
    notebook_table,
    polish,
    results_page,
    stage_times,
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
    parts = (
        bibliography,
        formula,
        mathml,
        values,
        widget,
        notebook_figure,
        notebook_page,
        notebook_table,
        results_page,
        stage_times,
        polish,
    )
    for part in parts:
        part.setup(app)
    # Counted up when pages read with an older version must be read again.
    return {
        "version": "1",
        "env_version": 5,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
