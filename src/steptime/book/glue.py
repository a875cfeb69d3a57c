"""Hand a number from a notebook to the prose, so that no result is ever typed.

In a notebook, in a cell tagged ``remove-cell``::

    glue("mean_error", tables.percent(score.mean_abs_error_fraction))

In the same notebook's text: ``{glue:text}`mean_error```. On any page of the book:
``{value}`mean_error``` (a role of `steptime.book.site`). A name may be used once in
the whole book, so begin it with what it belongs to.
"""

from __future__ import annotations

PREFIX = "application/papermill.record/"


def glue(name: str, text: object) -> None:
    """Record ``text`` under ``name`` in the output of the running cell.

    Written in the form that MyST-NB reads, without importing it: its import costs
    more than most cells.

    Args:
        name: Letters, digits and underscores; unique in the book.
        text: The finished text, unit and rounding included.

    Raises:
        ValueError: If the name has other characters.
    """
    from IPython.display import display

    if not name.isidentifier():
        raise ValueError(f"glue name {name!r} must be letters, digits and underscores")
    display(  # type: ignore[no-untyped-call]
        {f"{PREFIX}text/plain": str(text)},
        metadata={"scrapbook": {"name": name, "mime_prefix": PREFIX}},
        raw=True,
    )
