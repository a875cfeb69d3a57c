"""Measuring a device: on the CPU, and with stand-ins whose rates are known."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("numpy")

from steptime.evidence.measure import LEAST_RUNS, MOST_RUNS, WARM_UP, measure, runs_s
from steptime.evidence.measure_backends import NumpyBackend, backend_named
from steptime.evidence.measure_device import Device
from steptime.evidence.measure_file import (
    accelerator_toml,
    curve_share,
    measured_accelerator,
    write_accelerator,
)
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import accelerator


class Known:
    """A device that runs products at 500 TFLOP/s after 5 microseconds, copies at 3 TB/s."""

    precisions: tuple[str, ...] = ("bf16", "fp8")
    device = Device("NVIDIA H100", "hopper", 132, 80e9, "stand-in", is_gpu=True)
    rank = 0
    ranks = 16
    node_ranks = 8

    def product(self, m: int, n: int, k: int, precision: str) -> Callable[[], float]:
        rate = 5e14 if precision == "bf16" else 1e15
        return lambda: 5e-6 + 2.0 * m * n * k / rate

    def copy(self, size_bytes: int) -> Callable[[], float]:
        # A small buffer stays in the cache, which is four times as fast.
        return lambda: 2.0 * size_bytes / (3e12 if size_bytes > 2**26 else 12e12)

    def all_reduce(self, size_bytes: int, *, across: bool = False) -> Callable[[], float] | None:
        carried = 2.0 * (1.0 / 2.0 if across else 7.0 / 8.0) * size_bytes
        return lambda: carried / (36e9 if across else 360e9)

    def agreed(self, value: float) -> float:
        return value

    def close(self) -> None:
        pass


class Alone(Known):
    ranks = 1
    node_ranks = 1


# ---- limit


def test_known_rates_are_found() -> None:
    found = measure(Known(), seconds=0.0, date="2026-01-01")
    assert found.best("product", "bf16") == pytest.approx(5e14, rel=0.01)
    assert found.best("product", "fp8") == pytest.approx(1e15, rel=0.01)
    assert found.best("copy") == pytest.approx(3e12)
    assert found.best("all-reduce") == pytest.approx(360e9)
    assert found.best("network") == pytest.approx(36e9)
    assert len(found.timings) == 2 * 14 + 4 + 2 * 5


def test_one_slow_run_does_not_count() -> None:
    times = iter([0.0] * (2 + WARM_UP) + [1.0] * (LEAST_RUNS - 1) + [50.0])
    seen = runs_s(lambda: next(times), 0.0)
    assert seen[len(seen) // 2] == 1.0


def test_quick_runs_come_to_an_end() -> None:
    calls = []
    runs_s(lambda: calls.append(1) or 1e-9, 1e6)  # type: ignore[func-returns-value]
    assert len(calls) <= 2 + 2 * MOST_RUNS


def test_shapes_that_would_take_too_long_are_left_out() -> None:
    class Slow(Alone):
        precisions: tuple[str, ...] = ("fp32",)

        def product(self, m: int, n: int, k: int, precision: str) -> Callable[[], float]:
            return lambda: 2.0 * m * n * k / 1e11

    found = measure(Slow(), seconds=1.0)
    assert 0 < sum(one.kind == "product" for one in found.timings) < 14
    assert "too slow" in found.notes[0]
    assert len([one for one in found.timings if one.kind == "copy"]) == 4


# ---- invariant


def test_the_file_is_an_accelerator(tmp_path: Path) -> None:
    found = measure(Known(), seconds=0.0, date="2026-01-01")
    device = measured_accelerator(found, "mine", accelerator("h100"))
    write_accelerator(accelerator_toml(device, found), tmp_path / "mine.toml")
    read = accelerator(str(tmp_path / "mine.toml"))
    assert read.name == "mine"
    assert read.matmul_flop_per_s == pytest.approx(device.matmul_flop_per_s, rel=1e-5)
    assert read.nvlink_bytes_per_s == pytest.approx(accelerator("h100").nvlink_bytes_per_s)
    assert read.hbm_bytes_per_s == pytest.approx(3e12 / 0.9)
    assert read.network_bytes_per_s == pytest.approx(36e9 / 0.8)
    assert read.generation == "hopper"
    assert "2026-01-01" in read.source


def test_the_cpu_is_measured_in_a_moment(tmp_path: Path) -> None:
    found = measure(NumpyBackend(), seconds=0.05, largest=1024)
    device = measured_accelerator(found, "cpu", None)
    assert device.matmul_flop_per_s > 1e8
    assert device.hbm_bytes_per_s > 1e8
    write_accelerator(accelerator_toml(device, found), tmp_path / "cpu.toml")
    assert accelerator(str(tmp_path / "cpu.toml")).num_sms >= 1


def test_a_device_short_of_its_data_sheet_is_taken_as_measured() -> None:
    class Thin(Known):
        def all_reduce(
            self, size_bytes: int, *, across: bool = False
        ) -> Callable[[], float] | None:
            return None if across else (lambda: 2.0 * 7.0 / 8.0 * size_bytes / 20e9)

    made = measured_accelerator(measure(Thin(), seconds=0.0), "thin", accelerator("h100"))
    assert made.nvlink_bytes_per_s == pytest.approx(25e9)
    assert made.network_bytes_per_s == accelerator("h100").network_bytes_per_s


@pytest.mark.parametrize(
    ("like", "wide", "narrow"), [("a100", 5e14, 1e15), ("h100", 989e12, 1979e12)]
)
def test_a_device_over_the_data_sheet_it_is_given_still_makes_a_sound_file(
    like: str, wide: float, narrow: float, tmp_path: Path
) -> None:
    found = measure(Known(), seconds=0.0, date="2026-01-01")
    made = measured_accelerator(found, "mine", accelerator(like))
    assert made.peak_flop_per_s == pytest.approx(wide, rel=0.01)
    assert made.peak_fp8_flop_per_s == pytest.approx(narrow, rel=0.01)
    write_accelerator(accelerator_toml(made, found), tmp_path / "mine.toml")
    assert accelerator(str(tmp_path / "mine.toml")).matmul_flop_per_s < 1.01 * wide


def test_the_curve_beside_a_product_is_the_models() -> None:
    found = measure(Alone(), seconds=0.0)
    made = measured_accelerator(found, "mine", accelerator("h100"))
    large = max(found.timings, key=lambda one: one.rate if one.precision == "bf16" else 0.0)
    small = found.timings[0]
    assert 0.85 < curve_share(large, found, made) <= 1.0
    assert curve_share(small, found, made) < 0.6


def test_a_name_may_hold_anything(tmp_path: Path) -> None:
    odd = Known()
    odd.device = Device('Odd "H100" \\ \n part', "hopper", 132, 80e9, "stand-in")
    found = measure(odd, seconds=0.0)
    made = measured_accelerator(found, "odd", accelerator("h100"))
    write_accelerator(accelerator_toml(made, found), tmp_path / "odd.toml")
    assert 'Odd "H100" \\' in accelerator(str(tmp_path / "odd.toml")).source


def test_ranks_of_different_speed_run_each_collective_as_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A rank's clock goes on by what its operations take, whatever else the machine does.
    meet = threading.Barrier(2)
    spent_s: dict[int, float] = {}

    class Clock:
        strftime, gmtime = staticmethod(time.strftime), staticmethod(time.gmtime)

        @staticmethod
        def perf_counter() -> float:
            return spent_s.get(threading.get_ident(), 0.0)

    def taking(seconds: float) -> float:
        spent_s[threading.get_ident()] = Clock.perf_counter() + seconds
        return seconds

    monkeypatch.setattr("steptime.evidence.measure.time", Clock)
    brought = [0.0, 0.0]
    calls: list[list[str]] = [[], []]

    class Rank(Known):
        ranks = 2
        node_ranks = 2
        precisions: tuple[str, ...] = ("bf16",)

        def __init__(self, rank: int) -> None:
            self.rank = rank

        def product(self, m: int, n: int, k: int, precision: str) -> Callable[[], float]:
            return lambda: taking((1.0 + self.rank) * 2.0 * m * n * k / 5e13)

        def all_reduce(
            self, size_bytes: int, *, across: bool = False
        ) -> Callable[[], float] | None:
            if self.rank and size_bytes > 2**27:
                raise RuntimeError("out of memory")

            def run() -> float:
                calls[self.rank].append(str(size_bytes))
                meet.wait()
                return taking((1.0 + self.rank) * size_bytes / 1e11)

            return run

        def agreed(self, value: float) -> float:
            brought[self.rank] = value
            meet.wait()
            most = max(brought)
            meet.wait()
            return most

    found = {}

    def work(rank: int) -> None:
        found[rank] = measure(Rank(rank), seconds=0.5, largest=2048)

    threads = [threading.Thread(target=work, args=(rank,), daemon=True) for rank in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60.0)
    assert calls[0] == calls[1]
    assert calls[0].count(str(2**27)) > LEAST_RUNS
    assert max(spent_s.values()) == pytest.approx(2.0 * min(spent_s.values()))
    assert [len(found[rank].timings) for rank in (0, 1)] == [len(found[0].timings)] * 2
    assert any("out of memory" in note for note in found[1].notes)
    assert any("every rank" in note for note in found[0].notes)


# ---- refusal


def test_without_pytorch_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigError, match="--backend numpy"):
        backend_named("torch")


def test_an_unknown_backend_or_device_is_refused() -> None:
    with pytest.raises(ConfigError, match="one of: numpy, torch"):
        backend_named("jax")
    with pytest.raises(ConfigError, match="one of: cuda, cuda:N, cpu"):
        backend_named("torch", "tpu")
    with pytest.raises(ConfigError, match="--backend torch"):
        backend_named("numpy", "cuda:3")


def test_nothing_measured_is_refused() -> None:
    class Broken(Alone):
        def product(self, m: int, n: int, k: int, precision: str) -> Callable[[], float]:
            raise RuntimeError("no kernel image is available")

    with pytest.raises(ConfigError, match="no kernel image"):
        measure(Broken(), seconds=0.0)


def test_a_folder_is_no_file_to_write(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is a folder"):
        write_accelerator("", tmp_path)


def test_a_device_is_not_put_away_for_a_file(tmp_path: Path) -> None:
    link = tmp_path / "null.toml"
    link.symlink_to("/dev/null")
    with pytest.raises(ConfigError, match="is not a regular file; name another"):
        write_accelerator("", link)
    assert link.is_symlink()
