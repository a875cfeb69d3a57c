"""Timing by NumPy: products and copies of one process on the CPU."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from steptime.evidence.measure_device import Device, cpu_memory_bytes, cpu_name


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that some work of this process takes.

    Args:
        work: Has finished when it returns.
    """
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


class NumpyBackend:
    """Times 32-bit products and copies on the CPU."""

    precisions: tuple[str, ...] = ("fp32",)
    rank = 0
    ranks = 1
    node_ranks = 1

    def __init__(self) -> None:
        import numpy as np

        self._np = np
        self.device = Device(
            name=cpu_name(),
            generation="",
            num_sms=os.cpu_count() or 1,
            memory_bytes=cpu_memory_bytes(),
            versions=f"NumPy {np.__version__}",
        )

    def product(self, m: int, n: int, k: int, precision: str) -> Callable[[], float]:
        """Return a timed product; ``precision`` is fp32."""
        del precision
        a = self._np.ones((m, k), dtype=self._np.float32)
        b = self._np.ones((k, n), dtype=self._np.float32)
        out = self._np.empty((m, n), dtype=self._np.float32)
        return lambda: timed(lambda: self._np.matmul(a, b, out=out))

    def copy(self, size_bytes: int) -> Callable[[], float]:
        """Return a timed copy."""
        a = self._np.ones(size_bytes, dtype=self._np.uint8)
        out = self._np.empty_like(a)
        return lambda: timed(lambda: self._np.copyto(out, a))

    def all_reduce(self, size_bytes: int, *, across: bool = False) -> Callable[[], float] | None:
        """Return None: there is one process."""
        del size_bytes, across
        return None

    def agreed(self, value: float) -> float:
        """Return the value: nobody else is there."""
        return value

    def close(self) -> None:
        """Do nothing."""
