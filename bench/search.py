"""Layouts a second of the search, on one core, beside llm-analysis in the same run.

Seconds of the search are processor time; the cold start is by the clock, imports included.

Each search runs in a process of its own, so that its peak memory is its own too.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from core import RIVAL, rival_s

AIMS = {"baseline": 1_000_000, "roofline": 1_000_000}
AIM_FIRST_S = 1.0
AIM_MEMORY_MB = 500
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Model, accelerator, GPUs, global batch, sequence: the first one is the aim's.
CASES = (
    ("llama3-405b", "h100", 16384, 2048, 8192),
    ("gpt3-175b", "a100", 1024, 1536, 2048),
    ("deepseek-v3", "h100", 2048, 15360, 4096),
)


def busy_s(call: Callable[[], object]) -> float:
    """Return the processor time of a call: that of one core, whatever else the machine does."""
    start = time.process_time()
    call()
    return time.process_time() - start


def one_search(name: str, device: str, gpus: int, batch: int, length: int, predictor: str) -> None:
    """Search once cold and five times warm, and print what it took as JSON."""
    start = time.perf_counter()
    from steptime.inputs.presets import accelerator, model
    from steptime.planning.question import Question
    from steptime.planning.search import search

    question = Question(
        model=model(name),
        accelerator=accelerator(device),
        num_devices=gpus,
        global_batch_size=batch,
        seq_length=length,
        predictor=predictor,
    )
    result = search(question)
    cold = time.perf_counter() - start
    searched = min(busy_s(lambda: search(question)) for _ in range(5))
    pruned = min(busy_s(lambda: search(question, prune=True)) for _ in range(3))
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps(
            {
                "layouts": result.num_evaluated,
                "cold_s": cold,
                "search_s": searched,
                "pruned_s": pruned,
                "memory_mb": kilobytes / 1024,
            }
        )
    )


def measured(case: tuple[object, ...], predictor: str) -> dict[str, float]:
    """Return what one search took, in a process of its own and on one thread."""
    words = [sys.executable, __file__, *map(str, case), predictor]
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | dict.fromkeys(ONE_THREAD, "1"),
    )
    return dict(json.loads(done.stdout))


def main() -> None:
    """Print the table."""
    rival = rival_s()
    rate = 1.0 / rival["prediction_s"] if rival else None
    head = ("model", "GPUs", "predictor", "layouts", "search", "layouts/s", "aim", "cold", "peak")
    print("{:12} {:>6} {:9} {:>10} {:>9} {:>11} {:>10} {:>8} {:>8}".format(*head))
    for case in CASES:
        for predictor, aim in AIMS.items():
            took = measured(case, predictor)
            speed = took["layouts"] / took["search_s"]
            beside = f"  {speed / rate:,.0f} times {RIVAL}" if rate else ""
            print(
                f"{case[0]:12} {case[2]:>6} {predictor:9} {took['layouts']:>10,} "
                f"{took['search_s']:>7.2f} s {speed:>11,.0f} {aim:>10,} {took['cold_s']:>6.2f} s "
                f"{took['memory_mb']:>5.0f} MB{beside}"
            )
            print(f"{'':30} pruned to the same best: {took['pruned_s']:.2f} s")
    print(f"  aims: first result {AIM_FIRST_S:.0f} s cold, {AIM_MEMORY_MB} MB")
    if rate:
        print(f"{RIVAL}, silenced: {rate:,.0f} layouts/s, without a pipeline bubble")
    else:
        print(f"{RIVAL} could not be installed or run here")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sizes = [int(word) for word in sys.argv[3:6]]
        one_search(sys.argv[1], sys.argv[2], *sizes, sys.argv[6])
    else:
        sys.path.insert(0, str(Path(__file__).resolve().parent))
        main()
