"""Eight devices for every test of this folder, and programs compiled once for all of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from steptime.book.results.execute import QUICK_TO_COMPILE

# As in the notebooks, and before JAX reads it.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {QUICK_TO_COMPILE}".strip()
pytest.importorskip("jax")

from steptime.parallel import compare, devices, program, training

devices.start()

Build = Callable[..., program.Program]


@pytest.fixture(scope="session")
def measured() -> Callable[..., tuple[program.Program, program.Run]]:
    """Return a function that builds and runs a program, once per set of sizes."""
    kept: dict[Any, tuple[program.Program, program.Run]] = {}

    def run(
        build: Build, annotations_only: bool = False, **sizes: Any
    ) -> tuple[program.Program, program.Run]:
        key = (build.__module__, build.__name__, annotations_only, tuple(sorted(sizes.items())))
        if key not in kept:
            built = build(**sizes)
            kept[key] = (built, program.run(built, annotations_only=annotations_only))
        return kept[key]

    return run


@pytest.fixture(scope="session")
def agrees(measured: Callable[..., Any]) -> Callable[..., None]:
    """Return a check: same results as one device, same traffic as the formulas."""

    def check(build: Build, **sizes: Any) -> None:
        built, run = measured(build, **sizes)
        assert run.worst_error <= 1e-12, run
        account = compare.lines(built, run)
        assert account, "a split program that sends nothing"
        assert [line for line in account if not line.equal] == []

    return check


@pytest.fixture(scope="session")
def trained() -> Callable[..., tuple[training.Training, training.TrainingRun]]:
    """Return a function that builds a training and takes its steps, once per set of sizes."""
    kept: dict[Any, tuple[training.Training, training.TrainingRun]] = {}

    def run(
        build: Callable[..., training.Training], **sizes: Any
    ) -> tuple[training.Training, training.TrainingRun]:
        key = (build.__module__, tuple(sorted(sizes.items())))
        if key not in kept:
            built = build(**sizes)
            kept[key] = (built, training.train(built))
        return kept[key]

    return run
