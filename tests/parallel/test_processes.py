"""The same programs over two processes of four devices each, on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from steptime.parallel import processes

SOURCE = Path(__file__).resolve().parents[2] / "src"


def command_line(*given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "steptime.parallel.processes", *given],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_two_processes_of_four_devices_are_eight_devices() -> None:
    done = command_line("--processes", "2", "--devices", "4", "--only", "ring", "--only", "zero-1")
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stdout.splitlines() if "devices of" in line]
    assert len(said) == 2
    for line in said:
        assert "8 devices of 2 processes, results equal to one device's" in line
        assert line.endswith("collectives as in the formulas")


@pytest.mark.slow
def test_one_failed_process_ends_all() -> None:
    waiting = [sys.executable, "-c", "import time; time.sleep(200)"]
    failing = [sys.executable, "-c", "raise SystemExit(3)"]
    started = [subprocess.Popen(command) for command in (waiting, failing)]
    assert processes.wait_for(started) >= 3


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (["--processes", "0"], "processes must be >= 1"),
        (["--devices", "-4"], "devices must be >= 1"),
        (["--only", "rings"], "did you mean 'ring'"),
        (["--process-id", "1"], "needs --coordinator"),
    ],
)
def test_bad_options_are_refused_in_one_line(
    given: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert processes.main(given) == 2
    error = capsys.readouterr().err
    assert reason in error
    assert error.count("\n") == 1
