"""Measure a device: matrix products by shape, copies, collectives; write an accelerator file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from steptime.evidence.measure_backends import Backend, Device
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError

# From thin to large, and the products of a 7B and a 70B layer at t = 1 and 8.
SHAPES = (
    (1024, 1024, 1024),
    (2048, 2048, 2048),
    (4096, 4096, 4096),
    (8192, 8192, 8192),
    (16384, 8192, 8192),
    (4096, 12288, 4096),
    (4096, 4096, 11008),
    (4096, 28672, 8192),
    (4096, 8192, 28672),
    (4096, 1280, 8192),
    (4096, 8192, 1024),
    (4096, 3584, 8192),
    (4096, 8192, 3584),
    (512, 8192, 8192),
)
COPIES_BYTES = (2**24, 2**26, 2**28, 2**30)
COLLECTIVES_BYTES = (2**20, 2**23, 2**25, 2**27, 2**29)
WARM_UP = 3
LEAST_RUNS = 5


@dataclass(frozen=True, slots=True)
class Timing:
    """One operation, timed.

    Attributes:
        kind: product, copy or all-reduce.
        precision: Of a product, else empty.
        size: m, n and k of a product; bytes of the others.
        seconds: Median of its runs.
        rate: FLOP per second, or bytes per second as the operation's own bandwidth.
    """

    kind: str
    precision: str
    size: tuple[int, ...]
    seconds: float
    rate: float


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that was timed on a device.

    Attributes:
        device: What the library says of it.
        timings: One for each operation.
        ranks: Ranks that took part in collectives.
        date: Of the measurement, as year-month-day.
    """

    device: Device
    timings: tuple[Timing, ...]
    ranks: int
    date: str

    def best(self, kind: str, precision: str = "") -> float:
        """Return the largest rate of a kind, 0 if there is none.

        Args:
            kind: product, copy or all-reduce.
            precision: Of a product.
        """
        rates = [one.rate for one in self.timings if (one.kind, one.precision) == (kind, precision)]
        return max(rates, default=0.0)


