"""`steptime validate-memory`: the memory model against published peaks, or your own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from steptime.cli.options import AsJson
from steptime.cli.output import console, percent, print_json, print_table
from steptime.evidence.memory_rows import MemoryRow, memory_rows, memory_summary
from steptime.evidence.own_rows import OwnRows, own_rows
from steptime.evidence.schema import published_rows

EXAMPLES = """
Examples:

- `steptime validate-memory`: every published run that prints its peak

- `steptime validate-memory my_runs.csv --json`: your own, with the column `mem_gb`
"""


def register(app: typer.Typer) -> None:
    """Add the command to the application.

    Args:
        app: The application.
    """
    app.command("validate-memory", epilog=EXAMPLES)(validate_memory)


def row_dict(row: MemoryRow) -> dict[str, Any]:
    """Return one comparison as JSON holds it.

    Args:
        row: The comparison.
    """
    return {
        "id": row.id,
        "memory_gb": row.predicted_gb,
        "published_memory_gb": row.published_gb,
        "error_fraction": row.error_fraction,
        "rank": row.counted.rank,
        "total_bytes": row.counted.total_bytes,
        "bytes": row.counted.parts_bytes,
        "limit_bytes": row.memory.limit_bytes,
        "fits": row.memory.fits,
        "stack": row.reading.stack,
        "gb_bytes": row.reading.unit_bytes,
        "inferred": list(row.reading.inferred),
        "assumed": list(row.run.assumed),
    }


def print_rows(rows: Iterable[MemoryRow]) -> None:
    """Print comparisons as a table.

    Args:
        rows: The comparisons.
    """
    columns = (
        ("run", "left"),
        ("software", "left"),
        ("published GB", "right"),
        ("predicted", "right"),
        ("error", "right"),
        ("rank", "right"),
    )
    cells = (
        (
            row.id,
            row.reading.stack,
            f"{row.published_gb:.1f}",
            f"{row.predicted_gb:.1f}",
            f"{row.error_fraction * 100:+.1f} %",
            str(row.counted.rank),
        )
        for row in rows
    )
    print_table("memory model", columns, cells)


def validate_memory(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE.csv]", help="Your runs; the published ones if left out."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare the memory model with measured peaks, row by row."""
    given = own_rows(file) if file else OwnRows(tuple(published_rows()), (), ())
    rows, left = memory_rows(given.rows)
    skipped = (*given.faults, *left)
    summary = memory_summary(rows)
    if as_json:
        print_json(
            {
                "rows": [row_dict(row) for row in rows],
                "skipped": [{"id": name, "reason": reason} for name, reason in skipped],
                "summary": None if summary is None else asdict(summary),
            }
        )
        return
    print_rows(rows)
    out = console()
    for name, reason in skipped:
        out.print(f"skipped {name}: {reason}", markup=False)
    if summary is None:
        out.print("no row prints its memory (column mem_gb)")
        return
    out.print(
        f"{summary.rows} rows: mean error {percent(summary.mean_fraction)}, median "
        f"{percent(summary.median_fraction)}, bias {percent(summary.bias_fraction)}, largest "
        f"{percent(summary.largest_fraction)} (error: predicted over published, less one)"
    )
