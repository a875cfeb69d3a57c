"""Do the tests notice a wrong token? Mutants of the arithmetic, each against its tests.

``python bench/mutants.py [--count 500] [--seed 0] [--jobs 2] [--only TEXT]`` draws mutants from
the rooms below, runs the tests of the room that call the changed function, and prints how many
were noticed and each that was not. What was run before is not run again (build/mutants): killed
stays killed; a survivor is tried again once its tests have changed. bench/equivalent.csv lists
those that change no answer, each with its reason.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants_made import Mutant, applied, mutants
from written import put
from written import table as markdown

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "mutants"
EQUIVALENT = Path(__file__).with_name("equivalent.csv")
# Of the processor, so that a busy machine is no merit of tests; by the clock for those that wait.
CPU_S, TIMEOUT_S = 20, 300
AIM = 0.95
# Tests that fail before anything is changed.
FEW = 3
# What pytest returns if it finds no such tests, or cannot load what they share.
NOT_RUN = (4, 5)
# Of the tests that call a function, its own room's first, as many as take this long together:
# no mutant runs out of time for the number of its tests.
TESTS_S = 6.0
# Folders of the package, each with the folders whose tests are its own, then others that call it.
ROOMS = {
    "formulas": ("formulas", "evidence", "planning"),
    "pipeline": ("pipeline", "cli/test_schedule.py", "formulas/test_schedule.py"),
    "planning": ("planning", "cli/test_search.py"),
    "readers": ("readers", "cli/test_explain.py"),
}
Found = tuple[str, Mutant]


def tests_of(room: str) -> list[str]:
    """Return the test files and folders of a room that there are."""
    return [f"tests/{name}" for name in ROOMS[room] if (ROOT / "tests" / name).exists()]


def environment(copy: Path) -> dict[str, str]:
    """Return what a run of tests on a copy of the package needs."""
    tests = ROOT / "tests"
    # Its folders hold what several tests make their questions and records with.
    made = [str(tests / name) for name in ("answer", "book", "formulas", "readers")]
    paths = [str(copy / "src"), str(Path(__file__).parent), str(tests), *made]
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
    for top in (ROOT / name for name in tests_of(room)):
        for path in sorted(top.rglob("test_*.py") if top.is_dir() else [top]):
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
    noted = json.loads(told.read_text(encoding="utf-8"))
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
    """Return the tests of the room's own folder first, then the quickest of the others."""
    own = tests_of(room)[0]
    chosen, left_s = [], TESTS_S
    for test in sorted(tests, key=lambda one: (not one.startswith(own), seconds[one], one)):
        left_s -= seconds[test]
        if left_s < 0.0 and chosen:
            break
        chosen.append(test)
    return chosen


