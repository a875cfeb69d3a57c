"""Many questions: none may come back without an end, and none may be lost.

``python bench/load.py [--questions 100000] [--searches 10000] [--write]``. First random questions
through the one door: each is answered with finite numbers or refused in a line, and memory stays
flat. Then a sweep of small searches on Dask while its workers are killed at random: every answer
is there once, and those of a sample equal what is answered here. ``--write`` puts the counts into
CONTRIBUTING.md.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import os
import random
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "answer"))

import pyarrow.parquet as pq
from door_questions import drawn

from steptime.answer import predict
from steptime.inputs.errors import ConfigError
from steptime.inputs.parquet import all_keys
from steptime.inputs.presets import accelerator, model
from steptime.planning.question import Question
from steptime.planning.sweep import answer, run_sweep
from steptime.planning.task import task_of
from written import ROOT, put, table

Row = list[object]
HEAD = (
    *("", "asked", "answered", "refused in a line"),
    *("workers killed", "lost", "too many", "wrong", "MiB more"),
)
WARM = 2_000
SAMPLE = 50
# Mebibytes that a hundred thousand questions may add to what the first ones took.
FLAT_MIB = 24.0
# Answers from one death to the next, at random: by the clock, a busy machine would answer nothing.
KILL_AFTER = (10, 150)
# A worker that starts again reads code and data, on a busy machine for minutes.
PATIENCE_S = 600.0


def peak_mib() -> float:
    """Return the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def fault_of(asked: dict[str, Any]) -> str | None:
    """Return what is wrong with the answer to a question; empty if nothing is, None if refused."""
    try:
        found = predict(**asked)
    except ConfigError as error:
        return None if str(error) and "\n" not in str(error) else "refused in other than a line"
    times = [found.step_time_s, *found.breakdown_s.values(), found.total_bytes]
    ends = [found.step_time_low_s, found.step_time_high_s, found.fit_probability]
    numbers = [*times, *(one for one in ends if one is not None)]
    if not all(math.isfinite(one) and one >= 0.0 for one in numbers):
        return f"numbers {numbers}"
    if not 0.0 < sum(found.breakdown_s.values()) <= found.step_time_s * (1.0 + 1e-9):
        return "parts that are not the step"
    return ""


def ask(count: int) -> tuple[bool, Row]:
    """Ask random questions; return whether each ended as it should, and a row of the table."""
    draw = random.Random(count)
    faults: list[str] = []
    answered = 0
    warm_mib = 0.0
    start = time.perf_counter()
    for place in range(count):
        asked = drawn(draw)
        try:
            fault = fault_of(asked)
        except Exception as error:
            fault = repr(error)
        answered += fault == ""
        if fault:
            faults.append(f"{asked}: {fault}")
        if place == WARM:
            warm_mib = peak_mib()
    seconds, grown = time.perf_counter() - start, peak_mib() - warm_mib
    print(
        f"{count:,} questions in {seconds:.0f} s: {answered:,} answered, {len(faults)} faults, "
        f"{grown:.1f} MiB grown"
    )
    for fault in faults[:10]:
        print(f"  {fault}")
    row = ["questions", count, answered, count - answered - len(faults), "", "", "", len(faults)]
    return not faults and (count <= WARM or grown < FLAT_MIB), [*row, f"{grown:.1f}"]


def small_questions(count: int) -> list[Question]:
    """Return as many searches of a few layouts each."""
    names = ("llama3-8b", "llama2-7b", "mistral-7b", "mixtral-8x7b")
    devices = ("a100-80gb", "h100", "h200", "b200")
    lengths, batches = range(512, 4096, 16), (4, 8, 16)
    every = itertools.product(names, devices, lengths, batches)
    return [
        Question(
            model=model(name),
            accelerator=accelerator(device),
            num_devices=2,
            global_batch_size=batch,
            seq_length=length,
        )
        for name, device, length, batch in itertools.islice(every, count)
    ]


