"""What holds for every test."""

from __future__ import annotations

import os


def pytest_configure() -> None:
    """Keep numeric libraries to one thread each: the tests already run side by side."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
