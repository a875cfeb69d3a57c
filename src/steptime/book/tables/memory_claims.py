"""Table of §18: what papers and software state of memory, beside the formulas."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.book.study.memory_claims import Stated
from steptime.book.tables.markdown import Markdown, fixed, markdown_table


def _row(figure: Stated) -> list[str]:
    digits = max(figure.digits, 0)
    about = "about " if figure.digits < 0 else ""
    return [
        figure.what,
        figure.source,
        f"{about}{fixed(figure.stated, digits)} {figure.unit}",
        f"{fixed(figure.model, digits if figure.digits < 0 else digits + 1)} {figure.unit}",
        "yes" if figure.agrees else "no",
    ]


def stated_table(figures: Sequence[Stated]) -> Markdown:
    """Return one row for each stated figure.

    Args:
        figures: What sources state, and what the formulas give.
    """
    columns = ["quantity", "source", "stated", "formulas", "equal to the last digit printed"]
    return Markdown(markdown_table(columns, [_row(figure) for figure in figures]))
