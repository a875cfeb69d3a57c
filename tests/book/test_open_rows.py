"""The table of runs that leave something open."""

from __future__ import annotations

from steptime.book.tables.open_rows import open_table
from steptime.evidence.open_rows import OpenRow

INSIDE = OpenRow("a-1", 10.0, 9.0, 12.5, "micro-batch 1, vpp 2", "micro-batch 1, vpp 8", 4)
OUTSIDE = OpenRow("a-2", 13.0, 9.0, 12.5, "micro-batch 1, vpp 2", "micro-batch 1, vpp 8", 4)


def test_a_row_says_both_ends_and_whether_the_run_lies_between() -> None:
    inside, outside = str(open_table([INSIDE, OUTSIDE])).splitlines()[-2:]
    assert (
        "| 10.00 | 9.00 | 12.50 | micro-batch 1, vpp 2 | micro-batch 1, vpp 8 | 4 | yes |" in inside
    )
    assert outside.endswith("| no |")
