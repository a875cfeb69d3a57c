"""CSV files of this project as rows of text, and phrases by their key."""

from __future__ import annotations

import csv
import functools
import io
from pathlib import Path

from steptime.inputs.bounded import file_text
from steptime.inputs.datafiles import data_path
from steptime.inputs.errors import ConfigError

MOST_BYTES = 4 * 2**20
MOST_ROWS = 20_000


def read_text(path: Path) -> str:
    """Return the text of a file of rows.

    Args:
        path: The file.

    Raises:
        ConfigError: If it is missing, too large, or not UTF-8 text.
    """
    return file_text(path, most=MOST_BYTES, kind="rows")


def text_rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a CSV file as text, each with the line it ends on.

    Args:
        path: The file.

    Raises:
        ConfigError: If it is no CSV with a head line, or a row is longer than the head.
    """
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""))
    try:
        head = reader.fieldnames or []
        if not head:
            raise ConfigError(f"{path.name}: empty; the first line must name the columns")
        twice = sorted({name for name in head if head.count(name) > 1})
        if twice:
            raise ConfigError(f"{path.name}: line 1: column {twice[0]!r} stands twice")
        rows: list[tuple[int, dict[str, str]]] = []
        for row in reader:
            if len(rows) == MOST_ROWS:
                raise ConfigError(f"{path.name}: over {MOST_ROWS:,} rows; give them in parts")
            if None in row:
                raise ConfigError(
                    f"{path.name}: line {reader.line_num}: more cells than the {len(head)} columns"
                )
            rows.append((reader.line_num, {key: value or "" for key, value in row.items()}))
    except csv.Error as error:
        raise ConfigError(f"{path.name}: line {reader.line_num}: {error}") from None
    return rows


@functools.cache
def by_phrase(name: str, column: str) -> dict[str, str]:
    """Return one column of a file of phrases by the columns ``key`` and ``text``.

    Args:
        name: Of the file.
        column: Of it.
    """
    rows = [row for _, row in text_rows(data_path(name))]
    return {row[named]: row[column] for named in ("text", "key") for row in rows}
