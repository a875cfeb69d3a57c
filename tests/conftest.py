"""What holds for every test."""

from __future__ import annotations

import gc
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent


def pytest_configure() -> None:
    """Keep numeric libraries to one thread each, as tests run side by side, and tables wide."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    # Tables are as wide as in a pipe, whatever the terminal that tests were started from.
    os.environ.pop("COLUMNS", None)


# From the most tests a second to the fewest; files beside the rooms come first. Slow tests come
# after all others, from the last room to the first.
ROOMS = (
    *("inputs", "pipeline", "formulas", "readers", "cli", "evidence", "planning"),
    *("book", "answer", "parallel", "browser"),
)
LAST = {"slow", "notebooks"}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put what is fast first, and leave out what bounds a time unless `-m timed` asks for it.

    A test must pass on a machine that is busy with other things; a bench need not.
    """
    if "timed" not in config.option.markexpr:
        timed = [item for item in items if item.get_closest_marker("timed")]
        config.hook.pytest_deselected(items=timed)
        items[:] = [item for item in items if item not in timed]
    if empty := [item.nodeid for item in items if _without_a_case(item)]:
        raise pytest.UsageError(f"no case is left of {', '.join(empty)}")
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    items[:] = dealt(sorted(items, key=_rank), workers)


def pytest_collection_finish() -> None:
    """Leave the tests and modules of now out of what later collections of garbage look through."""
    gc.collect()
    gc.freeze()


def _without_a_case(item: pytest.Item) -> bool:
    """Return whether a test is to be skipped because the list of its cases is empty."""
    return any(
        "empty parameter set" in mark.kwargs.get("reason", "") for mark in item.iter_markers("skip")
    )


def _rank(item: pytest.Item) -> tuple[bool, int]:
    """Return what a test is sorted by: whether it is slow, and the place of its room.

    Of slow ones the longest come first, so that no worker is left alone with one at the end.
    """
    slow = any(mark.name in LAST for mark in item.iter_markers())
    room = item.path.relative_to(TESTS).parts[0]
    place = ROOMS.index(room) if room in ROOMS else -1
    return slow, -place if slow else place


def dealt(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Return the tests as one run for each worker of pytest-xdist, what is fast first in each.

    The workers begin with runs of one length, from the front to the back of the list: in one
    order for all, the second would begin in the middle and take what is slow first.

    Args:
        items: In the order in which a single worker should take them.
        workers: How many there are. A file stays whole, but for its slow tests.
    """
    hands: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for (slow, _), group in itertools.groupby(items, key=lambda item: (_rank(item)[0], item.path)):
        for one in [[item] for item in group] if slow else [list(group)]:
            min(hands, key=len).extend(one)
    found: list[pytest.Item] = []
    over: list[pytest.Item] = []
    for at, hand in enumerate(hands):
        length = (len(items) - len(found)) // (workers - at)
        found += [*hand, *over][:length]
        over = [*hand, *over][length:]
    return found


@pytest.fixture(scope="session")
def limit() -> Callable[[float], float]:
    """Return what bounds a time in the explorer's timed tests: the bound itself."""
    return lambda bound: bound


@pytest.fixture(scope="session")
def accuracy_points() -> dict[str, Any]:
    """Return the runs of the accuracy chart from the left-out errors kept in ``data/``.

    The parts are those of the constants in ``data/``: leaving each source out takes a minute.
    """
    pytest.importorskip("numpy")
    from steptime.book.study.accuracy import accuracy_points
    from steptime.evidence.leave_out import LeftOut
    from steptime.evidence.residuals import residuals
    from steptime.evidence.samples import all_runs, scored, table
    from steptime.inputs.constants import published_constants

    runs = table([sample for sample in all_runs().samples if scored(sample)])
    kept = {one.id: one for one in residuals()}
    rows = tuple(kept[sample.id] for sample in runs.samples)
    return accuracy_points(LeftOut(runs, rows, parts=runs.parts(published_constants())))
