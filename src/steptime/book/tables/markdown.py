"""Markdown tables and numbers that print the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import SupportsFloat

MISSING = "–"


@dataclass(frozen=True, slots=True)
class Markdown:
    """Text that a notebook displays as Markdown.

    Attributes:
        text: The Markdown source.
    """

    text: str

    def _repr_markdown_(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def number(value: float | None, digits: int = 3) -> str:
    """Return ``value`` to ``digits`` significant digits, thousands set off by commas.

    Never in exponent form between 1e-4 and 1e15, and never ``-0``.

    Args:
        value: A number, or None where there is none.
        digits: Significant digits; all digits before the point are always kept.
    """
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e15:
        return f"{value:.{digits - 1}e}"
    # Rounded first: 9.996 to three digits is 10.0, which has one decimal fewer.
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{value:,.{decimals}f}"


def fixed(value: SupportsFloat | None, decimals: int = 1) -> str:
    """Return ``value`` with so many decimals, thousands set off by commas."""
    if value is None or math.isnan(value):
        return MISSING
    text = f"{float(value):,.{decimals}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.,") else text


def percent(fraction: SupportsFloat | None, decimals: int = 1) -> str:
    """Return a share such as 0.108 as ``10.8 %``."""
    return (
        MISSING
        if fraction is None or math.isnan(fraction)
        else f"{fixed(100 * float(fraction), decimals)} %"
    )


def signed_percent(fraction: float | None, decimals: int = 1) -> str:
    """Return an error such as -0.021 as ``-2.1 %``, with its sign also when positive."""
    if fraction is None or math.isnan(fraction):
        return MISSING
    text = percent(fraction, decimals)
    return text if text.startswith("-") or not text.strip("0. %") else f"+{text}"


def _cell(value: object) -> str:
    """Return one cell's text; floats not yet formatted get three digits."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    return str(value).replace("|", "\\|").replace("\n", " ")


def _is_numeric(text: str) -> bool:
    """Return whether a cell should stand on the right."""
    bare = text.strip("+-–∞ %×~≤≥<>").replace(",", "").replace(".", "", 1)
    mantissa = bare.replace("e-", "").replace("e+", "")
    return text in {MISSING, ""} or mantissa.isdigit()


def markdown_table(
    columns: Sequence[str], rows: Sequence[Sequence[object] | Mapping[str, object]]
) -> str:
    """Return a Markdown table, its number columns on the right.

    Args:
        columns: Heads, each with its unit: ``step time (s)``. None may be empty, since
            a screen reader reads the head before each cell.
        rows: One sequence of cells a row, or one mapping from head to cell. A ``str`` is
            printed as it is, a float to three digits, None as a dash.

    Returns:
        The table, without a line break at its end.

    Raises:
        ValueError: If a head is empty or a row has not one cell a column.
    """
    if not all(columns):
        raise ValueError("every column needs a head")
    body = []
    for row in rows:
        cells = [row[name] for name in columns] if isinstance(row, Mapping) else list(row)
        if len(cells) != len(columns):
            raise ValueError(f"{len(cells)} cells for {len(columns)} columns: {cells}")
        body.append([_cell(cell) for cell in cells])
    # A few words among numbers, such as "fitted", do not move the column to the left.
    shares = [sum(_is_numeric(row[at]) for row in body) for at in range(len(columns))]
    right = [bool(body) and share >= 0.6 * len(body) for share in shares]
    heads = [str(name).replace("|", "\\|") for name in columns]
    lines = [heads, ["---:" if one else "---" for one in right], *body]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def milliseconds(seconds: SupportsFloat) -> str:
    """Return a time in milliseconds, as a page prints it.

    Args:
        seconds: The time.
    """
    return f"{number(1e3 * float(seconds), 2)} ms"
