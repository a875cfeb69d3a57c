"""Several processes of one server, each in the place of a device: products at once, all-reduces.

This is how a server is measured where no PyTorch and no GPU are at hand: the first process leads,
the others do what it says, and all meet before and after each operation. An all-reduce goes through
memory that they share: each adds up its part of all buffers, then takes the parts of the others.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.shared_memory import SharedMemory
from typing import Any

from steptime.evidence.measure_numpy import NumpyBackend, timed
from steptime.inputs.errors import check_count

MOST_PROCESSES = 256
PATIENCE_S = 60.0
"""After so long at a meeting point a process is taken for dead."""
_VALUE_BYTES = 4

Order = tuple[str, tuple[Any, ...]] | None
"""The name of an operation and what it takes; None to end."""


def summed(memory: SharedMemory, rank: int, ranks: int, size_bytes: int, meet: Any) -> None:
    """Add a buffer up over processes, as one of them.

    Args:
        memory: A buffer of each, then one for the sum.
        rank: Whose part.
        ranks: Processes.
        size_bytes: Of a buffer.
        meet: Where all wait for each other between the two halves.
    """
    import numpy as np

    count = size_bytes // _VALUE_BYTES
    every: Any = np.ndarray((ranks + 1, count), dtype=np.float32, buffer=memory.buf)
    first, last = count * rank // ranks, count * (rank + 1) // ranks
    np.sum(every[:ranks, first:last], axis=0, out=every[ranks, first:last])
    meet.wait(PATIENCE_S)
    every[rank] = every[ranks]


class _Follower:
    """What one process has made ready: its operands, or its view of the shared memory."""

    def __init__(self, rank: int, ranks: int, meet: Any) -> None:
        self.rank, self.ranks, self.meet = rank, ranks, meet
        self.alone = NumpyBackend()

    def ready(self, kind: str, arguments: tuple[Any, ...]) -> Callable[[], object]:
        """Return an operation, ready to run.

        Args:
            kind: product, copy or all-reduce.
            arguments: Sides of a product and its precision, or bytes; of an all-reduce the name
                of the shared memory before them.
        """
        if kind == "product":
            return self.alone.product(*arguments)
        if kind == "copy":
            return self.alone.copy(*arguments)
        name, size_bytes = arguments
        memory = SharedMemory(name=name)
        return lambda: summed(memory, self.rank, self.ranks, size_bytes, self.meet)


def _follow(rank: int, ranks: int, meet: Any, orders: Any) -> None:
    """Do what the first process says until it says no more."""
    own = _Follower(rank, ranks, meet)
    work: Callable[[], object] | None = None
    while True:
        try:
            order: Order = orders.recv()
        except EOFError:
            # The first process is gone.
            return
        if order is None:
            return
        kind, arguments = order
        if kind != "run":
            work = own.ready(kind, arguments)
        meet.wait(PATIENCE_S)
        if kind == "run" and work is not None:
            work()
            meet.wait(PATIENCE_S)


class ProcessesBackend:
    """Times products, copies and all-reduces of several processes on the CPU.

    Args:
        ranks: Processes, this one included; each stands for a device.
    """

    precisions: tuple[str, ...] = ("fp32",)
    rank = 0

    def __init__(self, ranks: int) -> None:
        check_count("--processes", ranks, least=2, most=MOST_PROCESSES)
        self.ranks = self.node_ranks = ranks
        # A fork would copy the threads of what is loaded here.
        fresh = multiprocessing.get_context("spawn")
        self._meet = fresh.Barrier(ranks)
        self._own = _Follower(0, ranks, self._meet)
        self._memory: SharedMemory | None = None
        whole = self._own.alone.device
        self.device = replace(
            whole,
            num_sms=max(1, whole.num_sms // ranks),
            memory_bytes=whole.memory_bytes / ranks,
            versions=f"{whole.versions}, {ranks} processes",
        )
        self._orders, self._others = [], []
        for other in range(1, ranks):
            mine, theirs = fresh.Pipe()
            process = fresh.Process(
                target=_follow, args=(other, ranks, self._meet, theirs), daemon=True
            )
            process.start()
            self._orders.append(mine)
            self._others.append(process)

    def _say(self, kind: str, *arguments: Any) -> None:
        for order in self._orders:
            order.send((kind, arguments))

    def _together(self, kind: str, *arguments: Any) -> Callable[[], float]:
        """Return the seconds in which every process runs an operation, from meeting to meeting."""
        self._say(kind, *arguments)
        work = self._own.ready(kind, arguments)
        self._meet.wait(PATIENCE_S)

        def all_at_once() -> None:
            work()
            self._meet.wait(PATIENCE_S)

        def run() -> float:
            self._say("run")
            self._meet.wait(PATIENCE_S)
            return timed(all_at_once)

        return run

    def product(self, m: int, n: int, k: int, precision: str) -> Callable[[], float]:
        """Return a timed product of every process at once."""
        return self._together("product", m, n, k, precision)

    def copy(self, size_bytes: int) -> Callable[[], float]:
        """Return a timed copy of every process at once."""
        return self._together("copy", size_bytes)

    def all_reduce(self, size_bytes: int, *, across: bool = False) -> Callable[[], float] | None:
        """Return a timed all-reduce over the processes, or None over servers: there is one."""
        if across:
            return None
        self._free()
        if (self.ranks + 1) * size_bytes > self.ranks * self.device.memory_bytes / 8.0:
            raise MemoryError("more than an eighth of the memory, shared")
        self._memory = SharedMemory(create=True, size=(self.ranks + 1) * size_bytes)
        return self._together("all-reduce", self._memory.name, size_bytes)

    def agreed(self, value: float) -> float:
        """Return the value: the first process leads."""
        return value

    def _free(self) -> None:
        if self._memory is not None:
            self._memory.unlink()
            self._memory = None

    def close(self) -> None:
        """End the other processes."""
        for order in self._orders:
            order.send(None)
        for process in self._others:
            process.join(PATIENCE_S)
        self._free()
