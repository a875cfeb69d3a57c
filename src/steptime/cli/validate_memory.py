"""`steptime validate-memory`: the memory model against published peaks, or your own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from steptime.answer.known import DEFAULT
from steptime.answer.predictor import PREDICTORS
from steptime.cli import options as opt
from steptime.cli.options import AsJson
from steptime.cli.output import console, percent, print_json, print_table, waiting
from steptime.cli.validation_words import print_kept_out, print_not_understood, print_skipped
from steptime.evidence.judge import why_kept_out
from steptime.evidence.memory_rows import MemoryRow, MemorySummary, memory_rows, memory_summary
from steptime.evidence.own_rows import OwnRows, own_rows, with_said
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.evidence.validate import source_of
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.in_number import counted

EXAMPLES = """
Examples:

- `steptime validate-memory`: every published run that prints its peak

- `steptime validate-memory my_runs.csv --json`: your own, with the column `mem_gb`; see
  `steptime validate --help` for the others
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
        "inferred": [str(one) for one in row.reading.inferred],
        "assumed": [str(one) for one in row.run.assumed],
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


def by_source(rows: Sequence[MemoryRow]) -> dict[str, MemorySummary]:
    """Return what the errors of each source's rows amount to, in the rows' order.

    Args:
        rows: Comparisons.
    """
    groups: dict[str, list[MemoryRow]] = {}
    for row in rows:
        groups.setdefault(source_of(row.run.row), []).append(row)
    found = {name: memory_summary(group) for name, group in groups.items()}
    return {name: one for name, one in found.items() if one is not None}


def _print_sources(sources: dict[str, MemorySummary]) -> None:
    heads = ("rows", "bias", "mean", "median", "largest")
    cells = (
        (
            name,
            str(one.rows),
            percent(one.bias_fraction),
            percent(one.mean_fraction),
            percent(one.median_fraction),
            percent(one.largest_fraction),
        )
        for name, one in sources.items()
    )
    print_table("error by source", [("source", "left"), *((h, "right") for h in heads)], cells)


def _none_compared(skipped: Sequence[tuple[str, str]]) -> ConfigError:
    """Return the refusal of a file of which no row prints its memory, with the first reason."""
    why = f": {skipped[0][0]}: {skipped[0][1]}" if skipped else ": the file has no row"
    return ConfigError(f"no row could be compared{why}")


def _kept_out(rows: Sequence[PublishedRow], how: opt.How) -> dict[str, str]:
    """Return id and reason of each row with a peak that `steptime validate` keeps out too."""
    told = {
        row.id: why_kept_out(row, how.predictor or DEFAULT, how.constants)
        for row in rows
        if row.mem_gb is not None
    }
    return {name: why for name, why in told.items() if why}


def _as_dict(
    rows: Sequence[MemoryRow], kept_out: dict[str, str], skipped: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    summary = memory_summary(rows)
    return {
        "rows": [row_dict(row) for row in rows],
        "kept_out": [{"id": name, "reason": why} for name, why in kept_out.items()],
        "skipped": [{"id": name, "reason": reason} for name, reason in skipped],
        "summary": None if summary is None else asdict(summary),
        "by_source": [{"source": name} | asdict(one) for name, one in by_source(rows).items()],
    }


@opt.takes_how
def validate_memory(
    how: opt.How,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Your runs; the published ones if left out."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare the memory model with measured peaks, row by row."""
    check_choice("predictor", how.predictor or DEFAULT, PREDICTORS)
    given = own_rows(file) if file else OwnRows(tuple(published_rows()), (), ())
    with waiting("answering the rows"):
        said = [with_said(row, how.said, how.network_gbit) for row in given.rows]
        out_of_means = _kept_out(said, how)
        rows, left = memory_rows([row for row in said if row.id not in out_of_means])
    silent = [row.id for row in said if file and row.mem_gb is None]
    skipped = (*given.faults, *left, *((name, "mem_gb is not stated") for name in silent))
    summary, sources = memory_summary(rows), by_source(rows)
    nothing = summary is None and file is not None
    if as_json:
        print_json(_as_dict(rows, out_of_means, skipped) | {"notes": list(given.notes)})
        if nothing:
            raise _none_compared((*out_of_means.items(), *skipped))
        return
    out = console()
    for note in given.notes:
        out.print(note, markup=False)
    print_rows(rows)
    if len(sources) > 1:
        _print_sources(sources)
    taken = [(row.id, one) for row in rows for one in (*row.run.assumed, *row.reading.inferred)]
    print_not_understood([(name, one) for name, one in taken if one.word])
    print_kept_out(tuple(out_of_means.items()))
    print_skipped(skipped)
    if nothing:
        raise _none_compared((*out_of_means.items(), *skipped))
    if summary is None:
        return
    out.print(
        f"{counted(summary.rows, 'rows')}: mean error {percent(summary.mean_fraction)}, median "
        f"{percent(summary.median_fraction)}, bias {percent(summary.bias_fraction)}, largest "
        f"{percent(summary.largest_fraction)} (error: predicted over published, less one)"
    )