def resident_mib() -> float:
    """Return the memory that this process, with Dask's scheduler in it, holds now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1024.0**2


class Watch:
    """Looks on while answers come: kills a worker after some of them, and notes the memory held."""

    def __init__(self, count: int) -> None:
        self.draw = random.Random(count)
        self.held: dict[int, float] = {}
        self.killed = 0
        self.there: set[int] = set()
        self.next = self.draw.randint(*KILL_AFTER)

    def look(self, client: Any, done: int, of: int) -> None:
        """Be called with each answer."""
        if done % (of // 20 or 1) == 0 and done not in self.held:
            self.held[done] = resident_mib()
            print(
                f"  {done:,} of {of:,}, {self.killed} killed, {self.held[done]:.0f} MiB held",
                flush=True,
            )
        if done >= self.next:
            self.next = done + self.draw.randint(*KILL_AFTER)
            # Of those that were there at the last look too: Dask's nanny gives up a worker that
            # dies while it starts.
            pids = set(client.run(os.getpid, on_error="ignore").values())
            if both := sorted(pids & self.there):
                self.killed += 1
                os.kill(self.draw.choice(both), signal.SIGKILL)
            self.there = pids

    @property
    def grown_mib(self) -> float:
        """Memory added since a tenth was done, which fills caches and the scheduler's log."""
        levels = list(self.held.values())
        return levels[-1] - levels[min(2, len(levels) - 1)]


def swept(questions: list[Question], folder: Path, watch: Watch) -> None:
    """Sweep on workers that are killed."""
    from distributed import Client, LocalCluster

    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        LocalCluster(processes=True, silence_logs=50, **settings) as cluster,
        Client(cluster) as client,
    ):
        run_sweep(
            questions,
            folder,
            executor=client.get_executor(),
            progress=functools.partial(watch.look, client),
            patience_s=PATIENCE_S,
        )


def sweep(count: int, folder: Path) -> tuple[bool, Row]:
    """Sweep; return whether each answer is there, once, right, in flat memory, and a row."""
    questions = small_questions(count)
    tasks = {task.key: task for task in map(task_of, questions)}
    before = len(all_keys(folder) & tasks.keys())
    start = time.perf_counter()
    watch = Watch(count)
    swept(questions, folder, watch)
    seconds = time.perf_counter() - start
    there = all_keys(folder)
    sample = random.Random(count).sample(sorted(tasks), min(SAMPLE, len(tasks)))
    kept = {key: pq.read_table(folder / f"{key}.parquet").to_pylist() for key in sample}
    wrong = [key for key in sample if kept[key] != answer(tasks[key])]
    lost, more = len(tasks.keys() - there), len(there - tasks.keys())
    print(
        f"{len(tasks):,} searches ({before:,} done before) in {seconds:.0f} s, {watch.killed} "
        f"workers killed: {lost} lost, {more} too many, {len(wrong)} of {len(sample)} differ, "
        f"{watch.grown_mib:.1f} MiB grown"
    )
    row = ["searches", count, len(tasks) - lost, "", watch.killed, lost, more, len(wrong)]
    whole = len(tasks) == count and watch.grown_mib < FLAT_MIB and not (lost or more or wrong)
    return whole, [*row, f"{watch.grown_mib:.1f}"]


def main() -> int:
    """Run both; return 1 if one of them failed."""
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    words.add_argument("--questions", type=int, default=100_000)
    words.add_argument("--searches", type=int, default=10_000)
    words.add_argument("--folder", type=Path, help="keep the answers there, and go on from it")
    words.add_argument("--write", action="store_true", help="the counts into CONTRIBUTING.md")
    given = words.parse_args()
    found = [ask(given.questions)] if given.questions else []
    if given.searches:
        with tempfile.TemporaryDirectory() as name:
            found.append(sweep(given.searches, given.folder or Path(name)))
    if given.write:
        put(ROOT / "CONTRIBUTING.md", "load", table(HEAD, [row for _, row in found]))
    return not all(whole for whole, _ in found)


if __name__ == "__main__":
    sys.exit(main())
