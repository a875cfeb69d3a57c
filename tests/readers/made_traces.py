"""Traces of a device as Kineto writes them, made so that every sum is known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

GEMM = "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT"
FLASH = "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4> >(Flash_fwd_params)"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>"
ADAM = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>"
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
SEND = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
ZERO_US = 4096.0


def kernel(name: str, start_us: float, length_us: float, stream: int = 7, **args: Any) -> Any:
    """Return a kernel's event; arguments of a message are named as they are written."""
    return {
        "ph": "X",
        "cat": "kernel",
        "name": name,
        "pid": 0,
        "tid": stream,
        "ts": ZERO_US + start_us,
        "dur": length_us,
        "args": {"stream": stream, **args},
    }


def message(name: str, start_us: float, length_us: float, what: str, **args: Any) -> Any:
    """Return a message's kernel on a stream of its own."""
    return kernel(name, start_us, length_us, 20, **{"Collective name": what, **args})


def mark(name: str, start_us: float, length_us: float, device: bool = True) -> Any:
    """Return an annotation, as the device or the processor saw it."""
    kind = "gpu_user_annotation" if device else "user_annotation"
    event = kernel(name, start_us, length_us)
    return {**event, "cat": kind}


def steps(events: Sequence[Any], length_us: float, count: int = 4) -> list[Any]:
    """Return some events, once a step, with the marks of the steps."""
    every = []
    for step in range(count):
        shift = step * length_us
        every.append(mark(f"ProfilerStep#{step + 5}", shift, length_us))
        every += [{**event, "ts": event["ts"] + shift} for event in events]
    return every


def write(path: Path, events: Sequence[Any], rank: int | None = 0, world: int = 1) -> Path:
    """Write a trace of one rank as `torch.profiler` orders it, and return its path."""
    about = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": world}}
    text = json.dumps({"schemaVersion": 1, **about, "traceEvents": list(events), "traceName": "x"})
    path.write_text(text)
    return path
