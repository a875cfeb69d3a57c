"""Which tests call a function, and how they end on a copy of the package that is changed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "mutants"
# Of the processor, so that a busy machine is no merit of tests; by the clock for those that wait.
CPU_S, TIMEOUT_S = 20, 300
# Tests that fail before anything is changed.
FEW = 3
# Of the tests that call a function, its own room's first, as many as take this long together while
# they are watched, which makes them slow: no mutant runs out of time for the number of its tests.
TESTS_S = 24.0
# Folders of the package, each with the folders whose tests are its own, then others that call it.
ROOMS = {
    "formulas": ("formulas", "pipeline"),
    "pipeline": ("pipeline", "cli/test_schedule.py", "formulas/test_schedule.py"),
    "planning": ("planning", "cli/test_search.py"),
    "readers": ("readers", "cli/test_explain.py"),
}


def tests_of(room: str) -> list[str]:
    """Return the test files and folders of a room that there are."""
    return [f"tests/{name}" for name in ROOMS[room] if (ROOT / "tests" / name).exists()]


def files_of(name: str) -> list[Path]:
    """Return the files of tests that are asked for by the name of a file or a folder."""
    top = ROOT / name
    return sorted(top.rglob("test_*.py")) if top.is_dir() else [top] if top.is_file() else []


def environment(copy: Path) -> dict[str, str]:
    """Return what a run of tests on a copy of the package needs."""
    # Where pytest finds what several tests make their questions and records with.
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    made = [str(ROOT / name) for name in settings["pytest"]["ini_options"]["pythonpath"][1:]]
    paths = [str(copy / "src"), str(Path(__file__).parent), str(ROOT / "tests"), *made]
    fixed = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    fixed |= {"OMP_NUM_THREADS": "1", "HYPOTHESIS_STORAGE_DIRECTORY": str(copy)}
    # None of theirs is asked for, and they take as long to load as a test.
    fixed["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return {**os.environ, **fixed}


def pytest_words(copy: Path, *words: str) -> list[str]:
    """Return the command that runs tests against a copy of the package."""
    quiet = ["-q", "-x", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-o", "addopts="]
    shared = ["--import-mode=importlib", "-o", f"pythonpath={copy / 'src'}", "-m", "not timed"]
    return [sys.executable, "-m", "pytest", *quiet, *shared, *words]


def copy_of(name: str) -> Path:
    """Return a folder with a copy of the package, compiled so that a change is seen at once."""
    copy = BUILD / name
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "data").symlink_to(ROOT / "data")
    compiling = ["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", str(copy)]
    subprocess.run([sys.executable, *compiling], check=True)
    return copy


def seen(room: str) -> dict[str, list[str]]:
    """Return the tests to run for each function of a room, by file and first line."""
    source = hashlib.sha256()
    for path in sorted((ROOT / "src" / "steptime" / room).rglob("*.py")):
        source.update(path.read_bytes())
    kept = {}
    for name in tests_of(room):
        for path in files_of(name):
            digest = hashlib.sha256(source.digest() + path.read_bytes()).hexdigest()[:16]
            kept[path.relative_to(ROOT).as_posix()] = BUILD / f"seen-{digest}.json"
    watched(room, {name: path for name, path in kept.items() if not path.is_file()})
    calls: dict[str, list[str]] = {}
    seconds: dict[str, float] = {}
    for path in kept.values():
        noted = json.loads(path.read_text(encoding="utf-8"))
        seconds |= noted["seconds"]
        for name, tests in noted["calls"].items():
            calls.setdefault(name, []).extend(tests)
    return {name: affordable(room, tests, seconds) for name, tests in calls.items()}


def watched(room: str, files: dict[str, Path]) -> None:
    """Run test files with nothing changed, and keep what each test calls, a file each."""
    if not files:
        return
    copy = copy_of("seen")
    told = copy / "seen.json"
    given = environment(copy) | {"MUTANTS_SEEN": str(told)}
    words = pytest_words(copy, "-p", "mutants_seen", f"--maxfail={FEW + 1}", *files)
    done = subprocess.run(words, cwd=ROOT, env=given, capture_output=True, text=True)
    if not told.is_file():
        sys.exit(f"the tests of {room} did not end ({done.returncode}):\n{done.stdout[-2000:]}")
    noted = json.loads(told.read_text(encoding="utf-8"))
    # Tests that cannot be loaded fail with any mutant, and would count as having noticed it.
    if noted["unread"] or not noted["calls"]:
        sys.exit(f"the tests of {room} cannot be loaded: {noted['unread']}\n{done.stdout[-2000:]}")
    # A test or two want the whole tree around the package, which no mutant has.
    if len(noted["failed"]) > FEW:
        sys.exit(f"the tests of {room} fail as they stand:\n{done.stdout[-2000:]}")
    for name in noted["failed"]:
        print(f"left out, since it fails on a copy of the package: {name}")
    for file, kept in files.items():
        own = f"{file}::"
        calls = {
            name: chosen
            for name, tests in noted["calls"].items()
            if (chosen := [test for test in tests if test.startswith(own)])
        }
        seconds = {name: took for name, took in noted["seconds"].items() if name.startswith(own)}
        kept.write_text(json.dumps({"calls": calls, "seconds": seconds}), encoding="utf-8")


def affordable(room: str, tests: list[str], seconds: dict[str, float]) -> list[str]:
    """Return the tests of the room's own folder first, the quickest of each file in turn.

    A file is of one matter: of many files that call a function none is left out for the number of
    quick tests in another.
    """
    own = tests_of(room)[0]
    turns: dict[str, int] = {}
    order = []
    for test in sorted(tests, key=lambda one: (seconds[one], one)):
        file = test.partition("::")[0]
        turns[file] = turns.get(file, 0) + 1
        order.append((not test.startswith(own), turns[file], seconds[test], test))
    chosen, left_s = [], TESTS_S
    for _, _, took_s, test in sorted(order):
        left_s -= took_s
        if left_s < 0.0 and chosen:
            break
        chosen.append(test)
    return chosen


def status_of(copy: Path, tests: list[str]) -> int | None:
    """Return how tests end on a copy as it stands; None if they do not end in time."""
    listed = copy / "tests.txt"
    listed.write_text("\n".join(tests), encoding="utf-8")
    run = subprocess.Popen(
        ["sh", "-c", f'ulimit -t {CPU_S}; exec "$@"', "sh", *pytest_words(copy, f"@{listed}")],
        cwd=ROOT,
        env=environment(copy),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        status = run.wait(TIMEOUT_S)
        return None if status in (-signal.SIGXCPU, -signal.SIGKILL) else status
    except subprocess.TimeoutExpired:
        return None
    finally:
        # With all that its tests started.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()
