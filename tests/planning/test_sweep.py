"""Sweeps: resumable, on threads, processes and Dask, with a worker killed on the way."""

from __future__ import annotations

import functools
import os
import signal
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from steptime.inputs.errors import ConfigError
from steptime.inputs.parquet import finished_keys, read_rows, write_rows
from steptime.inputs.presets import accelerator, model
from steptime.planning import sweep as sweeps
from steptime.planning.question import Question
from steptime.planning.search import search
from steptime.planning.sweep import answer, questions_of, run_sweep
from steptime.planning.task import Task, task_of
from steptime.planning.workers import ProcessPool

H100 = accelerator("h100")


def questions() -> list[Question]:
    return questions_of(
        models=[model("llama3-8b"), model("mistral-7b")],
        accelerators=[H100],
        gpus=[8, 16, 32],
        global_batch_sizes=[32, 64],
        seq_lengths=[4096],
    )


# --- invariant


def test_a_sweep_holds_what_each_search_finds(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    report = run_sweep(questions(), tmp_path, progress=lambda done, of: seen.append((done, of)))
    assert (report.done, report.skipped, report.failed) == (12, 0, ())
    assert seen == [(done, 12) for done in range(13)]
    table = read_rows(tmp_path).to_pylist()
    best = {
        (row["model"], row["num_gpus"], row["global_batch_size"]): row
        for row in table
        if row["rank"] == 1
    }
    assert len(best) == 12
    for asked in questions():
        row = best[asked.model.name, asked.num_devices, asked.global_batch_size]
        found = search(asked, keep=1).best[0]
        assert row["step_time_s"] == found.step_time_s
        assert row["tp"] == found.layout.tp


def test_a_second_start_skips_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = questions()
    run_sweep(asked[:5], tmp_path)
    calls: list[Question] = []

    def counted(task: Task) -> list[dict[str, Any]]:
        calls.append(task.question)
        return answer(task)

    monkeypatch.setattr(sweeps, "answer", counted)
    report = run_sweep(asked, tmp_path)
    assert (report.done, report.skipped) == (7, 5)
    assert calls == asked[5:]
    assert run_sweep(asked, tmp_path).done == 0


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPool])
def test_executors_give_the_same_rows(kind: Any, tmp_path: Path) -> None:
    run_sweep(questions()[:4], tmp_path / "here")
    with kind(2) as executor:
        run_sweep(questions()[:4], tmp_path / "there", executor=executor)
    assert read_rows(tmp_path / "there").equals(read_rows(tmp_path / "here"))


def test_a_question_without_an_answer_leaves_a_row(tmp_path: Path) -> None:
    large = replace(questions()[0], model=model("llama3-405b"))
    assert run_sweep([large], tmp_path).done == 1
    (row,) = read_rows(tmp_path).to_pylist()
    assert (row["rank"], row["step_time_s"], row["num_fitting"]) == (None, None, 0)


def test_the_key_changes_with_the_question() -> None:
    keys = {task_of(asked).key for asked in questions()}
    assert len(keys) == 12
    assert task_of(questions()[0]).key in keys


# --- limit: workers that die


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_dask_finishes_although_each_worker_is_killed(tmp_path: Path) -> None:
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    # No worker starts again in that time: Dask by itself would give up both.
    soon = dask.config.set({"distributed.deploy.lost-worker-timeout": "10 ms"})
    with soon, cluster, distributed.Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
        assert len(set(pids)) == 2
        killed: list[int] = []

        def kill_once(done: int, of: int) -> None:
            if done == 2 and not killed:
                killed.extend(pids)
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)

        report = run_sweep(
            questions(), tmp_path, executor=client.get_executor(), progress=kill_once
        )
    assert killed
    assert (report.done, report.failed) == (12, ())
    assert len(finished_keys(tmp_path)) == 12


class Broken(ThreadPoolExecutor):
    """An executor whose workers are lost once the second question is answered."""

    count = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.count += 1
        if self.count > 2:
            return self.open.setdefault(self.count, Future())
        return super().submit(fn, *args, **kwargs)

    @functools.cached_property
    def open(self) -> dict[int, Future[Any]]:
        """What was asked of those that are lost."""
        return {}

    def lose(self, done: int, _: int) -> None:
        """Lose them, as a sweep tells how many questions are settled."""
        if done == 2:
            for future in self.open.values():
                future.set_exception(RuntimeError("worker died"))


def test_lost_workers_are_said_and_the_rest_can_be_asked_again(tmp_path: Path) -> None:
    asked = questions()[:4]
    with (
        Broken(max_workers=1) as executor,
        pytest.raises(ConfigError, match=r"with 2 questions open; .* start again to go on"),
    ):
        run_sweep(asked, tmp_path, executor=executor, progress=executor.lose)
    report = run_sweep(asked, tmp_path)
    assert report.done + report.skipped == 4


# --- refusal


def test_bad_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"holds no \.parquet files"):
        read_rows(tmp_path)
    (tmp_path / "x.parquet").write_text("no")
    with pytest.raises(ConfigError, match=r"x\.parquet is no Parquet file"):
        read_rows(tmp_path)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(ConfigError, match="cannot write"):
        write_rows(file / "folder", "a", [{"x": 1}])


def test_no_part_of_a_file_is_left_behind(tmp_path: Path) -> None:
    write_rows(tmp_path, "a", [{"x": 1}])
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]
