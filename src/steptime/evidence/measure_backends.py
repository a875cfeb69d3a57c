"""What can be timed, and by which library: PyTorch on a GPU or CPU, NumPy on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from steptime.evidence.measure_device import Device
from steptime.evidence.measure_numpy import NumpyBackend as NumpyBackend
from steptime.inputs.errors import ConfigError, check_choice

BACKENDS = ("numpy", "torch")


class Backend(Protocol):
    """Times single operations.

    With several ranks, each must call the same methods in the same order: some wait for all.

    Attributes:
        device: What is timed.
        precisions: Of products that can be timed.
        rank: Of this process; the first one reports.
        ranks: Processes, one a device.
        node_ranks: Those on one server.
    """

    device: Device
    precisions: tuple[str, ...]
    rank: int
    ranks: int
    node_ranks: int

    def product(self, m: int, n: int, k: int, precision: str) -> Callable[[], float]:
        """Return a function that runs one (m, k) by (k, n) product and returns its seconds."""
        ...

    def copy(self, size_bytes: int) -> Callable[[], float]:
        """Return a function that copies a buffer and returns the seconds."""
        ...

    def all_reduce(self, size_bytes: int, *, across: bool = False) -> Callable[[], float] | None:
        """Return a function that adds a buffer up over ranks, or None where one rank is alone.

        Args:
            size_bytes: Of the buffer.
            across: Over servers, a rank on each, not over the ranks of one server.
        """
        ...

    def agreed(self, value: float) -> float:
        """Return the largest value that any rank came with."""
        ...

    def close(self) -> None:
        """Let go of the other ranks."""
        ...


def backend_named(name: str, device: str = "cuda", processes: int = 1) -> Backend:
    """Return a backend.

    Args:
        name: torch or numpy.
        device: For torch: cuda, cuda:N or cpu.
        processes: For numpy: how many stand for devices of one server.

    Raises:
        ConfigError: If it is unknown, or PyTorch or the device is missing.
    """
    check_choice("backend", name, BACKENDS)
    if name == "numpy":
        if device not in ("cuda", "cpu"):
            raise ConfigError(f"--device {device[:40]} belongs to --backend torch")
        if processes == 1:
            return NumpyBackend()
        from steptime.evidence.measure_processes import ProcessesBackend

        return ProcessesBackend(processes)
    if processes != 1:
        raise ConfigError("--processes belongs to --backend numpy; torchrun starts those of torch")
    from steptime.evidence.measure_torch import TorchBackend

    return TorchBackend(device)
