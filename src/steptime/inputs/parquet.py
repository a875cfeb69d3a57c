"""Rows in Parquet files, one file a piece of work, so that a stopped sweep can go on."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steptime.inputs.errors import ConfigError

if TYPE_CHECKING:
    import pyarrow

SUFFIX = ".parquet"


def all_keys(folder: Path) -> set[str]:
    """Return the keys of all files of a folder, whole or not.

    Args:
        folder: May not exist yet.
    """
    return {path.stem for path in folder.glob(f"*{SUFFIX}")} if folder.is_dir() else set()


def finished_keys(folder: Path, among: Iterable[str] | None = None) -> set[str]:
    """Return the keys of the pieces that a folder already holds, each read and found whole.

    A disk that was full or a copy that was cut short leaves files that hold less.

    Args:
        folder: May not exist yet.
        among: Keys to look for; every one if None.
    """
    found = all_keys(folder)
    looked_for = found if among is None else found.intersection(among)
    return {key for key in looked_for if _whole(folder / f"{key}{SUFFIX}")}


def _whole(path: Path) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return bool(pq.read_table(path, page_checksum_verification=True).num_rows)
    except (pa.ArrowException, OSError):
        return False


def write_rows(
    folder: Path,
    key: str,
    rows: Sequence[dict[str, Any]],
    kinds: Mapping[str, type] | None = None,
) -> Path:
    """Write the rows of one piece of work; the file is there in full or not at all.

    Args:
        folder: Made if it does not exist.
        key: Name of the piece.
        rows: At least one; all with the same columns.
        kinds: Of columns in which nothing may stand: an empty one has no kind of its own, and
            what reads all files as one table takes the kinds of the first.

    Raises:
        ConfigError: If the folder cannot be written.
    """
    import pyarrow.parquet as pq

    path = folder / f"{key}{SUFFIX}"
    part = folder / f".{key}.{os.getpid()}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(_table(rows, kinds or {}), part, write_page_checksum=True)
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise ConfigError(f"cannot write {path}: {error.strerror or error}") from None
    return path


def _table(rows: Sequence[dict[str, Any]], kinds: Mapping[str, type]) -> pyarrow.Table:
    import pyarrow as pa

    arrow = {int: pa.int64(), float: pa.float64(), str: pa.string(), bool: pa.bool_()}
    columns = {
        name: pa.array([row[name] for row in rows], arrow[kinds[name]] if name in kinds else None)
        for name in rows[0]
    }
    return pa.table(columns)


def read_rows(folder: Path) -> pyarrow.Table:
    """Return all rows of a folder as one table, pieces in the order of their keys.

    Args:
        folder: What `write_rows` filled.

    Raises:
        ConfigError: If there is nothing, or a file is no Parquet.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []
    if not paths:
        raise ConfigError(f"{folder} holds no {SUFFIX} files")
    tables = []
    for path in paths:
        try:
            tables.append(pq.read_table(path))
        except (pa.ArrowInvalid, OSError):
            raise ConfigError(
                f"{path} is no Parquet file; start the sweep again, which redoes it, or delete it"
            ) from None
    return pa.concat_tables(tables, promote_options="permissive")
