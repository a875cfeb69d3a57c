"""Processes that end when the one that started them does."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import connection, parent_process


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
    return ProcessPoolExecutor(max_workers=processes, initializer=end_with_parent)
