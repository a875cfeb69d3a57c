"""Run one notebook through papermill, in a process and an environment of its own."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steptime.book.results.clean import UnstableOutputError, cleaned, stderr_of
from steptime.book.results.notebooks import ROOT, Notebook
from steptime.inputs.datafiles import write_whole

CELL_TIMEOUT_S = 600
QUICK_TO_COMPILE = "--xla_cpu_use_fusion_emitters=false"
"""XLA's older way to make loops: small programs compile five times as fast, to the same bytes here.

What it is slower at, long loops, no notebook has."""
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one notebook's run ended.

    Attributes:
        name: The notebook's name.
        seconds: How long it took.
        error: Empty if it ran to its end; else the cell and what went wrong.
        stderr: What it wrote to stderr: shown, but not kept.
    """

    name: str
    seconds: float
    error: str = ""
    stderr: str = ""


def fixed_environment() -> dict[str, str]:
    """Return the variables under which a run gives the same bytes on every machine."""
    scratch = ROOT / "build" / "jupyter"
    return {
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": "0",
        "MPLBACKEND": "agg",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count=8 {QUICK_TO_COMPILE}",
        # Nobody's own kernels, start-up files or settings take part.
        "JUPYTER_DATA_DIR": str(scratch / "data"),
        "JUPYTER_CONFIG_DIR": str(scratch / "config"),
        "JUPYTER_RUNTIME_DIR": str(scratch / "runtime"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_NO_CONFIG": "1",
        "IPYTHONDIR": str(scratch / "ipython"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PYTHONPATH": str(ROOT / "src"),
        # The published constants, not those of who builds.
        "STEPTIME_CONSTANTS": "",
    }


@contextmanager
def environment() -> Iterator[None]:
    """Hold `fixed_environment` in force, for the kernels started meanwhile."""
    fixed = fixed_environment()
    before = {name: os.environ.get(name) for name in fixed}
    Path(fixed["IPYTHONDIR"]).mkdir(parents=True, exist_ok=True)
    os.environ.update(fixed)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _describe(problem: Any, notebook: Notebook) -> str:
    """Return which cell failed, with what, and what stood in it."""
    trace = _ANSI.sub("", "\n".join(problem.traceback)).splitlines()
    shown = "\n".join(f"    {line}" for line in trace[-25:])
    return (
        f"notebooks/{notebook.path.name}, cell {problem.cell_index}: "
        f"{problem.ename}: {problem.evalue}\n"
        + "\n".join(f"  | {line}" for line in problem.source.splitlines())
        + f"\n{shown}"
    )


def execute(notebook: Notebook, folder: Path, stamp: str = "", quick: bool = False) -> Outcome:
    """Run a notebook, clean its outputs and write it to ``folder``.

    Nothing is written unless every cell ran. Meant to be called in a worker process.

    Args:
        notebook: Which one.
        folder: Where the executed notebook goes.
        stamp: What to write beside it, for the cache; nothing if empty.
        quick: Whether to take the small parameters.

    Returns:
        How it ended; a cell that raises is an outcome, not an exception.
    """
    began = time.perf_counter()
    with environment():
        text, error, stderr = _attempt(notebook, quick)
    if not error:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{notebook.name}.ipynb", text + "\n")
        if stamp:
            write_whole(folder / f"{notebook.name}.key", stamp)
    seconds = time.perf_counter() - began
    return Outcome(name=notebook.name, seconds=seconds, error=error, stderr=stderr)


def _attempt(notebook: Notebook, quick: bool) -> tuple[str, str, str]:
    """Return the executed notebook's text, or the error, and what went to stderr."""
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    where = f"notebooks/{notebook.path.name}"
    try:
        done = papermill.execute_notebook(
            str(notebook.path),
            None,
            parameters={**notebook.parameters, **(notebook.quick if quick else {})},
            cwd=str(ROOT),
            progress_bar=False,
            execution_timeout=CELL_TIMEOUT_S,
            kernel_name="python3",
            language="python",
        )
        stderr = stderr_of(done)
        text = nbformat.writes(cleaned(done), version=4)  # type: ignore[no-untyped-call]
    except PapermillExecutionError as problem:
        return "", _describe(problem, notebook), ""
    except UnstableOutputError as problem:
        return "", f"{where}: {problem}", ""
    except Exception as problem:  # a dead kernel or a time-out must name its notebook too
        return "", f"{where}: {type(problem).__name__}: {problem}", ""
    return text, "", stderr
