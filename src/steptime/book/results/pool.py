"""Run notebooks two at a time, the one that took longest last time first."""

from __future__ import annotations

import json
import multiprocessing
import os
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

from steptime.book.results.execute import Outcome, execute
from steptime.book.results.notebooks import Notebook
from steptime.book.results.progress import Reporter
from steptime.inputs.datafiles import write_whole
from steptime.planning.workers import end_with_parent

WORKERS = 2
DURATIONS = "durations.json"
LOG = "kernels.log"

_starts: Any = None


def _begin(queue: Any, log: Path) -> None:
    """Prepare a worker: it tells on ``queue`` what it starts, and chatter goes to ``log``."""
    global _starts
    _starts = queue
    end_with_parent()
    # Kernels inherit it, and each prints a warning about its own transport.
    with log.open("a", encoding="utf-8") as file:
        os.dup2(file.fileno(), 2)


def _work(notebook: Notebook, folder: Path, stamp: str) -> Outcome:
    """Run one notebook in a worker."""
    _starts.put(notebook.name)
    return execute(notebook, folder, stamp)


def _known_durations(folder: Path) -> dict[str, float]:
    """Return how long each notebook took last time, as far as that is known."""
    try:
        return dict(json.loads((folder / DURATIONS).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        # None yet, or not whole: they only say what to start first.
        return {}


def run_all(
    stamps: dict[str, str], notebooks: list[Notebook], folder: Path, show: Reporter
) -> list[Outcome]:
    """Run the notebooks and return how each ended, in the order given.

    Args:
        stamps: The cache key of each notebook, by name.
        notebooks: Those to run.
        folder: Where the executed ones go.
        show: Told as they start and end.
    """
    if not notebooks:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    took = _known_durations(folder)
    (folder / LOG).unlink(missing_ok=True)
    longest_first = sorted(notebooks, key=lambda n: -took.get(n.name, 1e9))
    # Spawned, not forked: a fork copies threads' locks and hangs now and then.
    context = multiprocessing.get_context("spawn")
    starts = context.SimpleQueue()
    outcomes: dict[str, Outcome] = {}
    with ProcessPoolExecutor(WORKERS, context, _begin, (starts, folder / LOG)) as pool:
        waiting = {pool.submit(_work, one, folder, stamps[one.name]) for one in longest_first}
        try:
            while waiting:
                _collect(waiting, outcomes, starts, show)
        except BaseException:
            # Interrupted: what has not begun must not, and what has begun is of no use.
            workers = list(pool._processes.values())
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.kill()
            raise
    took.update({one.name: round(one.seconds, 1) for one in outcomes.values()})
    write_whole(folder / DURATIONS, json.dumps(took, indent=1, sort_keys=True))
    return [outcomes[one.name] for one in notebooks]


def _collect(
    waiting: set[Future[Outcome]], outcomes: dict[str, Outcome], starts: Any, show: Reporter
) -> None:
    """Take what has ended since the last look, and tell ``show``."""
    _announce(starts, show)
    for future in wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED).done:
        waiting.discard(future)
        outcome = future.result()
        outcomes[outcome.name] = outcome
        _announce(starts, show)
        show.ended(outcome.name, outcome.seconds, bool(outcome.error))


def _announce(starts: Any, show: Reporter) -> None:
    """Tell ``show`` of every notebook that began since the last look."""
    while not starts.empty():
        show.started(starts.get())
