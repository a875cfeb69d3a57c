"""Do the tests notice a wrong token? Mutants of the arithmetic, each against its tests.

``python bench/mutants.py [--count 500] [--seed 0] [--jobs 2] [--only TEXT]`` draws mutants from
the rooms below, runs the tests of the room that call the changed function, and prints how many
were noticed and each that was not. What was run before is not run again (build/mutants): killed
stays killed; a survivor is tried again once its tests have changed. bench/equivalent.csv lists
those that change no answer, each with its reason.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants_made import Mutant, applied, mutants
from mutants_tests import BUILD, ROOMS, ROOT, copy_of, files_of, seen, status_of, tests_of
from written import put
from written import table as markdown

EQUIVALENT = Path(__file__).with_name("equivalent.csv")
AIM = 0.95
# What pytest returns if it finds no such tests, or cannot load what they share.
NOT_RUN = (4, 5)
Found = tuple[str, Mutant]


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
            for path in files_of(name):
                used.update(path.read_bytes())
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
    parser.add_argument("--write", action="store_true", help="the table into book/built.md")
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
        caption = "Single tokens that were changed, and what became of them."
        put(ROOT / "book" / "built.md", "mutants", f":::{{table}} {caption}\n\n{shown}\n:::")
    print(f"{len(verdicts)} mutants, {noticed:.1%} of those that matter noticed (aim {AIM:.0%})")
    return int(noticed < AIM)


if __name__ == "__main__":
    sys.exit(main())
