"""All notebooks through papermill, and the site built cold and warm, on two cores.

Set beside: an empty notebook run once (a kernel's start), and the largest notebook's own time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
AIM_WARM_S = 60


def run_s(*words: str) -> float:
    """Return how long ``python -m …`` takes; its output is shown only if it fails."""
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return time.perf_counter() - began


def kernel_s() -> float:
    """Return how long an empty notebook takes through papermill."""
    from nbformat.v4 import new_code_cell, new_notebook

    path = ROOT / "build" / "bench" / "empty.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(new_notebook(cells=[new_code_cell("pass")])), encoding="utf-8")
    return run_s("papermill", "--kernel", "python3", str(path), str(path.with_name("ran.ipynb")))


def main() -> None:
    """Print the table."""
    empty = kernel_s()
    everything = run_s("steptime.book.results", "--force")
    took = json.loads((ROOT / "build" / "notebooks" / "durations.json").read_text(encoding="utf-8"))
    cold = run_s("steptime.book.site", "--fresh")
    warm = run_s("steptime.book.results") + run_s("steptime.book.site")
    longest = max(took, key=lambda name: took[name])
    print(f"an empty notebook                {empty:7.1f} s")
    print(
        f"all {len(took)} notebooks, two at a time    {everything:7.1f} s, "
        f"{everything / empty:.0f} times an empty one; they add up to {sum(took.values()):.1f} s"
    )
    print(f"  the longest: {longest}   {took[longest]:7.1f} s")
    print(f"the site, every page anew        {cold:7.1f} s")
    print(f"make book, nothing changed       {warm:7.1f} s (aim {AIM_WARM_S} s)")


if __name__ == "__main__":
    main()