def verdict(copy: Path, file: str, mutant: Mutant, tests: list[str]) -> str:
    """Return killed, late (it ran out of time, which is noticed too) or survived."""
    path = copy / "src" / "steptime" / file
    source = path.read_text(encoding="utf-8")
    path.write_text(applied(source, mutant), encoding="utf-8")
    try:
        status = status_of(copy, tests)
    finally:
        path.write_text(source, encoding="utf-8")
    if status == 0:
        return "survived"
    if status is not None and status not in NOT_RUN:
        return "killed"
    before = status_of(copy, tests)
    if before == 0:
        return "late" if status is None else "killed"
    if before is not None:
        sys.exit(f"the tests of {file} do not run as they stand; were they changed meanwhile?")
    if len(tests) == 1:
        return "late"
    # The machine is busy, or the tests are slow: it is no merit of theirs.
    return verdict(copy, file, mutant, tests[: len(tests) // 2])


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


def drawn(rooms: list[str], count: int, seed: int, only: str) -> list[Found]:
    """Return a sample of the mutants of some rooms, the same for the same seed."""
    found: list[Found] = []
    for room in rooms:
        for path in sorted((ROOT / "src" / "steptime" / room).rglob("*.py")):
            file = path.relative_to(ROOT / "src" / "steptime").as_posix()
            if only in file:
                source = path.read_text(encoding="utf-8")
                found += [(file, mutant) for mutant in mutants(source)]

    # By a digest of each: a change of one file leaves the draw from the others as it was.
    def place(one: Found) -> str:
        file, mutant = one
        told = (seed, file, mutant.text, mutant.column, mutant.old)
        return hashlib.sha256(repr(told).encode()).hexdigest()

    return sorted(found, key=place)[:count]


def equivalents() -> dict[tuple[str, ...], str]:
    """Return the reason of each mutant that changes no answer."""
    if not EQUIVALENT.is_file():
        return {}
    with EQUIVALENT.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {(row["file"], row["text"], row["old"], row["new"]): row["reason"] for row in rows}


class Runs:
    """What became of each mutant, kept on disk as it comes."""

    def __init__(self, covering: dict[str, dict[str, list[str]]]) -> None:
        self.covering = covering
        self.path = BUILD / "verdicts.jsonl"
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.is_file() else []
        self.known = dict(json.loads(line) for line in lines)

    def verdict(self, copy: Path, found: Found) -> str:
        """Return what became of a mutant, from before if nothing that decides it has changed."""
        file, mutant = found
        room = max((name for name in self.covering if file.startswith(name)), key=len)
        called = self.covering[room]
        named = called.get(f"{file}:{mutant.function}", []) if mutant.function else []
        tests = named or tests_of(room)
        source = (ROOT / "src" / "steptime" / file).read_text(encoding="utf-8")
        whole = hashlib.sha256(applied(source, mutant).encode()).hexdigest()[:16]
        used = hashlib.sha256("\n".join(tests).encode())
        for name in sorted({test.partition("::")[0] for test in tests}):
            used.update((ROOT / name).read_bytes() if (ROOT / name).is_file() else b"")
        key = f"{whole}-{used.hexdigest()[:12]}"
        if self.known.get(whole) in ("killed", "late"):
            return str(self.known[whole])
        if key not in self.known:
            told = verdict(copy, file, mutant, tests)
            self.known[key] = told
            self.known[whole] = told
            with self.path.open("a", encoding="utf-8") as log:
                for name in (key, whole):
                    log.write(json.dumps([name, told]) + "\n")
        return str(self.known[key])


def table(verdicts: list[tuple[Found, str]]) -> tuple[float, str]:
    """Print how many mutants were noticed in each room, and those that were not.

    Returns the share of those that matter which were noticed, and the counts as Markdown.
    """
    known, left, counts = equivalents(), [], Counter[tuple[str, str]]()
    for (file, mutant), told in verdicts:
        same = known.get((file, mutant.text, mutant.old, mutant.new))
        room = max((name for name in ROOMS if file.startswith(name)), key=len)
        counts[room, "equivalent" if told == "survived" and same else told] += 1
        if told == "survived" and not same:
            left.append(f"  {file}:{mutant.line}: {mutant.old} -> {mutant.new}    {mutant.text}")
    kinds = ("killed", "late", "survived", "equivalent")
    rows = []
    for room in sorted({room for room, _ in counts}):
        killed, late, survived, equivalent = (counts[room, kind] for kind in kinds)
        share = 1.0 - survived / max(killed + late + survived, 1)
        rows.append([f"`{room}`", killed, late, survived, equivalent, f"{100.0 * share:.0f} %"])
    shown = markdown(["room", *kinds, "noticed"], rows)
    print(shown)
    print("\n".join(["not noticed:", *left] if left else ["none was left unnoticed"]))
    told = len(verdicts) - sum(counts[room, "equivalent"] for room in ROOMS)
    return 1.0 - len(left) / max(told, 1), shown


def main() -> int:
    """Run what the command line asks for; 1 if fewer than the aim were noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="of files whose path holds this")
    parser.add_argument("--write", action="store_true", help="the table into CONTRIBUTING.md")
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    rooms = [name for name in ROOMS if (ROOT / "src" / "steptime" / name).is_dir()]
    chosen = drawn(rooms, options.count, options.seed, options.only)
    runs = Runs({room: seen(room) for room in rooms if any(f.startswith(room) for f, _ in chosen)})
    copies = [copy_of(f"job-{place}") for place in range(options.jobs)]

    def share(place: int) -> list[tuple[Found, str]]:
        return [(one, runs.verdict(copies[place], one)) for one in chosen[place :: options.jobs]]

    with ThreadPoolExecutor(options.jobs) as pool:
        verdicts = [pair for part in pool.map(share, range(options.jobs)) for pair in part]
    noticed, shown = table(verdicts)
    if options.write:
        put(ROOT / "CONTRIBUTING.md", "mutants", shown)
    print(f"{len(verdicts)} mutants, {noticed:.1%} of those that matter noticed (aim {AIM:.0%})")
    return int(noticed < AIM)


if __name__ == "__main__":
    sys.exit(main())
