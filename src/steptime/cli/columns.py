"""How wide the columns of a table are: no number breaks over lines, and no head is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.table import Table

LONGEST_WORD = 26
"""Characters of a word that stay together, as of an option; a longer one may be folded."""
LONGEST_NAME = 32
"""Characters of a row's name that stay together; what is longer is a sentence."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        head: Over it.
        number: Whether its cells are numbers, which stand to the right and stay whole.
        cells: From the top down.
        named: Whether its cells are the names of the rows, which stay whole where they can.
    """

    head: str
    number: bool
    cells: tuple[str, ...]
    named: bool = False

    @property
    def whole(self) -> int:
        """Width in which nothing breaks."""
        return max(map(_width, (self.head, *self.cells)))

    def least(self, *, names_break: bool) -> int:
        """Return the width in which heads break between words, and text too, but no number.

        Args:
            names_break: Whether the names of rows may break as other text does.
        """
        head = max(map(_width, self.head.split()), default=1)
        widest = max([head, *map(_width, self.cells)])
        if self.number or (self.named and not names_break and widest <= LONGEST_NAME):
            return widest
        text = (min(_width(word), LONGEST_WORD) for cell in self.cells for word in cell.split())
        return max([head, *text])


def tables(
    columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]], width: int
) -> list[Table]:
    """Return a table as one or, where its numbers need more than a line, as several.

    Heads break between words first, then text, then blanks between columns go; what is still too
    wide goes on below, each part with the first column.

    Args:
        columns: Head and alignment (left or right) of each.
        rows: Cells as text.
        width: Characters of a line.
    """
    every = [
        Column(head, side == "right", tuple(row[place] for row in rows), named=place == 0)
        for place, (head, side) in enumerate(columns)
    ]
    for padding, names_break in ((1, False), (0, False), (1, True), (0, True)):
        if _least(every, padding, names_break=names_break) <= width:
            return [_table(every, width, padding, names_break=names_break)]
    parts = _parts(every, width)
    return [_table(part, width, 1, names_break=True) for part in parts]


def _width(text: str) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, text.split("\n")))


def _rules(count: int, padding: int) -> int:
    """Return the characters between columns: rules, and blanks on the inner side of each."""
    return (1 + 2 * padding) * count + 1 - 2 * padding


def _least(columns: Sequence[Column], padding: int, *, names_break: bool) -> int:
    widths = (one.least(names_break=names_break) for one in columns)
    return sum(widths) + _rules(len(columns), padding)


def _parts(columns: Sequence[Column], width: int) -> list[list[Column]]:
    """Return columns cut into as few parts as fit, each with the first column before it."""
    first, *others = columns
    parts = [[first]]
    for one in others:
        if len(parts[-1]) > 1 and _least([*parts[-1], one], 1, names_break=True) > width:
            parts.append([first])
        parts[-1].append(one)
    return parts


def _widths(columns: Sequence[Column], room: int, *, names_break: bool) -> list[int]:
    """Return how wide each column is: the widest that may still give way gives way first."""
    widths = [one.whole for one in columns]
    least = [one.least(names_break=names_break) for one in columns]
    while sum(widths) > room and widths != least:
        open_ = [place for place, width in enumerate(widths) if width > least[place]]
        widths[max(open_, key=lambda place: widths[place])] -= 1
    return widths


def _table(columns: Sequence[Column], width: int, padding: int, *, names_break: bool) -> Table:
    from rich.table import Table
    from rich.text import Text

    # A column's own `no_wrap` would cut its head; text says for itself that it does not wrap.
    table = Table(header_style="bold", pad_edge=False, padding=(0, padding))
    room = width - _rules(len(columns), padding)
    for one, wide in zip(columns, _widths(columns, room, names_break=names_break), strict=True):
        justify: Literal["left", "right"] = "right" if one.number else "left"
        table.add_column(Text(one.head), justify=justify, overflow="fold", width=wide)
    for row in zip(*(one.cells for one in columns), strict=True):
        cells = zip(columns, row, strict=True)
        table.add_row(*(Text(cell, no_wrap=True if one.number else None) for one, cell in cells))
    return table
