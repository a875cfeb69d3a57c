"""Pieces of work on an executor: a few open at a time, and none waited for that nobody does."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any, TypeVar

Piece = TypeVar("Piece")
Found = TypeVar("Found")

OPEN = 128
"""Pieces sent out and not yet taken back. Dask keeps what a worker found until it is taken back
and dropped: of ten thousand pieces open at once, each worker that dies loses all it ever found."""
LOOK_S = 2.0
"""How long to wait before the workers are counted."""
PATIENCE_S = 120.0
"""A worker that starts again reads code and data for seconds, on a busy machine for many."""
NEVER = "10000 days"


class NoWorkersError(RuntimeError):
    """An executor whose last worker is gone and has not come back."""


def gathered(
    executor: Executor,
    call: Callable[[Piece], Found],
    pieces: dict[str, Piece],
    *,
    patience_s: float = PATIENCE_S,
) -> Generator[tuple[str, Callable[[], Found]], None, None]:
    """Yield the name of each piece as it ends, with what returns or raises what it found.

    Args:
        executor: Where the work is done.
        call: What is done with a piece.
        pieces: By name.
        patience_s: How long to wait for a worker where there is none.

    Raises:
        NoWorkersError: If there was no worker for that long.
    """
    names = iter(pieces)
    sent: dict[Future[Found], str] = {}
    with left_to_nannies(executor):
        try:
            while True:
                for name in itertools.islice(names, OPEN - len(sent)):
                    sent[executor.submit(call, pieces[name])] = name
                if not sent:
                    return
                for future in _ended(executor, sent, patience_s):
                    name = sent.pop(future)
                    yield name, future.result
        finally:
            for future in sent:
                future.cancel()


def _ended(
    executor: Executor, sent: dict[Future[Found], str], patience_s: float
) -> set[Future[Found]]:
    """Return at least one future that ended."""
    alone_since: float | None = None
    while True:
        done, _ = wait(sent, timeout=LOOK_S, return_when=FIRST_COMPLETED)
        if done:
            return done
        if workers_left(executor) != 0:
            alone_since = None
        elif alone_since is None:
            alone_since = time.monotonic()
        elif time.monotonic() - alone_since > patience_s:
            raise NoWorkersError(f"no worker for {patience_s:.0f} s")


@contextlib.contextmanager
def left_to_nannies(executor: Executor) -> Iterator[None]:
    """Have no worker of Dask given up that its nanny starts again.

    A local cluster looks for a worker once, 15 s after it died, and gives it up for good if it
    is away just then: where it died once more meanwhile, or takes that long to start. One by
    one a sweep would lose all of them.

    Args:
        executor: Any; only a cluster in this process, of workers with nannies, is told.
    """
    cluster = getattr(getattr(executor, "_client", None), "cluster", None)
    workers = list(getattr(cluster, "workers", {}).values())
    if not workers:
        yield
        return
    import dask
    from distributed import Nanny

    started_again = all(isinstance(one, Nanny) for one in workers)
    told = {"distributed.deploy.lost-worker-timeout": NEVER} if started_again else {}
    with dask.config.set(told):
        yield


def workers_left(executor: Executor) -> int | None:
    """Return how many workers an executor of Dask has; None for one that replaces its own.

    A nanny gives a worker up that dies while it starts, and the scheduler keeps its work for
    whoever may come.

    Args:
        executor: Any.
    """
    client: Any = getattr(executor, "_client", None)
    if client is None:
        return None
    try:
        return len(client.nthreads())
    except (OSError, RuntimeError, ValueError):
        # Nor is there a scheduler to ask.
        return 0
