"""Tables of §12."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.book.study.bubble import BubbleRow, BubbleStudy
from steptime.book.tables.markdown import Markdown, markdown_table, percent
from steptime.pipeline.schedules import SCHEDULES


def grid_table(study: BubbleStudy) -> Markdown:
    """Return the bubble by formula and by simulation, as shares of useful work and of the step.

    Args:
        study: The grid.
    """
    columns = [
        "stages p",
        "micro-batches m",
        "schedule",
        "chunks v",
        "idle / useful, formula",
        "idle / useful, simulated",
        "idle / step, formula",
        "idle / step, simulated",
        "same to the last bit",
    ]
    table = markdown_table(columns, _rows(study.rows))
    if not study.left_out:
        return Markdown(table)
    sizes = ", ".join(f"{p} stages and {m} micro-batches" for p, m in study.left_out)
    return Markdown(
        f"{table}\n\nInterleaving is left out where m < p, of which the formula says nothing: "
        f"{sizes}."
    )


def count_table(study: BubbleStudy) -> Markdown:
    """Return how many sizes were compared in all, and how many differ.

    Args:
        study: The grid.
    """
    rows = []
    for name in ("gpipe", "1f1b", "interleaved-1f1b"):
        cells = [row for row in (*study.rows, *study.checked) if row.schedule == name]
        differ = sum(not row.equal for row in cells)
        most = max(row.stages for row in cells)
        rows.append([SCHEDULES[name].title, str(most), str(len(cells)), str(differ)])
    columns = ["schedule", "most stages", "sizes compared", "sizes that differ in any bit"]
    return Markdown(markdown_table(columns, rows))


def _rows(cells: Sequence[BubbleRow]) -> list[list[str]]:
    return [
        [
            str(row.stages),
            str(row.micro_batches),
            SCHEDULES[row.schedule].title,
            str(row.chunks),
            percent(row.formula_overhead, 3),
            percent(row.simulated_overhead, 3),
            percent(row.formula_fraction, 3),
            percent(row.simulated_fraction, 3),
            "yes" if row.equal else "no",
        ]
        for row in cells
    ]
