"""Tables of the book: one file per topic, all through the same Markdown writer."""

from steptime.book.tables.markdown import (
    MISSING,
    Markdown,
    fixed,
    markdown_table,
    number,
    percent,
    signed_percent,
)

__all__ = [
    "MISSING",
    "Markdown",
    "fixed",
    "markdown_table",
    "number",
    "percent",
    "show",
    "signed_percent",
]


def show(*parts: str) -> Markdown:
    """Return tables and sentences, set apart by blank lines, for a notebook to display.

    Args:
        *parts: Markdown blocks: what `markdown_table` returns, or a sentence.
    """
    return Markdown("\n\n".join(part.strip("\n") for part in parts))
