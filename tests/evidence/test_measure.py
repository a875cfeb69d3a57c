"""Measuring a device: on the CPU, and with a stand-in whose rates are known."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("numpy")

from steptime.evidence.measure import (
    LEAST_RUNS,
    WARM_UP,
    accelerator_toml,
    measure,
    measured_accelerator,
    median_s,
    write_accelerator,
)
from steptime.evidence.measure_backends import Device, NumpyBackend, backend_named
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import accelerator


class Known:
    """A device that runs products at 500 TFLOP/s after 5 microseconds, copies at 3 TB/s."""

    precisions: tuple[str, ...] = ("bf16", "fp8")
    device = Device("Known H100", "hopper", 132, 80e9, "stand-in")
    ranks = 8

    def product(self, m: int, n: int, k: int, precision: str) -> Callable[[], float]:
        rate = 5e14 if precision == "bf16" else 1e15
        return lambda: 5e-6 + 2.0 * m * n * k / rate

    def copy(self, size_bytes: int) -> Callable[[], float]:
        return lambda: 2.0 * size_bytes / 3e12

    def all_reduce(self, size_bytes: int) -> Callable[[], float] | None:
        return lambda: 2.0 * 7.0 / 8.0 * size_bytes / 360e9


# ---- limit


def test_known_rates_are_found() -> None:
    found = measure(Known(), seconds=0.0, date="2026-01-01")
    assert found.best("product", "bf16") == pytest.approx(5e14, rel=0.01)
    assert found.best("product", "fp8") == pytest.approx(1e15, rel=0.01)
    assert found.best("copy") == pytest.approx(3e12)
    assert found.best("all-reduce") == pytest.approx(360e9)
    assert len(found.timings) == 2 * 14 + 4 + 5


def test_the_median_ignores_one_slow_run() -> None:
    times = iter([0.0] * WARM_UP + [1.0] * (LEAST_RUNS - 1) + [50.0])
    assert median_s(lambda: next(times), 0.0) == 1.0


# ---- invariant


def test_the_file_is_an_accelerator(tmp_path: Path) -> None:
    found = measure(Known(), seconds=0.0, date="2026-01-01")
    device = measured_accelerator(found, "mine", accelerator("h100"))
    write_accelerator(accelerator_toml(device, found), tmp_path / "mine.toml")
    read = accelerator(str(tmp_path / "mine.toml"))
    assert read.name == "mine"
    assert read.matmul_flop_per_s == pytest.approx(device.matmul_flop_per_s, rel=1e-5)
    assert read.nvlink_bytes_per_s == accelerator("h100").nvlink_bytes_per_s
    assert read.generation == "hopper"
    assert "2026-01-01" in read.source


def test_the_cpu_is_measured_in_a_moment(tmp_path: Path) -> None:
    found = measure(NumpyBackend(), seconds=0.05, largest=1024)
    device = measured_accelerator(found, "cpu", None)
    assert device.matmul_flop_per_s > 1e8
    assert device.hbm_bytes_per_s > 1e8
    write_accelerator(accelerator_toml(device, found), tmp_path / "cpu.toml")
    assert accelerator(str(tmp_path / "cpu.toml")).num_sms >= 1


# ---- refusal


def test_without_pytorch_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigError, match="--backend numpy"):
        backend_named("torch")


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(ConfigError, match="one of: numpy, torch"):
        backend_named("cuda")


def test_one_gpu_needs_a_preset_for_its_links() -> None:
    alone = Known()
    alone.all_reduce = lambda size_bytes: None  # type: ignore[method-assign]
    found = measure(alone, seconds=0.0)
    with pytest.raises(ConfigError, match="--like"):
        measured_accelerator(found, "mine", None)


def test_a_folder_is_no_file_to_write(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--out"):
        write_accelerator("", tmp_path)
