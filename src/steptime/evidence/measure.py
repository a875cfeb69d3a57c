"""Measure a device: matrix products by shape, copies, collectives."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from steptime.evidence.measure_backends import Backend
from steptime.evidence.measure_device import Device
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
MOST_RUNS = 2000
# Share of an operation's time that is spent before it counts: clocks fall under load.
_HEATING = 0.2
# A timing this much over its share of the time is left out: a CPU with the largest shapes.
_TOO_SLOW = 2.0
# What a library raises where memory is short or a kernel is missing.
_FAULTS = (RuntimeError, MemoryError, AttributeError, ValueError, TypeError)
# Smaller buffers can be served by a cache and say nothing of the memory or the link.
_LARGE_BYTES = 2**28


@dataclass(frozen=True, slots=True)
class Timing:
    """One operation, timed.

    Attributes:
        kind: product, copy, all-reduce (over a server), or network (the same over servers).
        precision: Of a product, else empty.
        size: m, n and k of a product; bytes of the others.
        seconds: Median of its runs.
        rate: FLOP per second, or bytes per second that memory or link carries.
        runs: How many.
        spread: Between the first and third quarter of its runs, over the median.
    """

    kind: str
    precision: str
    size: tuple[int, ...]
    seconds: float
    rate: float
    runs: int = 1
    spread: float = 0.0


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that was timed on a device.

    Attributes:
        device: What the library says of it.
        timings: One for each operation.
        ranks: Ranks on one server that took part in collectives.
        date: Of the measurement, as year-month-day.
        notes: A sentence for each operation that was left out.
    """

    device: Device
    timings: tuple[Timing, ...]
    ranks: int
    date: str
    notes: tuple[str, ...] = field(default=())

    def best(self, kind: str, precision: str = "") -> float:
        """Return the largest rate of a kind, of large buffers if there are any; else 0.

        Args:
            kind: product, copy, all-reduce or network.
            precision: Of a product.
        """
        same = [one for one in self.timings if (one.kind, one.precision) == (kind, precision)]
        if kind != "product":
            same = [one for one in same if one.size[0] >= _LARGE_BYTES] or same[-1:]
        return max((one.rate for one in same), default=0.0)

    @property
    def best_product(self) -> float:
        """Return the largest rate of products in 16 bits, or in 32 where those are faster."""
        return max(self.best("product", "bf16"), self.best("product", "fp32"))


@dataclass(frozen=True, slots=True)
class _Work:
    kind: str
    precision: str
    size: tuple[int, ...]
    count: float

    def runner(self, backend: Backend) -> Callable[[], float] | None:
        if self.kind == "product":
            m, n, k = self.size
            return backend.product(m, n, k, self.precision)
        if self.kind == "copy":
            return backend.copy(self.size[0])
        return backend.all_reduce(self.size[0], across=self.kind == "network")

    def __str__(self) -> str:
        size = " x ".join(str(side) for side in self.size)
        return " ".join(part for part in (self.kind, self.precision, size) if part)


def _busbw(ranks: int) -> float:
    """Return what a link carries over the size of an all-reduce's buffer, in a ring."""
    return 2.0 * (ranks - 1.0) / ranks


def _work(backend: Backend, largest: int) -> list[_Work]:
    """Return what to time, the quick before the slow; count is what a rate is taken of."""
    made = []
    for precision in backend.precisions:
        for m, n, k in sorted(SHAPES, key=lambda shape: shape[0] * shape[1] * shape[2]):
            if max(m, n, k) <= largest:
                made.append(_Work("product", precision, (m, n, k), 2.0 * m * n * k))
    most = min(backend.device.memory_bytes / 8.0, 4.0 * largest**2)
    for size in COPIES_BYTES:
        if size <= max(COPIES_BYTES[0], most):
            # A copy reads and writes.
            made.append(_Work("copy", "", (size,), 2.0 * size))
    groups = {"all-reduce": backend.node_ranks, "network": backend.ranks // backend.node_ranks}
    for kind, ranks in groups.items():
        for size in COLLECTIVES_BYTES:
            if ranks > 1:
                made.append(_Work(kind, "", (size,), size * _busbw(ranks)))
    return made


def runs_s(
    run: Callable[[], float],
    budget_s: float,
    agreed: Callable[[float], float] = lambda value: value,
) -> list[float]:
    """Return the seconds of an operation's runs, sorted; as many as the time allows.

    How many is agreed on by all ranks: a collective that one of them does not join waits forever.

    Args:
        run: Runs it once and returns its seconds.
        budget_s: Time to spend; a few runs are made in any case, unless one takes all of it.
        agreed: Returns the largest value of any rank.
    """
    run()
    begin = time.perf_counter()
    first = run()
    each = agreed(max(first, time.perf_counter() - begin, 1e-7))
    if LEAST_RUNS * each > budget_s > 0.0:
        more = int(budget_s / each)
        return sorted([first, *(run() for _ in range(more))])
    for _ in range(min(max(WARM_UP, int(_HEATING * budget_s / each)), MOST_RUNS)):
        run()
    count = min(max(LEAST_RUNS, int((1.0 - _HEATING) * budget_s / each)), MOST_RUNS)
    return sorted(run() for _ in range(count))


def _fault(error: Exception) -> str:
    return " ".join(str(error).split())[:160] or type(error).__name__


def _try(work: _Work, backend: Backend, budget_s: float) -> tuple[list[float], str]:
    """Return an operation's runs, or none of them and why: memory, or no such kernel.

    All ranks leave it out, or none does; and all agree that its buffers are there before any
    of them starts, as a collective waits for those that never will.
    """
    run: Callable[[], float] | None = None
    reason = "not possible on every rank"
    try:
        run = work.runner(backend)
    except _FAULTS as error:
        reason = _fault(error)
    if backend.agreed(float(run is None)) or run is None:
        return [], f"left out {work}: {reason}"
    failed = False
    try:
        run()
    except _FAULTS as error:
        failed, reason = True, _fault(error)
    if backend.agreed(float(failed)):
        return [], f"left out {work}: {reason}"
    return runs_s(run, budget_s, backend.agreed), ""


def _timing(work: _Work, runs: list[float]) -> Timing:
    middle = runs[len(runs) // 2]
    spread = (runs[3 * len(runs) // 4] - runs[len(runs) // 4]) / middle
    return Timing(
        work.kind, work.precision, work.size, middle, work.count / middle, len(runs), spread
    )


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

    Raises:
        ConfigError: If no product could be timed.
    """
    work, begin = _work(backend, largest), time.perf_counter()
    timings: list[Timing] = []
    notes: list[str] = []
    slowest: dict[tuple[str, str], float] = {}
    for place, one in enumerate(work):
        left = backend.agreed(max(seconds - (time.perf_counter() - begin), 0.0))
        each = left / (len(work) - place)
        kind = (one.kind, one.precision)
        # Judged by what all ranks agreed on, so that all leave the same out.
        if seconds and one.count * slowest.get(kind, 0.0) > _TOO_SLOW * each:
            notes.append(f"left out {one}: too slow for {seconds:g} s in all")
            continue
        runs, reason = _try(one, backend, each)
        if not runs:
            notes.append(reason)
            continue
        timings.append(_timing(one, runs))
        slowest[kind] = backend.agreed(timings[-1].seconds) / one.count
        told(timings[-1])
    if not any(one.kind == "product" for one in timings):
        raise ConfigError(f"no product could be timed: {(notes or ['--largest is too small'])[0]}")
    today = date or time.strftime("%Y-%m-%d", time.gmtime())
    return Measured(backend.device, tuple(timings), backend.node_ranks, today, tuple(notes))
