"""Work on an executor: few pieces open, none kept, and an end where no worker is left."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import accelerator, model
from steptime.planning import gather
from steptime.planning.gather import NEVER, NoWorkersError, gathered, workers_left
from steptime.planning.question import Question
from steptime.planning.sweep import run_sweep

QUESTION = Question(
    model=model("llama3-8b"),
    accelerator=accelerator("h100"),
    num_devices=2,
    global_batch_size=8,
    seq_length=512,
)


class Client:
    """Dask's client as far as a sweep asks it: its workers, or that it cannot be reached."""

    def __init__(self, *counts: int | None) -> None:
        self.counts = list(counts)
        self.asked = 0
        self.cluster: Any = None

    def nthreads(self) -> dict[str, int]:
        count = self.counts[min(self.asked, len(self.counts) - 1)]
        self.asked += 1
        if count is None:
            raise OSError("no scheduler")
        return {f"worker {place}": 1 for place in range(count)}


class Waiting(ThreadPoolExecutor):
    """An executor of Dask's kind, which works when it is told to and not before."""

    def __init__(self, client: Client) -> None:
        super().__init__(1)
        self._client = client
        self.futures: list[weakref.ref[Future[Any]]] = []
        self.most = 0
        self.works = threading.Event()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        def later() -> Any:
            self.works.wait(60.0)
            return fn(*args, **kwargs)

        future = super().submit(later)
        self.futures = [one for one in self.futures if one() is not None]
        self.futures.append(weakref.ref(future))
        self.most = max(self.most, len(self.futures))
        return future


@contextmanager
def waiting(*counts: int | None) -> Iterator[Waiting]:
    executor = Waiting(Client(*counts))
    try:
        yield executor
    finally:
        executor.works.set()
        executor.shutdown()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "LOOK_S", 0.01)


# --- invariant


def test_each_piece_comes_back_once_and_its_error_with_it() -> None:
    pieces = {str(number): number for number in range(300)}
    found: dict[str, float] = {}
    failed: list[str] = []
    with ThreadPoolExecutor(2) as executor:
        for name, result in gathered(executor, lambda number: 1 / number, pieces):
            assert name not in found
            try:
                found[name] = result()
            except ZeroDivisionError:
                failed.append(name)
    assert failed == ["0"]
    assert found == {str(number): 1 / number for number in range(1, 300)}


# --- limit


def test_few_pieces_are_open_and_no_answer_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "OPEN", 8)
    with waiting(1) as executor:
        executor.works.set()
        names = [name for name, _ in gathered(executor, str, {str(n): n for n in range(200)})]
    assert len(names) == 200
    # Those open, and the few just taken back.
    assert executor.most <= 2 * 8


def test_what_is_open_is_called_off_when_nobody_asks_on() -> None:
    with waiting(1) as executor:
        executor.works.set()
        pieces = gathered(executor, str, {str(number): number for number in range(50)})
        next(pieces)
        executor.works.clear()
        pieces.close()
        left = [one() for one in executor.futures]
        open_ = [one for one in left if one is not None and not one.done()]
    # The one at work cannot be called off.
    assert len(open_) <= 1


# --- workers that are gone


def test_no_worker_for_too_long_is_an_end() -> None:
    with (
        waiting(2, 0) as executor,
        pytest.raises(NoWorkersError, match="no worker for 0 s"),
    ):
        list(gathered(executor, str, {"a": 1}, patience_s=0.02))


def test_a_worker_that_comes_back_in_time_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    with waiting(0, 0, 1, 0, 0, 1, 0, 1) as executor:
        asked = executor._client

        def clock() -> float:
            # Ten seconds from one look to the next; the work is done after the last.
            if asked.asked >= len(asked.counts):
                executor.works.set()
            return 10.0 * asked.asked

        monkeypatch.setattr(gather.time, "monotonic", clock)
        monkeypatch.setattr(asked, "counts", [*asked.counts, 0])
        found = list(gathered(executor, str, {"a": 1}, patience_s=15.0))
    assert [(name, result()) for name, result in found] == [("a", "1")]


@pytest.mark.parametrize(("counts", "right"), [((3,), 3), ((0,), 0), ((None,), 0)])
def test_workers_are_counted_and_no_scheduler_has_none(
    counts: tuple[int | None, ...], right: int
) -> None:
    with waiting(*counts) as executor:
        assert workers_left(executor) == right


def test_other_executors_keep_their_own_workers() -> None:
    with ThreadPoolExecutor(1) as executor:
        assert workers_left(executor) is None


@pytest.mark.parametrize(
    ("kinds", "told"), [(("Nanny", "Nanny"), True), (("Nanny", "Worker"), False), ((), False)]
)
def test_only_workers_that_a_nanny_starts_again_are_left_to_it(
    kinds: tuple[str, ...], told: bool
) -> None:
    distributed = pytest.importorskip("distributed")
    dask, name = pytest.importorskip("dask"), "distributed.deploy.lost-worker-timeout"
    nannies = {place: Mock(spec=getattr(distributed, kind)) for place, kind in enumerate(kinds)}
    before = dask.config.get(name)
    with waiting(2) as executor:
        executor._client.cluster = SimpleNamespace(workers=nannies)
        executor.works.set()
        pieces = gathered(executor, str, {"a": 1, "b": 2})
        next(pieces)
        assert (dask.config.get(name) == NEVER) == told
        pieces.close()
    assert dask.config.get(name) == before != NEVER


def test_a_sweep_without_workers_says_so(tmp_path: Path) -> None:
    with waiting(0) as executor, pytest.raises(ConfigError) as told:
        run_sweep([QUESTION], tmp_path, executor=executor, patience_s=0.0)
    assert str(told.value) == (
        "no worker for 0 s with 1 questions open; what was answered is kept: start workers, then "
        "the sweep again to go on"
    )


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_without_workers_is_not_waited_for(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    settings = {"n_workers": 0, "dashboard_address": None}
    with (
        distributed.LocalCluster(**settings) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(ConfigError, match="no worker for 0 s with 1 questions open"),
    ):
        run_sweep([QUESTION], tmp_path, executor=client.get_executor(), patience_s=0.0)
