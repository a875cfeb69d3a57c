"""The one reader of files that a user names: bounded in size and in time, whatever they are."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from steptime.inputs.errors import ConfigError


def file_bytes(path: str | Path, *, most: int, kind: str = "a description") -> bytes:
    """Return what a regular file holds, at most so much of it.

    A device has no end and a named pipe may have no writer, so neither is read.

    Args:
        path: What to open.
        most: Largest size in bytes.
        kind: What the file should be, for the refusal of a larger one.

    Raises:
        ConfigError: If there is no such regular file, or it is larger.
    """
    name = _one_line(path)
    try:
        # Not blocking: opening a named pipe would otherwise wait for a writer for ever.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            _check_regular(os.fstat(handle).st_mode, name)
            data = b""
            while len(data) <= most and (piece := os.read(handle, most + 1 - len(data))):
                data += piece
        finally:
            os.close(handle)
    except ConfigError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise ConfigError(f"cannot read {name}: {reason}") from None
    if len(data) > most:
        raise ConfigError(f"{name}: over {_size(most)}, too large for {kind}")
    return data


def open_regular(path: str | Path) -> BinaryIO:
    """Open a regular file to be read piece by piece; the reader bounds what it takes.

    Args:
        path: What to open.

    Raises:
        ConfigError: If there is no such regular file.
    """
    name = _one_line(path)
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            _check_regular(os.fstat(handle).st_mode, name)
        except ConfigError:
            os.close(handle)
            raise
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise ConfigError(f"cannot read {name}: {reason}") from None
    return os.fdopen(handle, "rb", buffering=0)


def file_text(path: str | Path, *, most: int, kind: str = "a description") -> str:
    """Return the text of a regular UTF-8 file, with or without a byte order mark.

    Args:
        path: What to open.
        most: Largest size in bytes.
        kind: What the file should be, for the refusal of a larger one.

    Raises:
        ConfigError: If there is no such regular file, it is larger, or it is no UTF-8 text.
    """
    data = file_bytes(path, most=most, kind=kind)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        name = _one_line(path)
        raise ConfigError(f"{name}: byte {error.start} is not UTF-8 text") from None


def check_no_other(path: str) -> None:
    """Refuse a path at which something is that is no regular file, such as a device.

    Args:
        path: What may be a name of something else; a file that is not there is refused by others.

    Raises:
        ConfigError: With what it is.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except (OSError, ValueError):
        return
    _check_regular(mode, _one_line(path))


def _check_regular(mode: int, name: str) -> None:
    if stat.S_ISDIR(mode):
        raise ConfigError(f"cannot read {name}: Is a directory; it is not a regular file")
    if not stat.S_ISREG(mode):
        raise ConfigError(f"cannot read {name}: it is not a regular file; save it as one")


def _one_line(path: str | Path) -> str:
    """Return a path as one printable line of at most 320 characters."""
    text = str(path)
    line = "".join(letter if letter.isprintable() else "?" for letter in text[:321])
    return line if len(line) <= 320 else line[:317] + "..."


def _size(most: int) -> str:
    if most % 2**20 == 0:
        return f"{most // 2**20} MiB"
    return f"{most // 1000} kB" if most >= 1000 else f"{most} bytes"
