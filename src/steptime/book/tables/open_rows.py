"""Table of §17: runs that leave something open, between the extremes of every choice."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.book.tables.markdown import Markdown, fixed, markdown_table
from steptime.evidence.open_rows import OpenRow


def open_table(found: Sequence[OpenRow]) -> Markdown:
    """Return one row for each run whose micro-batch or chunks are not stated.

    Args:
        found: What `steptime.evidence.open_rows.open_rows` returned.
    """
    columns = [
        "run that leaves something open",
        "published step (s)",
        "from (s)",
        "to (s)",
        "fastest of all choices",
        "slowest",
        "choices",
        "inside",
    ]
    rows = [
        [
            row.id,
            fixed(row.published_step_time_s, 2),
            fixed(row.step_time_low_s, 2),
            fixed(row.step_time_high_s, 2),
            row.fastest,
            row.slowest,
            str(row.choices),
            "yes" if row.inside else "no",
        ]
        for row in found
    ]
    return Markdown(markdown_table(columns, rows))
