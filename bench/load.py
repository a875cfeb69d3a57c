"""Many questions: none may come back without an end, and none may be lost.

``python bench/load.py [--questions 100000] [--searches 10000]``. First random questions through
the one door: each is answered with finite numbers or refused in a line, and memory stays flat.
Then a sweep of small searches on Dask while its workers are killed at random: every answer is
there once, and those of a sample equal what is answered here.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import random
import resource
import signal
import sys
import tempfile
import threading
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

WARM = 2_000
SAMPLE = 50
# Mebibytes that a hundred thousand questions may add to what the first ones took.
FLAT_MIB = 24.0
# A worker takes seconds to start again and to read the data.
KILL_EVERY_S = 20.0


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


def ask(count: int) -> bool:
    """Ask random questions; return whether all were answered or refused as they should be."""
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
    return not faults and (count <= WARM or grown < FLAT_MIB)


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


def sweep(count: int) -> bool:
    """Sweep on workers that are killed; return whether each answer is there, once and right."""
    from distributed import Client, LocalCluster

    questions = small_questions(count)
    stop, killed = threading.Event(), 0
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        tempfile.TemporaryDirectory() as name,
        LocalCluster(processes=True, silence_logs=50, **settings) as cluster,
        Client(cluster) as client,
    ):
        draw = random.Random(count)

        def kill() -> None:
            nonlocal killed
            while not stop.wait(KILL_EVERY_S):
                # Of those at work: one that dies while it starts is given up by its nanny.
                pids = sorted(client.run(os.getpid, on_error="ignore").values())
                if pids:
                    os.kill(draw.choice(pids), signal.SIGKILL)
                    killed += 1

        thread = threading.Thread(target=kill, daemon=True)
        thread.start()
        start = time.perf_counter()
        report = run_sweep(questions, Path(name), executor=client.get_executor())
        seconds = time.perf_counter() - start
        stop.set()
        thread.join()
        tasks = {task.key: task for task in map(task_of, questions)}
        there = all_keys(Path(name))
        sample = draw.sample(sorted(tasks), min(SAMPLE, len(tasks)))
        kept = {key: pq.read_table(Path(name) / f"{key}.parquet").to_pylist() for key in sample}
        wrong = [key for key in sample if kept[key] != answer(tasks[key])]
    lost, more = len(tasks.keys() - there), len(there - tasks.keys())
    print(
        f"{len(tasks):,} searches in {seconds:.0f} s, {killed} workers killed: {lost} lost, "
        f"{more} too many, {len(report.failed)} refused, {len(wrong)} of {len(sample)} differ"
    )
    return report.done == len(tasks) and not (lost or more or wrong)


def main() -> int:
    """Run both; return 1 if one of them failed."""
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    words.add_argument("--questions", type=int, default=100_000)
    words.add_argument("--searches", type=int, default=10_000)
    given = words.parse_args()
    whole = ask(given.questions) if given.questions else True
    return not ((sweep(given.searches) if given.searches else True) and whole)


if __name__ == "__main__":
    sys.exit(main())
