"""How commands print: JSON as it is, tables for the eye."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from steptime.inputs.shown import seconds as seconds

if TYPE_CHECKING:
    from rich.console import Console


def print_json(value: Any) -> None:
    """Print a value as JSON, floats in full; NaN and infinities never reach a reader.

    Args:
        value: Anything that JSON can hold.
    """
    typer.echo(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))


def console() -> Console:
    """Return where tables go; a pipe gets 100 columns unless COLUMNS says how many it wants."""
    # Loaded for tables alone: JSON needs none of it.
    from rich.console import Console

    out = Console(highlight=False, emoji=False)
    if not out.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        out.width = max(out.width, 100)
    return out


@contextlib.contextmanager
def waiting(what: str) -> Iterator[Callable[[int], None]]:
    """Show on a terminal that something is under way, until it is done.

    Args:
        what: Is under way.

    Yields:
        What to call with how many layouts, or rows, are done.
    """
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        yield lambda done: status.update(f"{what}: {done:,} done")


@contextlib.contextmanager
def reading(paths: Sequence[Path]) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how far files are read; gone when they are.

    Args:
        paths: The files.

    Yields:
        What to call with the bytes that were just read.
    """
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    total = sum(path.stat().st_size for path in paths if path.is_file())
    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    err = Console(stderr=True)
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("", total=total)
        yield lambda size: bar.advance(task, size)


def print_table(
    title: str, columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]
) -> None:
    """Print a table.

    Args:
        title: Line over it.
        columns: Head and alignment (left or right) of each column.
        rows: Cells as text.
    """
    from rich.text import Text

    from steptime.cli.columns import tables

    # A table's own title would be broken to the width of the table.
    out = console()
    if title:
        out.print(Text(title, style="bold"))
    for part in tables(columns, [tuple(row) for row in rows], out.width):
        # A number that needs more than the whole line runs over its end; it is not cut.
        out.print(part, crop=False)


def percent(value: float | None, digits: int = 1) -> str:
    """Return a share for the eye, or a dash.

    Args:
        value: A fraction, or None.
        digits: After the point.
    """
    return "-" if value is None else f"{value * 100:.{digits}f} %"
