"""How commands print: JSON as it is, tables for the eye."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console


def print_json(value: Any) -> None:
    """Print a value as JSON, floats in full; NaN and infinities never reach a reader.

    Args:
        value: Anything that JSON can hold.
    """
    typer.echo(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))


def console() -> Console:
    """Return where tables go; a pipe gets 100 columns, as no terminal says how wide it is."""
    # Loaded for tables alone: JSON needs none of it.
    from rich.console import Console

    out = Console(highlight=False, emoji=False)
    if not out.is_terminal:
        out.width = max(out.width, 100)
    return out


def print_table(
    title: str, columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]
) -> None:
    """Print a table.

    Args:
        title: Line over it.
        columns: Head and alignment (left or right) of each column.
        rows: Cells as text.
    """
    from rich.table import Table
    from rich.text import Text

    # A table's own title would be broken to the width of the table.
    out = console()
    if title:
        out.print(Text(title, style="bold"))
    table = Table(header_style="bold", pad_edge=False)
    for head, justify in columns:
        table.add_column(head, justify="right" if justify == "right" else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    out.print(table)


def seconds(value: float) -> str:
    """Return a time for the eye: three or four digits in s, ms or µs.

    Args:
        value: Seconds.
    """
    if value == 0:
        return "0"
    if value >= 1000:
        return f"{value:,.0f} s"
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= scale:
            return f"{value / scale:.4g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def percent(value: float | None, digits: int = 1) -> str:
    """Return a share for the eye, or a dash.

    Args:
        value: A fraction, or None.
        digits: After the point.
    """
    return "-" if value is None else f"{value * 100:.{digits}f} %"
