"""What can be timed, and by which library: PyTorch on a GPU, NumPy on this machine's CPU."""

from __future__ import annotations

import importlib
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from steptime.inputs.errors import ConfigError

GENERATIONS = {8: "ampere", 9: "hopper", 10: "blackwell"}


@dataclass(frozen=True, slots=True)
class Device:
    """What the library says of the device.

    Attributes:
        name: As the driver has it.
        generation: One the roofline model knows, or empty.
        num_sms: Streaming multiprocessors; cores of a CPU.
        memory_bytes: Its memory.
        versions: Of the library and what it rests on.
    """

    name: str
    generation: str
    num_sms: int
    memory_bytes: float
    versions: str


class Backend(Protocol):
    """Times single operations; each method returns the seconds of one run."""

    device: Device
    precisions: tuple[str, ...]

    def product(self, m: int, n: int, k: int, precision: str) -> Callable[[], float]:
        """Return a function that runs one (m, k) by (k, n) product and returns its seconds."""
        ...

    def copy(self, size_bytes: int) -> Callable[[], float]:
        """Return a function that copies a buffer and returns the seconds."""
        ...

    def all_reduce(self, size_bytes: int) -> Callable[[], float] | None:
        """Return a function that adds a buffer up over all ranks, or None with one rank."""
        ...


class NumpyBackend:
    """Times 32-bit products and copies on the CPU."""

    precisions: tuple[str, ...] = ("fp32",)

    def __init__(self) -> None:
        import numpy as np

        self._np = np
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        self.device = Device(
            name=f"{platform.machine()} CPU",
            generation="",
            num_sms=os.cpu_count() or 1,
            memory_bytes=float(pages),
            versions=f"NumPy {np.__version__}",
        )

    def product(self, m: int, n: int, k: int, precision: str) -> Callable[[], float]:
        """Return a timed product; ``precision`` is fp32."""
        del precision
        a = self._np.ones((m, k), dtype=self._np.float32)
        b = self._np.ones((k, n), dtype=self._np.float32)
        out = self._np.empty((m, n), dtype=self._np.float32)
        return lambda: _timed(lambda: self._np.matmul(a, b, out=out))

    def copy(self, size_bytes: int) -> Callable[[], float]:
        """Return a timed copy."""
        a = self._np.ones(size_bytes, dtype=self._np.uint8)
        out = self._np.empty_like(a)
        return lambda: _timed(lambda: self._np.copyto(out, a))

    def all_reduce(self, size_bytes: int) -> Callable[[], float] | None:
        """Return None: there is one process."""
        del size_bytes
        return None


def _timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


class TorchBackend:
    """Times products, copies and collectives on a GPU, by the device's own clock."""

    precisions: tuple[str, ...]

    def __init__(self) -> None:
        try:
            torch: Any = importlib.import_module("torch")
        except ModuleNotFoundError:
            raise ConfigError(
                "measuring a GPU needs PyTorch: install torch, or use --backend numpy to time "
                "this machine's CPU"
            ) from None
        if not torch.cuda.is_available():
            raise ConfigError(
                "PyTorch finds no GPU here; use --backend numpy to time this machine's CPU"
            )
        self._torch = torch
        self._ranks = int(os.environ.get("WORLD_SIZE", "1"))
        local = int(os.environ.get("LOCAL_RANK", "0"))
        torch.cuda.set_device(local)
        if self._ranks > 1 and not torch.distributed.is_initialized():
            torch.distributed.init_process_group("nccl")
        facts = torch.cuda.get_device_properties(local)
        self.precisions = ("bf16", "fp8") if (facts.major, facts.minor) >= (8, 9) else ("bf16",)
        self.device = Device(
            name=facts.name,
            generation=GENERATIONS.get(facts.major, ""),
            num_sms=facts.multi_processor_count,
            memory_bytes=float(facts.total_memory),
            versions=f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}",
        )

    def _by_events(self, work: Callable[[], object]) -> Callable[[], float]:
        torch = self._torch
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

        def run() -> float:
            begin.record()
            work()
            end.record()
            torch.cuda.synchronize()
            return float(begin.elapsed_time(end)) / 1e3

        return run

    def product(self, m: int, n: int, k: int, precision: str) -> Callable[[], float]:
        """Return a timed product in bf16 or, scaled as a whole, in 8 bits."""
        torch = self._torch
        a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(n, k, device="cuda", dtype=torch.bfloat16)
        if precision == "bf16":
            out = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
            return self._by_events(lambda: torch.matmul(a, b.t(), out=out))
        a8, b8 = (x.to(torch.float8_e4m3fn) for x in (a, b))
        one = torch.ones((), device="cuda")
        return self._by_events(
            lambda: torch._scaled_mm(a8, b8.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
        )

    def copy(self, size_bytes: int) -> Callable[[], float]:
        """Return a timed copy inside the device's memory."""
        torch = self._torch
        a = torch.ones(size_bytes, device="cuda", dtype=torch.uint8)
        out = torch.empty_like(a)
        return self._by_events(lambda: out.copy_(a))

    def all_reduce(self, size_bytes: int) -> Callable[[], float] | None:
        """Return a timed all-reduce over the ranks that torchrun started."""
        if self._ranks == 1:
            return None
        torch = self._torch
        a = torch.ones(size_bytes // 2, device="cuda", dtype=torch.bfloat16)
        return self._by_events(lambda: torch.distributed.all_reduce(a))

    @property
    def ranks(self) -> int:
        """Return the ranks of the job."""
        return self._ranks


def backend_named(name: str) -> Backend:
    """Return a backend.

    Args:
        name: torch or numpy.

    Raises:
        ConfigError: If it is neither, or PyTorch or a GPU is missing.
    """
    if name == "numpy":
        return NumpyBackend()
    if name == "torch":
        return TorchBackend()
    raise ConfigError(f"unknown backend {name[:40]!r}; one of: numpy, torch")
