"""Processes that end when the one that started them does."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import connection, get_context, parent_process


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


def process_pool(processes: int) -> ProcessPoolExecutor:
    """Return an executor on processes of this machine that do not outlive this one.

    Args:
        processes: How many.
    """
    # Not forked: the parent may have threads, whose locks a fork would copy as they are.
    return ProcessPoolExecutor(
        max_workers=processes, mp_context=get_context("spawn"), initializer=end_with_parent
    )
