"""Processes that end when the one that started them does."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import active_children, connection, get_context, parent_process
from types import TracebackType

POLL_S = 0.01


def end_with_parent() -> None:
    """End this process as soon as the one that started it is gone, killed included.

    A worker would otherwise wait for its next piece of work for ever.
    """
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        connection.wait([parent.sentinel])
        # From a thread, nothing less ends the process in the middle of its work.
        os._exit(1)

    threading.Thread(target=watch, name="end with parent", daemon=True).start()


class ProcessPool(ProcessPoolExecutor):
    """Processes of this machine that do not outlive this one, nor a block that is broken off."""

    def __init__(self, processes: int) -> None:
        """Make the pool; each process starts with its first work.

        Args:
            processes: How many.
        """
        self._others = {*active_children()}
        # Not forked: the parent may have threads, whose locks a fork would copy as they are.
        context = get_context("spawn")
        super().__init__(processes, mp_context=context, initializer=end_with_parent)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for work that has begun, but where the block is broken off: that ends it."""
        if kind is None:
            super().__exit__(kind, error, trace)
            return
        with contextlib.suppress(RuntimeError):
            self._break_off()

    def _break_off(self) -> None:
        """End the processes, whatever they do, once all work that waits is cancelled.

        Where a process ends before, Python 3.11 stumbles over futures that others cancelled.

        Raises:
            RuntimeError: If the pool is broken or shut down.
        """
        last = self.submit(int)
        # It alone waits for the processes: two that do miss each other's.
        end = threading.Thread(target=self.shutdown, kwargs={"cancel_futures": True})
        end.start()
        while not (last.cancelled() or last.running() or last.done()):
            time.sleep(POLL_S)
        for child in {*active_children()} - self._others:
            child.terminate()
        end.join()
