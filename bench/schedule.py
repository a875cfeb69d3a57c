"""Processor time and memory of making and executing a pipeline schedule, on one core.

Run ``python bench/schedule.py`` for the headline and the growth from 10^3 to 10^7 actions.
"""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import time
from typing import Any

AIM_S = 0.15
AIM_BYTES = 200
HEADLINE = (64, 512, 2)
# Ranks, micro-batches and chunks that make about 10^3, ... 10^7 forwards and backwards.
GROWTH = ((16, 16, 2), (16, 160, 2), (16, 1600, 2), (16, 16_000, 2), (16, 156_256, 2))


def one_run(p: int, m: int, v: int) -> dict[str, Any]:
    """Return seconds for the orders, for their execution, and bytes an action at the peak."""
    from steptime.pipeline.build import build_orders
    from steptime.pipeline.durations import slot_times
    from steptime.pipeline.execute import execute

    # Kilobytes on Linux, bytes elsewhere.
    unit = 1024 if sys.platform == "linux" else 1
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    began = time.process_time()
    orders = build_orders("interleaved-1f1b", p, m, v)
    made = time.process_time()
    result = execute(orders, p * v, m, slot_times(orders, p * v, m, 1, 1, 1))
    ended = time.process_time()
    actions = sum(len(end) for end in result["ends"])
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {
        "actions": actions,
        "orders_s": made - began,
        "execute_s": ended - made,
        "total_s": ended - began,
        "bytes_per_action": (after - before) / actions,
    }


def headline(repeats: int = 7) -> dict[str, Any]:
    """Return the fastest of some runs at 64 ranks, 512 micro-batches and 2 chunks."""
    runs = []
    for _ in range(repeats):
        gc.collect()
        runs.append(one_run(*HEADLINE))
    return min(runs, key=lambda run: run["total_s"])


def growth() -> list[dict[str, Any]]:
    """Return one run a size, each in a process of its own so that its memory shows."""
    found = []
    for sizes in GROWTH:
        words = [sys.executable, __file__, *(str(size) for size in sizes)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        found.append(json.loads(done.stdout))
    return found


def main() -> None:
    """Print both tables."""
    best = headline()
    print(f"interleaved 1F1B, p = 64, m = 512, v = 2: {best['actions']:,} actions")
    print(
        f"  orders {best['orders_s'] * 1e3:.0f} ms + execution {best['execute_s'] * 1e3:.0f} ms "
        f"= {best['total_s']:.3f} s (aim {AIM_S} s)"
    )
    print("   actions      total      per action   memory per action (aim under 200 bytes)")
    for run in growth():
        each_us = run["total_s"] / run["actions"] * 1e6
        # A process under a few MB reuses what Python had already taken.
        held = f"{run['bytes_per_action']:.0f} bytes" if run["actions"] > 500_000 else "-"
        print(f"{run['actions']:>10,} {run['total_s']:>8.3f} s {each_us:>10.2f} µs {held:>15}")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        print(json.dumps(one_run(*(int(word) for word in sys.argv[1:]))))
    else:
        main()
