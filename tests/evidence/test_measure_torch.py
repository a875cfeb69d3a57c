"""Timing by PyTorch: its calls on a stand-in without a GPU, and really, on a CPU, if it is here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steptime.evidence.measure import measure
from steptime.evidence.measure_backends import backend_named
from steptime.evidence.measure_file import accelerator_toml, measured_accelerator, write_accelerator
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import accelerator

RANKS = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")


@pytest.fixture(autouse=True)
def no_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*RANKS, "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)


class StandIn:
    """The part of PyTorch that is called, on a GPU whose clock counts the calls."""

    def __init__(self, *, name: str = "NVIDIA H200", major: int = 9, minor: int = 0) -> None:
        self.calls: list[str] = []
        self.clock_ms = 0.0
        facts = SimpleNamespace(
            name=name, major=major, minor=minor, multi_processor_count=132, total_memory=150e9
        )
        self.cuda = SimpleNamespace(
            is_available=lambda: True,
            device_count=lambda: 1,
            set_device=lambda index: self.calls.append(f"set {index}"),
            current_device=lambda: 0,
            get_device_properties=lambda _: facts,
            Event=lambda enable_timing: _Event(self),
        )
        self.version = SimpleNamespace(cuda="13.2", hip=None)
        self.__version__ = "2.15.0"
        self.float32, self.bfloat16, self.int8, self.int32 = "f32", "bf16", "i8", "i32"
        self.float8_e4m3fn = "f8"
        self.finfo = lambda _: SimpleNamespace(bits=16)
        self.distributed = SimpleNamespace(
            is_available=lambda: True,
            is_initialized=lambda: False,
            init_process_group=lambda kind, timeout: self.calls.append(f"init {kind}"),
            new_group=lambda members: self.calls.append(f"group {members}") or tuple(members),  # type: ignore[func-returns-value]
            all_reduce=lambda *_, **__: self.calls.append("all_reduce"),
            ReduceOp=SimpleNamespace(MAX="max"),
        )

    def tensor(self, *size: Any, **_: Any) -> Any:
        return _Tensor(self)

    randn = empty = ones = zeros = tensor

    def empty_like(self, _: Any) -> Any:
        return _Tensor(self)

    def matmul(self, a: Any, b: Any, out: Any) -> None:
        self.calls.append("matmul")
        self.clock_ms += 1.0

    def _scaled_mm(self, a: Any, b: Any, **options: Any) -> None:
        assert options["out_dtype"] == "bf16"
        self.calls.append("scaled")
        self.clock_ms += 0.5


class _Tensor:
    def __init__(self, torch: StandIn) -> None:
        self.torch = torch

    def t(self) -> _Tensor:
        return self

    def to(self, _: str) -> _Tensor:
        return self

    def copy_(self, _: Any) -> None:
        self.torch.calls.append("copy")
        self.torch.clock_ms += 2.0

    def zero_(self) -> None:
        self.torch.calls.append("flush")
        self.torch.clock_ms += 0.1

    def item(self) -> float:
        return 1.0


class _Event:
    def __init__(self, torch: StandIn) -> None:
        self.torch, self.at_ms = torch, 0.0

    def record(self) -> None:
        self.torch.calls.append("record")
        self.at_ms = self.torch.clock_ms

    def synchronize(self) -> None:
        self.torch.calls.append("wait")

    def elapsed_time(self, end: _Event) -> float:
        return end.at_ms - self.at_ms


def use(monkeypatch: pytest.MonkeyPatch, torch: StandIn) -> StandIn:
    monkeypatch.setitem(sys.modules, "torch", torch)
    return torch


# ---- invariant


def test_a_run_is_timed_between_two_events_after_the_cache_was_filled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch = use(monkeypatch, StandIn())
    backend = backend_named("torch")
    torch.calls.clear()
    assert backend.product(1024, 1024, 1024, "bf16")() == pytest.approx(1e-3)
    assert torch.calls == ["flush", "record", "matmul", "record", "wait"]
    assert backend.product(1024, 1024, 1024, "fp8")() == pytest.approx(5e-4)
    assert backend.copy(2**20)() == pytest.approx(2e-3)
    assert backend.all_reduce(2**20) is None


def test_an_h200_is_measured_with_no_more_than_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, StandIn())
    found = measure(backend_named("torch"), seconds=0.0)
    assert (found.device.name, found.device.generation) == ("NVIDIA H200", "hopper")
    assert len(found.timings) == 2 * 14 + 4
    made = measured_accelerator(found, "mine", accelerator("h200"))
    assert made.hbm_bytes == 150e9
    assert made.num_sms == 132


@pytest.mark.parametrize(
    ("major", "minor", "generation", "precisions"),
    [
        (8, 0, "ampere", ("bf16",)),
        (8, 9, "", ("bf16", "fp8")),
        (9, 0, "hopper", ("bf16", "fp8")),
        (10, 3, "blackwell", ("bf16", "fp8")),
        (12, 0, "", ("bf16", "fp8")),
    ],
)
def test_generations_by_capability(
    monkeypatch: pytest.MonkeyPatch,
    major: int,
    minor: int,
    generation: str,
    precisions: tuple[str, ...],
) -> None:
    use(monkeypatch, StandIn(major=major, minor=minor))
    backend = backend_named("torch")
    assert (backend.device.generation, backend.precisions) == (generation, precisions)


def test_amds_capability_is_no_hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = StandIn(name="AMD Instinct MI300X", major=9, minor=4)
    torch.version = SimpleNamespace(cuda=None, hip="6.4")
    use(monkeypatch, torch)
    backend = backend_named("torch")
    assert (backend.device.generation, backend.precisions) == ("", ("bf16",))
    assert "HIP 6.4" in backend.device.versions


def test_ranks_meet_on_their_server_and_across(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = use(monkeypatch, StandIn())
    torch.cuda.device_count = lambda: 2
    told = {"MASTER_ADDR": "a", "RANK": "3", "WORLD_SIZE": "4"}
    for name, text in (told | {"LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}).items():
        monkeypatch.setenv(name, text)
    backend = backend_named("torch")
    assert torch.calls == [
        "set 1",
        "init nccl",
        *("group [0, 1]", "group [2, 3]", "group [0, 2]", "group [1, 3]"),
    ]
    assert (backend.rank, backend.ranks, backend.node_ranks) == (3, 4, 2)
    assert backend.all_reduce(2**20) is not None
    assert backend.all_reduce(2**20, across=True) is not None


def test_a_world_size_without_an_address_is_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, StandIn())
    monkeypatch.setenv("WORLD_SIZE", "8")
    assert backend_named("torch").ranks == 1


# ---- refusal


def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = use(monkeypatch, StandIn())
    with pytest.raises(ConfigError, match="no device cuda:3: PyTorch finds 1"):
        backend_named("torch", "cuda:3")
    torch.cuda.is_available = lambda: False
    with pytest.raises(ConfigError, match="finds no GPU here; use --device cpu"):
        backend_named("torch")


# ---- with PyTorch itself


def test_pytorch_measures_this_cpu(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    backend = backend_named("torch", "cpu")
    assert backend.product(64, 64, 64, "fp8")() > 0.0
    found = measure(backend, seconds=0.2, largest=1024)
    made = measured_accelerator(found, "cpu", None)
    write_accelerator(accelerator_toml(made, found), tmp_path / "cpu.toml")
    assert accelerator(str(tmp_path / "cpu.toml")).matmul_flop_per_s > 1e8


def test_two_processes_measure_their_link(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    words = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    words += ["--standalone", "-m", "steptime", "measure", "--device", "cpu"]
    words += ["--seconds", "1", "--largest", "1024", "--out", str(tmp_path / "two.toml")]
    subprocess.run(words, check=True, timeout=120, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert "all-reduce" in (tmp_path / "two.toml").read_text(encoding="utf-8")
    assert accelerator(str(tmp_path / "two.toml")).nvlink_domain == 2
