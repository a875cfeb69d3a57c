"""Timing by PyTorch: products, copies and collectives on GPUs, or the same on the CPU."""

from __future__ import annotations

import datetime
import importlib
import os
import re
import time
from collections.abc import Callable
from typing import Any

from steptime.evidence.measure_device import Device, cpu_memory_bytes, cpu_name
from steptime.inputs.errors import ConfigError
from steptime.inputs.generation import generations

# Larger than any second-level cache: written before each run, so that operands come from
# memory, and long enough that the host has enqueued the run before the device is free.
_FLUSH_BYTES = 2**28
# Collectives in a row in one timing: ranks that come late then cost little.
_COLLECTIVES = 8
_PATIENCE = datetime.timedelta(minutes=3)
_CPU = "use --device cpu, or --backend numpy, to time this machine's CPU"


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ModuleNotFoundError:
        raise ConfigError(
            "measuring a GPU needs PyTorch: install torch, or use --backend numpy to time "
            "this machine's CPU"
        ) from None
    except (ImportError, OSError) as error:
        raise ConfigError(f"PyTorch is here but cannot be loaded: {str(error)[:200]}") from None


def _number_of_environment(name: str, usual: int) -> int:
    text = os.environ.get(name, str(usual))
    if not text.isdigit():
        raise ConfigError(f"environment variable {name}={text[:40]!r} must be a whole number")
    return int(text)


def _ranks() -> tuple[int, int, int, int]:
    """Return rank, ranks, place on the server, and ranks of it, as torchrun tells them.

    Without an address to meet at, a WORLD_SIZE is left over from something else.
    """
    if not {"MASTER_ADDR", "RANK", "WORLD_SIZE", "LOCAL_RANK"} <= os.environ.keys():
        return 0, 1, 0, 1
    ranks = _number_of_environment("WORLD_SIZE", 1)
    return (
        _number_of_environment("RANK", 0),
        ranks,
        _number_of_environment("LOCAL_RANK", 0),
        _number_of_environment("LOCAL_WORLD_SIZE", ranks),
    )


def _generation(major: int) -> str:
    """Return the generation of a compute capability; empty where none is known."""
    known = {one.compute_capability: one.name for one in generations().values()}
    return known.get(major, "")


