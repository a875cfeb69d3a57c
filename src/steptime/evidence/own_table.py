"""Tables as users keep them: CSV of any delimiter and usual encoding, or parquet."""

from __future__ import annotations

import codecs
import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steptime.evidence.schema import MOST_BYTES, MOST_ROWS
from steptime.inputs.bounded import file_bytes
from steptime.inputs.errors import ConfigError
from steptime.inputs.extras import way_out

MOST_COLUMNS = 1_000
MOST_UNPACKED_BYTES = 16 * MOST_BYTES
_DELIMITERS = ",;\t|"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class OwnTable:
    """A table as text.

    Attributes:
        heads: Names of the columns, as they stand.
        rows: Line and cells of each row; cells that a short row lacks are empty.
        faults: Line and reason of each row that is no row.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    faults: tuple[tuple[int, str], ...]


def _decoded(raw: bytes, file: str) -> str:
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        text = raw.decode("cp1252", errors="replace")
    if "\0" in text:
        raise ConfigError(f"{file}: no text; give runs as CSV, or as .parquet")
    return text


def _delimiter(head: str) -> str:
    """Return the delimiter that cuts the head line most often."""
    return max(_DELIMITERS, key=lambda mark: (head.count(mark), mark == ","))


def _check_quotes(text: str, delimiter: str, file: str) -> None:
    """Refuse a quote that is never closed: it would swallow every row after it."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for _ in reader:
            line = reader.line_num + 1
    except csv.Error as error:
        if "end of data" in str(error):
            raise ConfigError(f"{file}: line {line}: a quote opens and never closes") from None


def _csv_table(raw: bytes, path: Path) -> OwnTable:
    text = _decoded(raw, path.name)
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    if first.lower().startswith("sep=") and len(first.strip()) == 5:
        # Excel's own way to name the delimiter.
        text = "\n".join(lines[lines.index(first) + 1 :])
        first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = _delimiter(first)
    _check_quotes(text, delimiter, path.name)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    heads: tuple[str, ...] = ()
    rows: list[tuple[int, tuple[str, ...]]] = []
    faults: list[tuple[int, str]] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells) or (not rows and cells[0].startswith("#")):
                continue
            if not heads:
                heads = tuple(cells)
                continue
            while len(cells) > len(heads) and not cells[-1].strip():
                cells.pop()
            if len(cells) > len(heads):
                faults.append((reader.line_num, f"more cells than the {len(heads)} columns"))
                continue
            rows.append((reader.line_num, (*cells, *[""] * (len(heads) - len(cells)))))
    except csv.Error as error:
        raise ConfigError(f"{path.name}: line {reader.line_num}: {error}") from None
    return OwnTable(heads, tuple(rows), tuple(faults))


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value)


def _parquet_table(raw: bytes, path: Path) -> OwnTable:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ModuleNotFoundError as missing:
        way = way_out(missing.name, f"{path.name}: parquet")
        raise ConfigError(f"{way}, or give CSV") from None
    try:
        file = parquet.ParquetFile(io.BytesIO(raw))
        # Said before any of it is unpacked: equal values pack to next to nothing.
        if file.metadata.num_rows > MOST_ROWS or file.metadata.num_columns > MOST_COLUMNS:
            raise ConfigError(
                f"{path.name}: {file.metadata.num_rows:,} rows of {file.metadata.num_columns:,} "
                f"columns, over the {MOST_ROWS:,} x {MOST_COLUMNS}; give them in parts"
            )
        groups = range(file.metadata.num_row_groups)
        if sum(file.metadata.row_group(at).total_byte_size for at in groups) > MOST_UNPACKED_BYTES:
            raise ConfigError(f"{path.name}: too large for rows once unpacked")
        table = file.read()
    except (arrow.ArrowException, OSError) as error:
        raise ConfigError(f"{path.name}: no parquet table: {str(error)[:200]}") from None
    columns = [table.column(index).to_pylist() for index in range(table.num_columns)]
    rows = (tuple(_text(value) for value in cells) for cells in zip(*columns, strict=True))
    return OwnTable(tuple(table.column_names), tuple(enumerate(rows, 1)), ())


def own_table(path: Path) -> OwnTable:
    """Return a user's table as text.

    Args:
        path: A CSV file (comma, semicolon, tab or bar; UTF-8, UTF-16 or Windows' own), or one
            that ends in ``.parquet``.

    Raises:
        ConfigError: If it is missing, too large, empty, or no table.
    """
    raw = file_bytes(path, most=MOST_BYTES, kind="rows")
    table = _parquet_table(raw, path) if path.suffix == ".parquet" else _csv_table(raw, path)
    if not table.heads:
        raise ConfigError(f"{path.name}: empty; the first line must name the columns")
    if len(table.rows) > MOST_ROWS:
        raise ConfigError(f"{path.name}: over {MOST_ROWS:,} rows; give them in parts")
    return table
