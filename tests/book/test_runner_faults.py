"""Runs of the notebooks that are interrupted, killed, or two at once: in a copy of the tree."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).resolve().parents[2]
SOON_S = 300.0

pytestmark = [
    pytest.mark.notebooks,
    pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="reads Linux's /proc"),
]


def write(tree: Path, name: str, code: str) -> None:
    table = "from steptime.book import tables\ntables.show(tables.markdown_table(['a'], [[1]]))"
    cells = [
        new_markdown_cell(f"# §{name.partition('_')[0]} Title"),
        new_code_cell(code),
        new_code_cell(table, metadata={"tags": ["results"]}),
    ]
    for place, cell in enumerate(cells):
        cell["id"] = f"cell-{place}"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    book = new_notebook(cells=cells, metadata=kernel)
    (tree / "notebooks" / f"{name}.ipynb").write_text(nbformat.writes(book), encoding="utf-8")


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    """Yield a copy with two small notebooks, the second of which does not end by itself."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    shutil.copytree(ROOT / "data", tmp_path / "data", ignore=ignored)
    for folder in ("book", "notebooks"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / "book" / "figures.mplstyle", tmp_path / "book")
    (tmp_path / "results.md").write_text("old")
    write(tmp_path, "1_quick", "pass")
    write(tmp_path, "2_long", "import time; time.sleep(600)")
    yield tmp_path
    for pid in at_work(tmp_path):
        os.kill(pid, signal.SIGKILL)


def start(tree: Path) -> subprocess.Popen[str]:
    # A shell's job in the background ignores Ctrl-C, and all that it starts would too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "steptime.book.results"],
            cwd=tree,
            env=os.environ | {"PYTHONPATH": str(tree / "src")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)


def at_work(tree: Path) -> list[int]:
    """Return the processes whose folder is the copy: the run, its workers and its kernels."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == tree and "Z" not in (
                (process / "stat").read_text().rpartition(")")[2].split()[0]
            ):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def soon(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + SOON_S
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


@pytest.mark.slow
@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_cut_short_leaves_the_old_results_and_no_process(
    tree: Path, signal_: signal.Signals
) -> None:
    done = tree / "build" / "notebooks" / "1_quick.key"
    run = start(tree)
    assert soon(lambda: done.is_file() or run.poll() is not None)
    if signal_ == signal.SIGINT:
        # As a terminal sends Ctrl-C: to all that the run started.
        os.killpg(run.pid, signal_)
    else:
        run.send_signal(signal_)
    _, told = run.communicate(timeout=SOON_S)
    assert run.returncode == (130 if signal_ == signal.SIGINT else -signal.SIGKILL)
    assert soon(lambda: not at_work(tree))
    assert (tree / "results.md").read_text() == "old"
    if signal_ == signal.SIGINT:
        assert told == (
            "stopped; results.md is as it was, and the next run goes on from what is done\n"
        )
    # What was done stands, and the next run does the rest.
    write(tree, "2_long", "pass")
    out, told = start(tree).communicate(timeout=SOON_S)
    assert (told, "1 notebooks are up to date" in out) == ("", True)
    assert (tree / "results.md").read_text().count("\n## §") == 2


@pytest.mark.slow
def test_two_runs_at_once_do_the_work_once(tree: Path) -> None:
    write(tree, "2_long", "pass")
    runs = [start(tree), start(tree)]
    outs = [run.communicate(timeout=SOON_S) for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    told = "".join(out for out, _ in outs)
    assert told.count("running 1_quick") == told.count("running 2_long") == 1
    assert "another run is at work on these notebooks: waiting for it" in told
    assert told.count("results.md written.") == told.count("results.md unchanged.") == 1


def test_a_disk_that_is_full_leaves_the_old_file_whole(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from steptime.inputs.datafiles import write_whole\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_whole(Path(sys.argv[1]), 'new' * 1000)"
    )
    path = tmp_path / "results.md"
    path.write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    assert resource.RLIMIT_FSIZE >= 0
    assert (done.returncode, "File too large" in done.stderr) == (1, True)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("results.md", "old")]
