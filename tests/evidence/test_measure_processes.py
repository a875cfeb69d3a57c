"""One server measured by processes, then a cluster of such servers predicted."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy")

import numpy as np

from steptime.cli.main import run
from steptime.evidence.measure import measure
from steptime.evidence.measure_backends import backend_named
from steptime.evidence.measure_file import measured_accelerator
from steptime.evidence.measure_processes import ProcessesBackend, summed
from steptime.inputs.errors import ConfigError

MEASURE = "measure --backend numpy --processes 2 --seconds 0.4 --largest 1024".split()


class Others:
    """The other two of three processes: they add their parts up while the first waits."""

    def __init__(self, memory: SharedMemory) -> None:
        self.memory = memory

    def buffers(self) -> Any:
        return np.ndarray((4, 7), dtype=np.float32, buffer=self.memory.buf)

    def wait(self, _: float) -> None:
        every = self.buffers()
        for rank in (1, 2):
            first, last = 7 * rank // 3, 7 * (rank + 1) // 3
            every[3, first:last] = every[:3, first:last].sum(axis=0)


# ---- invariant


def test_a_buffer_is_added_up_over_all() -> None:
    others = Others(SharedMemory(create=True, size=4 * 7 * 4))
    others.buffers()[:3] = np.arange(21).reshape(3, 7)
    summed(others.memory, 0, 3, 28, others)
    # Columns of 0, 7 and 14, and so on.
    assert others.buffers()[0].tolist() == [21.0 + 3.0 * place for place in range(7)]
    others.memory.close()
    others.memory.unlink()


def test_processes_measure_products_copies_and_what_joins_them() -> None:
    backend = ProcessesBackend(2)
    try:
        found = measure(backend, seconds=0.3, largest=1024, date="2026-01-01")
    finally:
        backend.close()
    assert {one.kind for one in found.timings} == {"product", "copy", "all-reduce"}
    assert found.ranks == 2
    device = measured_accelerator(found, "node", None)
    assert device.nvlink_domain == 2
    # What joins them is what the ring reached, over the share that a ring reaches.
    assert device.nvlink_bytes_per_s == pytest.approx(found.best("all-reduce") / 0.8)
    assert all(not process.is_alive() for process in backend._others)


# ---- one node measured, the cluster predicted


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the file of a measured server whose network was stated."""
    path = tmp_path_factory.mktemp("measured") / "node.toml"
    assert run([*MEASURE, "--network-gbit", "25", "--out", str(path)]) == 0
    return str(path)


Told = Callable[..., dict[str, object]]


@pytest.fixture
def told(node: str, capsys: pytest.CaptureFixture[str]) -> Told:
    def predict(*more: str) -> dict[str, object]:
        words = "predict -m gpt-1.7b -s 2048 -B 64 --tp 2 --dp 4 --json".split()
        assert run([*words, "-a", node, *more]) == 0
        answer: dict[str, object] = json.loads(capsys.readouterr().out)
        return answer

    return predict


def test_a_cluster_of_measured_servers_is_predicted(node: str, told: Told) -> None:
    (entry,) = tomllib.loads(Path(node).read_text(encoding="utf-8")).values()
    assert (entry["nvlink_domain"], entry["network_gbit_per_s"]) == (2, 25.0)
    answer = told()
    assert (answer["accelerator"], answer["num_gpus"]) == ("my-gpu", 8)
    parts = answer["breakdown_s"]
    assert isinstance(parts, dict)
    assert min(parts["compute"], parts["tensor_parallel"], parts["data_parallel"]) > 0.0


def test_the_network_moves_what_crosses_it_and_nothing_else(told: Told) -> None:
    here, slow = told()["breakdown_s"], told("--network-gbit", "2.5")["breakdown_s"]
    assert isinstance(here, dict)
    assert isinstance(slow, dict)
    assert slow["data_parallel"] > 5.0 * here["data_parallel"]
    assert (slow["compute"], slow["tensor_parallel"]) == (here["compute"], here["tensor_parallel"])


# ---- refusal


@pytest.mark.parametrize(
    ("name", "processes", "words"),
    [("numpy", 0, "--processes"), ("torch", 2, "--processes belongs to --backend numpy")],
)
def test_processes_that_cannot_be_started_are_refused(
    name: str, processes: int, words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        backend_named(name, "cpu", processes)
