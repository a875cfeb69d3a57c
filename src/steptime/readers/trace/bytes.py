"""What a trace or a log holds, piece by piece, packed with gzip or not, and never without end."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from steptime.inputs.bounded import open_regular
from steptime.inputs.errors import ConfigError

PIECE_BYTES = 4 * 2**20
"""So much is held at a time."""
MOST_BYTES = 64 * 2**30
"""A trace that is larger, unpacked, is not read to its end."""
_PACKED = b"\x1f\x8b"

Seen = Callable[[int], None]
"""Called with the bytes of a file, as it lies there, that were just read."""


def pieces(path: str | Path, seen: Seen | None = None) -> Iterator[bytes]:
    """Yield what a regular file holds, unpacked if it is packed.

    Args:
        path: The file.
        seen: Told how far it is.

    Raises:
        ConfigError: If it is no regular file, is cut short, or has no end.
    """
    with open_regular(path) as file:
        raw = _told(iter(lambda: file.read(PIECE_BYTES), b""), seen)
        first = next(raw, b"")
        if not first.startswith(_PACKED):
            yield from _bounded(path, first, raw)
            return
        yield from _bounded(path, b"", _unpacked(path, first, raw))


def _told(raw: Iterator[bytes], seen: Seen | None) -> Iterator[bytes]:
    for piece in raw:
        if seen is not None:
            seen(len(piece))
        yield piece


def _bounded(path: str | Path, first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    total = len(first)
    if first:
        yield first
    for piece in rest:
        total += len(piece)
        if total > MOST_BYTES:
            raise ConfigError(f"{path}: over {MOST_BYTES // 2**30} GiB unpacked; trace fewer steps")
        yield piece


def _unpacked(path: str | Path, first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the contents of a packed file; several packed files in a row are one."""
    engine = zlib.decompressobj(wbits=31)
    piece = first
    try:
        while True:
            while piece:
                if engine.eof:
                    engine = zlib.decompressobj(wbits=31)
                    if not piece.lstrip(b"\0"):
                        return
                # Bounded, as a small piece may hold a great deal of the same.
                out = engine.decompress(piece, PIECE_BYTES)
                piece = engine.unused_data if engine.eof else engine.unconsumed_tail
                if out:
                    yield out
                elif not engine.eof and not piece:
                    break
            more = next(rest, b"")
            if not more:
                break
            piece = more
    except zlib.error as error:
        raise ConfigError(f"{path}: cannot be unpacked: {error}; copy the file again") from None
    if not engine.eof:
        raise ConfigError(f"{path}: the packed file is cut short; copy it again")
