"""One rank's trace, kept small: when each kernel ran, the messages, and the steps."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from steptime.inputs.errors import ConfigError
from steptime.readers.trace.bytes import Seen
from steptime.readers.trace.events import Event, Trace
from steptime.readers.trace.kernel_names import (
    MESSAGES,
    described_part,
    kernel_part,
    message_does,
    scopes,
)

_US = 1e-6
_Span = tuple[float, float]
_Marks = tuple[dict[str, _Span], list[_Span]]
_DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
_GLOO = "gloo:"
_ANNOTATIONS = {"user_annotation": False, "gpu_user_annotation": True}
_LAUNCHES = {"cuda_runtime", "cuda_driver"}


@dataclass(slots=True)
class Spans:
    """Many spans of time: three or four numbers each.

    Attributes:
        starts_s: On the clock of the process.
        ends_s: Likewise.
        names: Index in ``texts``.
        where: Stream of the device, or thread of the process.
        texts: Every name once.
    """

    starts_s: array[float] = field(default_factory=lambda: array("d"))
    ends_s: array[float] = field(default_factory=lambda: array("d"))
    names: array[int] = field(default_factory=lambda: array("l"))
    where: array[int] = field(default_factory=lambda: array("q"))
    texts: list[str] = field(default_factory=list)
    _index: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, start_s: float, end_s: float, where: int) -> None:
        """Add one span.

        Args:
            name: Its text.
            start_s: When it starts.
            end_s: When it ends.
            where: Stream or thread.
        """
        at = self._index.get(name)
        if at is None:
            at = self._index[name] = len(self.texts)
            self.texts.append(name)
        self.starts_s.append(start_s)
        self.ends_s.append(end_s)
        self.names.append(at)
        self.where.append(where)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.starts_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message as a rank saw it.

    Attributes:
        start_s: When its kernel started, waiting for the others included.
        end_s: When it ended.
        does: all_reduce, send_recv, ...; empty if unknown.
        described: The part of its group's description; empty if it has none.
        ranks: Of its group, empty if not stated.
        group_size: 0 if not stated.
        elements: That go in; 0 if not stated.
    """

    start_s: float
    end_s: float
    does: str
    described: str = ""
    ranks: tuple[int, ...] = ()
    group_size: int = 0
    elements: int = 0


@dataclass(slots=True)
class RankTrace:
    """What one process did.

    Attributes:
        path: Of its trace.
        rank: Of the process; None if the trace does not say.
        world_size: Processes of the job; None likewise.
        device: Name of the device; empty likewise.
        kernels: On the device, messages apart.
        operators: On the processor.
        messages: In the order of the trace.
        steps: Start and end of each marked step by its name, from the device where it says.
        scopes: Annotated spans of the optimizer.
        threads: Of each launch, by what joins it to its kernel; kept where asked.
        correlations: Of each kernel, in their order; kept where asked.
        backward_threads: Threads on which a backward pass runs.
    """

    path: str
    rank: int | None = None
    world_size: int | None = None
    device: str = ""
    kernels: Spans = field(default_factory=Spans)
    operators: Spans = field(default_factory=Spans)
    messages: list[Message] = field(default_factory=list)
    steps: dict[str, tuple[float, float]] = field(default_factory=dict)
    scopes: list[tuple[float, float]] = field(default_factory=list)
    threads: dict[int, int] = field(default_factory=dict)
    correlations: array[int] = field(default_factory=lambda: array("q"))
    backward_threads: set[int] = field(default_factory=set)

    @property
    def on_device(self) -> bool:
        """Return whether kernels of a device were traced, or the processor's operators alone."""
        return len(self.kernels) > 0


def read_rank(path: str | Path, launches: bool = False, seen: Seen | None = None) -> RankTrace:
    """Return what one trace holds.

    Args:
        path: Chrome trace of the PyTorch profiler, packed with gzip or not.
        launches: Whether to keep which thread launched each kernel.
        seen: Told how many bytes of the file were just read.

    Raises:
        ConfigError: If it is none, is cut short, or has times that are no times.
    """
    trace, found = Trace(str(path), seen=seen), RankTrace(str(path))
    reader = _Reader(found, launches)
    for batch in trace.batches():
        for event in batch:
            if event.get("ph") == "X":
                reader.take(event)
    reader.finish()
    about = trace.header.get("distributedInfo")
    if isinstance(about, dict):
        found.rank = about["rank"] if isinstance(about.get("rank"), int) else None
        size = about.get("world_size")
        found.world_size = size if isinstance(size, int) and size > 0 else None
    found.device = _device_name(trace.header.get("deviceProperties"))
    if not len(found.kernels) and not len(found.operators) and not found.messages:
        raise ConfigError(
            f"{path}: {trace.events:,} events, none of them a kernel or an operator; "
            "trace a few steps with torch.profiler and both activities"
        )
    return found


def _device_name(properties: object) -> str:
    first = properties[0] if isinstance(properties, list) and properties else None
    name = first.get("name") if isinstance(first, dict) else None
    return name[:120] if isinstance(name, str) else ""