class TorchBackend:
    """Times products, copies and collectives, on a GPU by the device's own clock."""

    precisions: tuple[str, ...]

    def __init__(self, device: str = "cuda") -> None:
        if not re.fullmatch(r"cpu|cuda(:\d{1,3})?", device):
            raise ConfigError(f"unknown device {device[:40]!r}; one of: cuda, cuda:N, cpu")
        self._torch = torch = _torch()
        self.rank, self.ranks, self._local, self.node_ranks = _ranks()
        self._cuda = device != "cpu"
        if self._cuda:
            self._pick_gpu(device)
            self.device, self.precisions = self._gpu()
            self._flush = torch.empty(_FLUSH_BYTES, dtype=torch.int8, device="cuda")
        else:
            self.device, self.precisions = self._cpu()
        self._groups: dict[bool, Any] = {}
        if self.ranks > 1:
            self._join()

    def _pick_gpu(self, device: str) -> None:
        cuda = self._torch.cuda
        if not cuda.is_available():
            raise ConfigError(f"PyTorch finds no GPU here; {_CPU}")
        # Where each process is shown a GPU of its own, that one is its first.
        alone = cuda.device_count() == 1 and bool(os.environ.get("CUDA_VISIBLE_DEVICES"))
        index = int(device.partition(":")[2] or (0 if alone else self._local))
        if self.ranks > 1 and ":" in device:
            raise ConfigError(f"--device {device} is for one process; torchrun gives each its own")
        if index >= cuda.device_count():
            raise ConfigError(
                f"no device cuda:{index}: PyTorch finds {cuda.device_count()} "
                "(torchrun starts one process a GPU: --nproc-per-node)"
            )
        cuda.set_device(index)

    def _gpu(self) -> tuple[Device, tuple[str, ...]]:
        torch = self._torch
        facts = torch.cuda.get_device_properties(torch.cuda.current_device())
        amd = getattr(torch.version, "hip", None)
        ada = (facts.major, facts.minor) == (8, 9)
        narrow = (facts.major, facts.minor) >= (8, 9) and not amd and hasattr(torch, "_scaled_mm")
        runtime = f"HIP {amd}" if amd else f"CUDA {torch.version.cuda}"
        device = Device(
            name=facts.name,
            generation="" if amd or ada else _generation(facts.major),
            num_sms=facts.multi_processor_count,
            memory_bytes=float(facts.total_memory),
            versions=f"PyTorch {torch.__version__}, {runtime}",
            is_gpu=True,
        )
        return device, ("bf16", "fp8") if narrow else ("bf16",)

    def _cpu(self) -> tuple[Device, tuple[str, ...]]:
        torch = self._torch
        device = Device(
            name=cpu_name(),
            generation="",
            num_sms=torch.get_num_threads(),
            memory_bytes=cpu_memory_bytes(),
            versions=f"PyTorch {torch.__version__}",
        )
        return device, ("fp32", "bf16")

    def _join(self) -> None:
        """Meet the other ranks, in groups: those of a server, and one rank of each server."""
        distributed = self._torch.distributed
        if not distributed.is_available():
            raise ConfigError("this PyTorch has no torch.distributed: run one process")
        if self.ranks % self.node_ranks:
            raise ConfigError(f"{self.ranks} ranks on servers of {self.node_ranks}: not even")
        if not distributed.is_initialized():
            kind = "nccl" if self._cuda else "gloo"
            distributed.init_process_group(kind, timeout=_PATIENCE)
        size, everyone = self.node_ranks, range(self.ranks)
        servers = [(False, everyone[start : start + size]) for start in everyone[::size]]
        rails = [(True, everyone[start::size]) for start in range(size)]
        # Every rank has to make every group, in one order.
        for across, members in (*servers, *rails):
            group = distributed.new_group(list(members)) if len(members) > 1 else None
            if self.rank in members:
                self._groups[across] = group

    def _timer(self, work: Callable[[], object], repeats: int = 1) -> Callable[[], float]:
        if not self._cuda:
            return lambda: self._by_clock(work, repeats)
        torch = self._torch
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

        def run() -> float:
            self._flush.zero_()
            begin.record()
            for _ in range(repeats):
                work()
            end.record()
            end.synchronize()
            return float(begin.elapsed_time(end)) / 1e3 / repeats

        return run

    def _by_clock(self, work: Callable[[], object], repeats: int) -> float:
        begin = time.perf_counter()
        for _ in range(repeats):
            work()
        return (time.perf_counter() - begin) / repeats

    def _operand(self, rows: int, columns: int, kind: Any) -> Any:
        # Drawn, not constant: a device draws less power on constants and keeps a higher clock.
        return self._torch.randn(rows, columns, device=self._where, dtype=kind)

    @property
    def _where(self) -> str:
        return "cuda" if self._cuda else "cpu"

    def product(self, m: int, n: int, k: int, precision: str) -> Callable[[], float]:
        """Return a timed product in 32 or 16 bits or, scaled as a whole, in 8 bits."""
        torch = self._torch
        kind = torch.float32 if precision == "fp32" else torch.bfloat16
        # The second operand lies as weights do, one output a row; 8 bits take no other way.
        a, b = self._operand(m, k, kind), self._operand(n, k, kind)
        if precision != "fp8":
            out = torch.empty(m, n, device=self._where, dtype=kind)
            return self._timer(lambda: torch.matmul(a, b.t(), out=out))
        a8, b8 = (x.to(torch.float8_e4m3fn) for x in (a, b))
        one = torch.ones((), device=self._where, dtype=torch.float32)
        scales = {"scale_a": one, "scale_b": one, "out_dtype": torch.bfloat16}
        return self._timer(lambda: torch._scaled_mm(a8, b8.t(), use_fast_accum=True, **scales))

    def copy(self, size_bytes: int) -> Callable[[], float]:
        """Return a timed copy inside the device's memory."""
        torch = self._torch
        a = torch.ones(size_bytes // 4, device=self._where, dtype=torch.int32)
        out = torch.empty_like(a)
        return self._timer(lambda: out.copy_(a))

    def all_reduce(self, size_bytes: int, *, across: bool = False) -> Callable[[], float] | None:
        """Return a timed all-reduce over the ranks that torchrun started, or None."""
        torch, group = self._torch, self._groups.get(across)
        if group is None:
            return None
        kind = torch.bfloat16 if self._cuda else torch.float32
        # Zeros: sums of sums of anything else would leave the numbers there are.
        a = torch.zeros(8 * size_bytes // torch.finfo(kind).bits, device=self._where, dtype=kind)
        return self._timer(lambda: torch.distributed.all_reduce(a, group=group), _COLLECTIVES)

    def agreed(self, value: float) -> float:
        """Return the largest value that any rank came with."""
        if self.ranks == 1:
            return value
        torch = self._torch
        known = torch.tensor([value], device=self._where, dtype=torch.float64)
        torch.distributed.all_reduce(known, op=torch.distributed.ReduceOp.MAX)
        return float(known.item())

    def close(self) -> None:
        """Let go of the other ranks."""
        if self.ranks > 1:
            self._torch.distributed.destroy_process_group()
