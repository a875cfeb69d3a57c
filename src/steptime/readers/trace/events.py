"""The events of a Chrome trace, a few thousand at a time.

A trace is cut where one event ends and another begins. Whether a place is such a cut is not
guessed: what lies before it must be whole JSON values, and a cut inside a text or an inner list
leaves none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.readers.trace.bytes import Seen, pieces

Event = dict[str, Any]

LARGEST_EVENT_BYTES = 16 * 2**20
"""An event, or what stands before the events, is no larger."""
_START = re.compile(rb'"traceEvents"\s*:\s*\[')
_CUT = re.compile(rb"\}\s*,\s*\{")
_BLANK = b"\xef\xbb\xbf \t\r\n"
# Lines of a log start with brackets too: [2026-01-01 10:00:00], [rank0]:.
_LIST = re.compile(rb"\[\s*(\{|\])")
_LOOK_BYTES = 256
_LAST_CUTS = 12
_TAIL_BYTES = 2**16


@dataclass(slots=True)
class Trace:
    """A trace file as it is read.

    Attributes:
        path: Of the file.
        header: What stood before the events, such as the rank of the process.
        events: Read so far.
        seen: Told how far the file is.
    """

    path: str
    header: Event = field(default_factory=dict)
    events: int = 0
    seen: Seen | None = None

    def batches(self) -> Iterator[list[Event]]:
        """Yield the events of the file in its order, in lists.

        Raises:
            ConfigError: If it cannot be read, is cut short, or is no trace.
        """
        source = pieces(self.path, self.seen)
        rest = self._opened(source)
        tried = 0
        for piece in source:
            rest += piece
            # Where no cut was found, twice as much is read before the next try.
            if len(rest) < 2 * tried and len(rest) <= LARGEST_EVENT_BYTES:
                continue
            at, batch = _whole(rest)
            tried = 0 if at else len(rest)
            if at:
                rest = rest[at:]
                yield self._counted(batch)
            elif len(rest) > LARGEST_EVENT_BYTES:
                raise ConfigError(
                    f"{self.path}: no event ends within {LARGEST_EVENT_BYTES // 2**20} MiB "
                    f"after event {self.events}; it is no trace"
                )
        yield self._counted(self._ending(rest))

    def _counted(self, batch: list[Any]) -> list[Event]:
        self.events += len(batch)
        return [event for event in batch if isinstance(event, dict)]

    def _opened(self, source: Iterator[bytes]) -> bytes:
        """Read up to the first event; return what follows."""
        held = b""
        for piece in source:
            held += piece
            text = held.lstrip(_BLANK)
            if text.startswith(b"["):
                return text[1:]
            if start := _START.search(text):
                self.header = self._before(text[: start.start()])
                return text[start.end() :]
            if (text and not text.startswith(b"{")) or len(held) > LARGEST_EVENT_BYTES:
                break
        raise ConfigError(
            f"{self.path}: no traceEvents; give a trace of the PyTorch profiler "
            "(export_chrome_trace) or the log of a run"
        )

    def _before(self, text: bytes) -> Event:
        bare = text.rstrip()
        bare = bare[:-1] if bare.endswith(b",") else bare
        try:
            found = json.loads(bare + b"}")
        except (ValueError, RecursionError):
            raise ConfigError(f"{self.path}: what stands before traceEvents is no JSON") from None
        return found if isinstance(found, dict) else {}

    def _ending(self, rest: bytes) -> list[Any]:
        """Return the last events: those before the bracket that closes their list.

        What follows may hold as many brackets as it likes: the profiler's own log stands there.
        """
        text = "[" + rest.decode("utf-8", "replace")
        try:
            batch, end = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            batch, end = None, 0
        if not isinstance(batch, list) or not self._closes(text[end:]):
            raise ConfigError(
                f"{self.path}: the trace is cut short after event {self.events}; write it again"
            )
        return batch

    def _closes(self, tail: str) -> bool:
        """Return whether what follows the events ends the file; take note of what it says."""
        text = tail.strip()
        if not text:
            return True
        try:
            found = json.loads("{" + text.removeprefix(","))
        except (ValueError, RecursionError):
            return False
        self.header = found | self.header
        return True


def is_trace(path: str | Path) -> bool:
    """Return whether a file starts as JSON does, as a trace and not a log.

    Args:
        path: The file, packed with gzip or not.

    Raises:
        ConfigError: If it is empty or cannot be read.
    """
    text = b""
    for piece in pieces(path):
        text = (text + piece).lstrip(_BLANK)
        if len(text) >= _LOOK_BYTES:
            break
    if text:
        return text.startswith(b"{") or _LIST.match(text) is not None
    raise ConfigError(f"{path} is empty; give a trace of the PyTorch profiler or a log")


def _parsed(text: bytes) -> list[Any] | None:
    """Return the values of a list without its brackets; None where they are not whole."""
    try:
        found = json.loads(b"[" + text + b"]")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def _whole(text: bytes) -> tuple[int, list[Any]]:
    """Return where the last whole event of a text ends, behind its comma, and the events.

    Cuts are tried from the end: all but a few are right, as braces seldom stand in texts.
    """
    reach = _TAIL_BYTES
    while True:
        start = max(0, len(text) - reach)
        cuts = list(_CUT.finditer(text, start))
        for cut in cuts[-1 : -_LAST_CUTS - 1 : -1]:
            batch = _parsed(text[: cut.start() + 1])
            if batch is not None:
                return cut.end() - 1, batch
        if cuts or start == 0:
            return 0, []
        reach *= 16