def read_ranks(
    paths: Iterable[str | Path], launches: bool = False, seen: Seen | None = None
) -> list[RankTrace]:
    """Return the traces of some ranks, in the order of their ranks where they say them.

    Args:
        paths: One trace a rank.
        launches: As in `read_rank`.
        seen: Likewise.

    Raises:
        ConfigError: If two are of one rank, or one cannot be read.
    """
    found = [read_rank(path, launches, seen) for path in paths]
    stated: dict[int, str] = {}
    for one in found:
        if one.rank is not None:
            other = stated.setdefault(one.rank, one.path)
            if other != one.path or sum(two.path == one.path for two in found) > 1:
                raise ConfigError(f"{other} and {one.path} are both of rank {one.rank}; give one")
    if len({one.on_device for one in found}) > 1:
        raise ConfigError("some traces hold kernels of a device and others none; trace all alike")
    return sorted(found, key=lambda one: -1 if one.rank is None else one.rank)


class _Reader:
    """Sorts events into a `RankTrace`."""

    def __init__(self, found: RankTrace, launches: bool) -> None:
        self.found = found
        self.launches = launches
        marks = scopes()
        self.step, self.optimizer = marks["step"], marks["optimizer"]
        self.backward = marks["backward"]
        self.device_marks: dict[bool, tuple[dict[str, _Span], list[_Span]]] = {
            False: ({}, []),
            True: ({}, []),
        }

    def take(self, event: Event) -> None:
        """Take note of one complete event."""
        kind = event.get("cat")
        if kind in _DEVICE:
            self._kernel(event)
        elif kind == "cpu_op":
            self._operator(event)
        elif kind in _ANNOTATIONS:
            self._annotation(event, _ANNOTATIONS[kind])
        elif self.launches and kind in _LAUNCHES:
            joined, thread = event.get("args", {}).get("correlation"), event.get("tid")
            if isinstance(joined, int) and isinstance(thread, int):
                self.found.threads[joined] = thread

    def finish(self) -> None:
        """Take steps and scopes from the device where it has them, else from the processor."""
        device, host = self.device_marks[True], self.device_marks[False]
        self.found.steps = device[0] or host[0]
        self.found.scopes = sorted(device[1] or host[1])

    def _times(self, event: Event) -> tuple[float, float]:
        start, length = event.get("ts"), event.get("dur")
        fine = (
            isinstance(start, int | float)
            and isinstance(length, int | float)
            and math.isfinite(start)
            and math.isfinite(length)
            and length >= 0
        )
        if not fine:
            raise ConfigError(
                f"{self.found.path}: {str(event.get('name'))[:60]!r} has ts {str(start)[:30]} and "
                f"dur {str(length)[:30]}, which are no time and length; write the trace again"
            )
        return float(start) * _US, float(start + length) * _US  # type: ignore[arg-type, operator]

    def _kernel(self, event: Event) -> None:
        name, args = str(event.get("name")), event.get("args")
        args = args if isinstance(args, dict) else {}
        start_s, end_s = self._times(event)
        if kernel_part(name) == MESSAGES:
            self.found.messages.append(_message(name, args, start_s, end_s))
            return
        stream = event.get("tid")
        self.found.kernels.add(name, start_s, end_s, stream if isinstance(stream, int) else 0)
        if self.launches:
            joined = args.get("correlation")
            self.found.correlations.append(joined if isinstance(joined, int) else -1)

    def _operator(self, event: Event) -> None:
        name, thread = str(event.get("name")), event.get("tid")
        where = thread if isinstance(thread, int) else 0
        self.found.operators.add(name, *self._times(event), where)
        if name.startswith(self.backward):
            self.found.backward_threads.add(where)

    def _annotation(self, event: Event, device: bool) -> None:
        name = str(event.get("name"))
        low = name.lower()
        steps, optimizer = self.device_marks[device]
        if low.startswith(self.step):
            steps[name] = self._times(event)
        elif low.startswith(self.optimizer):
            optimizer.append(self._times(event))
        elif not device and low.startswith(_GLOO):
            self.found.messages.append(_message(name, {}, *self._times(event)))


def _message(name: str, args: Event, start_s: float, end_s: float) -> Message:
    stated = message_does(str(args.get("Collective name", ""))) if args else ""
    size, elements = args.get("Group size"), args.get("In msg nelems")
    return Message(
        start_s=start_s,
        end_s=end_s,
        does=stated or message_does(name),
        described=described_part(str(args.get("Process Group Description", ""))),
        ranks=_ranks(args.get("Process Group Ranks")),
        group_size=size if isinstance(size, int) and size > 0 else 0,
        elements=elements if isinstance(elements, int) and elements > 0 else 0,
    )


def _ranks(text: object) -> tuple[int, ...]:
    """Return ranks from ``[0, 1]``; nothing from a list that was cut short, ``[0, ..., 63]``."""
    if not isinstance(text, str):
        return ()
    words = text.strip("[] ").split(",")
    return tuple(map(int, words)) if all(word.strip().isdigit() for word in words) else ()
