"""A standard output that nobody reads."""

from __future__ import annotations

import subprocess
import sys


def test_a_closed_output_is_told_in_a_line() -> None:
    command = f"{sys.executable} -m steptime models >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("steptime: standard output is closed: open it")
    assert done.stderr.count("\n") == 1
