"""Run the benchmarks, one after another, each in a process of its own.

``make bench`` runs them all; ``python bench/run.py core schedule`` those named. Each prints its
own table, with the aim or the program beside it that its numbers are to be read against.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
BENCHMARKS = ("core", "schedule", "search", "book", "load", "faults", "reproduce", "mutants")


def processor() -> str:
    """Return the processor's name, as far as the system tells it."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def main(names: list[str]) -> int:
    """Run the benchmarks and return 1 if one failed, 2 if there is none of a name."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark {unknown[0]!r}; there are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    busy = f"; busy with {os.getloadavg()[0]:.1f} processes" if hasattr(os, "getloadavg") else ""
    print(f"Python {platform.python_version()}, {processor()}, {os.cpu_count()} cores{busy}")
    failed = 0
    for name in names or BENCHMARKS:
        print(f"\n== {name}", flush=True)
        done = subprocess.run([sys.executable, str(FOLDER / f"{name}.py")], check=False)
        failed |= done.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
