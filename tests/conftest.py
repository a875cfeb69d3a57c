"""What every test may use: the repository's root, and Node."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def pytest_configure() -> None:
    """Keep numeric libraries to one thread each: the tests already run side by side."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the repository's top folder."""
    return ROOT


@pytest.fixture(scope="session")
def node() -> str:
    """Return the path of a Node executable: the one that Playwright's wheel carries."""
    import playwright

    carried = Path(playwright.__file__).parent / "driver" / "node"
    found = str(carried) if carried.is_file() else shutil.which("node")
    assert found, "no Node: the lock's playwright wheel carries one; run `make .venv`"
    return found
