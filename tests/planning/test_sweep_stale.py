"""Sweeps: no answer outlives what it came from, half a file is none, no worker is left over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from steptime.cli.main import run
from steptime.inputs import digest
from steptime.inputs.constants import published_constants
from steptime.inputs.datafiles import data_path
from steptime.inputs.errors import ConfigError
from steptime.inputs.parquet import finished_keys, read_rows
from steptime.inputs.presets import accelerator, model
from steptime.inputs.said import Said
from steptime.planning import task as tasks
from steptime.planning.question import Question
from steptime.planning.sweep import run_sweep
from steptime.planning.task import task_of
from steptime.planning.workers import ProcessPool

QUESTION = Question(
    model=model("llama3-8b"),
    accelerator=accelerator("h100"),
    num_devices=8,
    global_batch_size=32,
    seq_length=4096,
    predictor="roofline",
)
SHARE = 0.2
SLOW = replace(QUESTION, constants=published_constants().changed({"hopper_efficiency": SHARE}))
PLAN = (
    'models = ["llama3-8b"]\naccelerators = ["h100"]\ngpus = [{gpus}]\n'
    "global_batch_sizes = [{batches}]\nseq_lengths = [4096]\n"
)


def times(folder: Path) -> list[float]:
    return [row["step_time_s"] for row in read_rows(folder).to_pylist() if row["rank"] == 1]


# --- invariant: an answer is of what was asked, with the constants that it was asked with


def test_the_key_changes_with_whatever_the_answer_comes_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = task_of(QUESTION)
    keys = {asked.key, replace(asked, digest="other").key}
    published = published_constants()
    for name, value in published.values().items():
        changed = published.changed({name: value + 1.0})
        keys.add(replace(asked, question=replace(QUESTION, constants=changed)).key)
    keys.add(replace(asked, question=replace(QUESTION, said=Said(facts=(("flash", 0.0),)))).key)
    keys.add(replace(asked, question=replace(QUESTION, hbm_share=0.5)).key)
    device = replace(QUESTION.accelerator, watt=1.0)
    keys.add(replace(asked, question=replace(QUESTION, accelerator=device)).key)
    monkeypatch.setattr(tasks, "__version__", "9.9")
    keys.add(asked.key)
    assert len(keys) == 6 + len(published.values())


def test_the_digest_is_of_every_formula_and_datum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, data = tmp_path / "steptime", tmp_path / "data"
    for path in (package / "formulas/a.py", package / "cli/b.py", data / "c.toml", data / "d.md"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("old")
    monkeypatch.setattr(digest, "_PACKAGE", package)
    monkeypatch.setattr(digest, "data_path", lambda name: data / name)
    seen = {digest.source_digest.__wrapped__()}
    for path, changes in (
        (package / "cli/b.py", False),
        (data / "d.md", False),
        (package / "formulas/a.py", True),
        (data / "c.toml", True),
    ):
        path.write_text("new")
        found = digest.source_digest.__wrapped__()
        assert (found not in seen) == changes
        seen.add(found)


def test_every_room_that_a_search_imports_is_in_the_digest() -> None:
    code = (
        "import sys, steptime.planning.sweep\n"
        "print(*(m.split('.')[1] for m in sys.modules if m.startswith('steptime.')))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    hashed = {name.split("/")[0] for name, _ in digest._files()}
    assert set(done.stdout.split()) <= hashed
    assert data_path("roofline_constants.toml").name in {path.name for _, path in digest._files()}


@pytest.mark.parametrize("kind", [None, ThreadPoolExecutor, ProcessPool])
def test_constants_travel_with_the_question(
    kind: Callable[[int], Executor] | None, tmp_path: Path
) -> None:
    run_sweep([SLOW], tmp_path / "slow")
    run_sweep([QUESTION], tmp_path / "both")
    # Workers that were there before, and know nothing of the constants asked for.
    executor = kind(1) if kind else None
    if executor:
        executor.submit(int).result()
    report = run_sweep([SLOW], tmp_path / "both", executor=executor)
    assert run_sweep([SLOW], tmp_path / "both").skipped == 1
    # And what was asked before is still there, by its own constants.
    assert run_sweep([QUESTION], tmp_path / "both", executor=executor).skipped == 1
    if executor:
        executor.shutdown()
    assert (report.done, report.skipped, report.others) == (1, 0, 1)
    fast, slow = sorted(times(tmp_path / "both"))
    assert [slow] == times(tmp_path / "slow")
    assert slow > 2.0 * fast
    assert len(set(read_rows(tmp_path / "both")["answered_by"].to_pylist())) == 2


def test_the_command_answers_by_the_constants_it_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, mine, out = tmp_path / "plan.toml", tmp_path / "mine.toml", tmp_path / "out"
    plan.write_text(PLAN.format(gpus=8, batches=32))
    found = []
    for share in (None, 0.2, 0.3, 0.2):
        words = ["sweep", str(plan), "--out", str(out)]
        if share is not None:
            # The same file with other constants in it.
            mine.write_text(f"[constants]\nhopper_efficiency = {share}\n")
            words = ["--constants", str(mine), *words]
        assert run(words) == 0
        found.append(capsys.readouterr().out.split()[0])
    assert found == ["1", "1", "1", "0"]
    assert len(set(times(out))) == 3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_constants_reach_the_workers_of_a_scheduler(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    plan, mine, out = tmp_path / "plan.toml", tmp_path / "mine.toml", tmp_path / "out"
    plan.write_text(PLAN.format(gpus=8, batches=32))
    mine.write_text(f"[constants]\nhopper_efficiency = {SHARE}\n")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        words = ["--constants", str(mine), "sweep", str(plan), "--out", str(out)]
        assert run([*words, "--scheduler", cluster.scheduler_address]) == 0
    run_sweep([SLOW], tmp_path / "here")
    assert times(out) == times(tmp_path / "here")


# --- limit: files and workers that were cut short


def test_a_file_that_does_not_hold_an_answer_is_redone(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    run_sweep([QUESTION], tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[60] ^= 0xFF
    for content in (b"", whole[:-1], whole[: len(whole) // 2], b"x" * 99, bytes(flipped)):
        path.write_bytes(content)
        assert finished_keys(tmp_path) == set()
        report = run_sweep([QUESTION], tmp_path)
        assert (report.done, report.skipped) == (1, 0)
        assert path.read_bytes() == whole
    pq.write_table(pa.table({"rank": pa.array([], pa.int64())}), path)
    assert run_sweep([QUESTION], tmp_path).done == 1


def test_a_sweep_that_is_killed_while_it_writes_is_gone_on_with(tmp_path: Path) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(PLAN.format(gpus=8, batches="32, 64"))
    code = (
        "import os, pathlib, signal, sys\n"
        "import steptime.cli\n"
        "pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.argv[0] = 'steptime'\n"
        "steptime.cli.main()"
    )
    words = ["sweep", str(plan), "--out", str(out)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code, *words], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    # What was being written is there under a name that no reader looks for.
    assert [path.suffix for path in out.iterdir()] == [".part"]
    assert run(words) == 0
    assert len(times(out)) == 2


def workers_of(pid: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads Linux's /proc")
def test_workers_end_when_the_sweep_is_killed(tmp_path: Path) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(PLAN.format(gpus="512, 1024", batches="1024, 2048, 4096, 8192"))
    words = ["steptime", "sweep", str(plan), "--out", str(out), "--processes", "2"]
    sweep = subprocess.Popen(
        [sys.executable, "-m", *words],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 60.0
        while len(workers := workers_of(sweep.pid)) < 3 and time.monotonic() < end:
            time.sleep(0.05)
        # Two workers, and what keeps account of their semaphores.
        assert len(workers) == 3
        assert sweep.poll() is None
    finally:
        sweep.send_signal(signal.SIGKILL)
        sweep.wait()
    end = time.monotonic() + 30.0
    while any(map(running, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(running, workers))


# --- refusal


def test_a_worker_with_other_code_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = replace(task_of(QUESTION), digest="of the asker's code")
    monkeypatch.setattr("steptime.planning.sweep.task_of", lambda question: asked)
    with (
        ThreadPoolExecutor(max_workers=1) as executor,
        pytest.raises(ConfigError, match="runs other code or data than this steptime"),
    ):
        run_sweep([QUESTION], tmp_path, executor=executor)
    assert list(tmp_path.iterdir()) == []
