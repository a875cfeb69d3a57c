"""What holds for every test."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest


def pytest_configure() -> None:
    """Keep numeric libraries to one thread each: the tests already run side by side."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what bounds a time, unless `-m timed` asks for it, as `make bench` does.

    A test must pass on a machine that is busy with other things; a bench need not.
    """
    if "timed" in config.option.markexpr:
        return
    timed = [item for item in items if item.get_closest_marker("timed")]
    config.hook.pytest_deselected(items=timed)
    items[:] = [item for item in items if item not in timed]


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