def median_s(run: Callable[[], float], budget_s: float) -> float:
    """Return the median seconds of an operation, repeated while there is time.

    Args:
        run: Runs it once and returns its seconds.
        budget_s: Time to spend; a few runs are made in any case.
    """
    for _ in range(WARM_UP):
        run()
    seen: list[float] = []
    begin = time.perf_counter()
    while len(seen) < LEAST_RUNS or time.perf_counter() - begin < budget_s:
        seen.append(run())
    seen.sort()
    return seen[len(seen) // 2]


def _work(backend: Backend, largest: int) -> Iterator[tuple[str, str, tuple[int, ...], float]]:
    """Yield kind, precision, size and the count that a rate is taken of."""
    for precision in backend.precisions:
        for m, n, k in SHAPES:
            if max(m, n, k) <= largest:
                yield "product", precision, (m, n, k), 2.0 * m * n * k
    for size in COPIES_BYTES:
        if size <= max(COPIES_BYTES[0], min(backend.device.memory_bytes / 8, largest**2 * 4)):
            # A copy reads and writes.
            yield "copy", "", (size,), 2.0 * size
    for size in COLLECTIVES_BYTES:
        yield "all-reduce", "", (size,), float(size)


def _runner(
    backend: Backend, kind: str, precision: str, size: tuple[int, ...]
) -> Callable[[], float] | None:
    if kind == "product":
        m, n, k = size
        return backend.product(m, n, k, precision)
    return backend.copy(size[0]) if kind == "copy" else backend.all_reduce(size[0])


def measure(
    backend: Backend,
    *,
    seconds: float,
    largest: int = 28672,
    date: str = "",
    told: Callable[[Timing], None] = lambda _: None,
) -> Measured:
    """Return a device's timings.

    Args:
        backend: Runs the operations.
        seconds: Time to spend, roughly.
        largest: Largest side of a product; smaller is quicker on a CPU.
        date: Of the measurement; today if empty.
        told: Called with each timing as it comes.
    """
    work = list(_work(backend, largest))
    each = seconds / (2.0 * len(work))
    timings = []
    ranks = int(getattr(backend, "ranks", 1))
    for kind, precision, size, count in work:
        run = _runner(backend, kind, precision, size)
        if run is None:
            continue
        taken = median_s(run, each)
        rate = count / taken
        if kind == "all-reduce":
            # What a link carries in a ring: nccl-tests calls it busbw.
            rate *= 2.0 * (ranks - 1.0) / ranks
        timings.append(Timing(kind, precision, size, taken, rate))
        told(timings[-1])
    return Measured(
        backend.device, tuple(timings), ranks, date or time.strftime("%Y-%m-%d", time.gmtime())
    )


def measured_accelerator(found: Measured, name: str, like: Accelerator | None) -> Accelerator:
    """Return an accelerator from measurements, the rest from the data sheet of another.

    Args:
        found: The measurements.
        name: What to call it.
        like: Gives the peak rates, links and network that were not measured.

    Raises:
        ConfigError: If links are neither measured nor given.
    """
    plain = found.best("product", "bf16") or found.best("product", "fp32")
    copied = found.best("copy")
    links = found.best("all-reduce")
    if like is None and not links and found.device.generation:
        raise ConfigError(
            f"{found.device.name}: one GPU cannot measure its links; name a preset with --like "
            "h100, or run under torchrun with all GPUs of a server"
        )
    base = like or Accelerator(
        name=name,
        peak_flop_per_s=plain,
        hbm_bytes=found.device.memory_bytes,
        hbm_bytes_per_s=copied,
        nvlink_bytes_per_s=links or copied,
        network_bytes_per_s=12.5e9,
        nvlink_domain=max(found.ranks, 1),
    )
    return replace(
        base,
        name=name,
        matmul_flop_per_s=plain,
        matmul_fp8_flop_per_s=found.best("product", "fp8"),
        hbm_bytes=found.device.memory_bytes,
        num_sms=found.device.num_sms,
        generation=found.device.generation or base.generation,
        source=f"measured on {found.device.name}, {found.device.versions}, {found.date}",
    )


def accelerator_toml(device: Accelerator, found: Measured) -> str:
    """Return an accelerator as the file that ``--accelerator`` takes, timings included.

    Args:
        device: What `measured_accelerator` returned.
        found: The measurements.
    """
    tera, giga = 1e12, 1e9
    lines = [
        f"# Measured by steptime on {found.date}; rates are dense, memory and links as noted.",
        f"[{device.name}]",
        f'generation = "{device.generation}"',
        f"num_sms = {device.num_sms}",
        f"watt = {device.watt:g}",
        f"peak_tflop_per_s = {device.peak_flop_per_s / tera:.6g}",
        f"peak_fp8_tflop_per_s = {device.peak_fp8_flop_per_s / tera:.6g}",
        f"matmul_tflop_per_s = {device.matmul_flop_per_s / tera:.6g}",
        f"matmul_fp8_tflop_per_s = {device.matmul_fp8_flop_per_s / tera:.6g}",
        f"hbm_gbyte = {device.hbm_bytes / giga:.6g}",
        f"hbm_gbyte_per_s = {device.hbm_bytes_per_s / giga:.6g}",
        f"nvlink_gbyte_per_s_both = {2 * device.nvlink_bytes_per_s / giga:.6g}",
        f"nvlink_domain = {device.nvlink_domain}",
        f"network_gbit_per_s = {8 * device.network_bytes_per_s / giga:.6g}",
        "timings = [",
        *(
            f'  {{ kind = "{one.kind}", precision = "{one.precision}", size = {list(one.size)}, '
            f"seconds = {one.seconds:.4g}, rate = {one.rate:.4g} }},"
            for one in found.timings
        ),
        "]",
        f"[{device.name}.source]",
        f'default = "{device.source}"',
    ]
    return "\n".join(lines) + "\n"


def write_accelerator(text: str, path: Path) -> None:
    """Write an accelerator file.

    Args:
        text: What `accelerator_toml` returned.
        path: File to write.

    Raises:
        ConfigError: If it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"--out {path}: {error.strerror or error}") from None
