"""Where the data files are, and files read or written whole.

Data lies beside the package when installed, else in the repository.
"""

from __future__ import annotations

import functools
import os
import tomllib
from pathlib import Path
from typing import Any

from steptime.inputs.bounded import file_bytes
from steptime.inputs.errors import ConfigError

MOST_BYTES = 100_000
MOST_DEPTH = 100
"""Larger or deeper TOML files are not read: a hostile one can cost its depth squared."""

_PACKAGE = Path(__file__).resolve().parent.parent


def _depth(line: bytes) -> int:
    """Return a bound on how deep a line nests: its dots and brackets before any text."""
    bare = line.partition(b'"')[0]
    return bare.count(b".") + bare.count(b"[") + bare.count(b"{")


def data_path(name: str) -> Path:
    """Return the path of a data file.

    Args:
        name: Path below ``data/``.

    Raises:
        ConfigError: If it is in neither place.
    """
    for folder in (_PACKAGE / "data", _PACKAGE.parent.parent / "data"):
        path = folder / name
        if path.is_file():
            return path
    raise ConfigError(f"the data file {name!r} is missing from this installation")


def read_toml(path: Path) -> dict[str, Any]:
    """Return a TOML file as a dictionary.

    Args:
        path: The file.

    Raises:
        ConfigError: If it cannot be read or is no TOML; the message has file, line and column.
    """
    content = file_bytes(path, most=MOST_BYTES)
    if max(map(_depth, content.splitlines()), default=0) > MOST_DEPTH:
        raise ConfigError(f"{path.name}: tables over {MOST_DEPTH} deep describe nothing here")
    try:
        return tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path.name}: byte {error.start} is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:
        # A number of over 4300 digits is a ValueError of another kind.
        reason = str(error) or type(error).__name__
        raise ConfigError(f"{path.name}: cannot be read as TOML: {reason}") from None


@functools.cache
def data_table(name: str) -> dict[str, Any]:
    """Return a TOML file of ``data/``, read once.

    Args:
        name: Path below ``data/``.
    """
    return read_toml(data_path(name))


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old one or the new one, never half.

    Args:
        path: Where; a device or a pipe is written as it is, a pipe if someone reads it.
        text: What.

    Raises:
        OSError: If that is not possible.
    """
    if path.exists() and not path.is_file():
        # Not blocking, to open: a named pipe without a reader would wait for ever.
        handle = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
        os.set_blocking(handle, True)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        return
    # Two may write at once: the last one stands, whole.
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
