"""Run the notebooks and write results.md: ``python -m steptime.book.results``."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from steptime.book.results import cache
from steptime.book.results.lock import only_one
from steptime.book.results.notebooks import OUTPUT, ROOT, Notebook, all_notebooks, select
from steptime.book.results.page import NotebookError, assemble
from steptime.book.results.pool import run_all
from steptime.book.results.progress import reporter
from steptime.inputs.datafiles import write_whole

RESULTS = ROOT / "results.md"


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options.

    Args:
        arguments: The command line, without its first word.
    """
    parser = argparse.ArgumentParser(prog="python -m steptime.book.results", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if results.md differs"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="NN", help="section, repeatable"
    )
    parser.add_argument("--force", action="store_true", help="run even what has not changed")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the file to write")
    return parser.parse_args(arguments)


def refresh(
    notebooks: list[Notebook], stamps: dict[str, str], force: bool, folder: Path = OUTPUT
) -> list[str]:
    """Run what is out of date and return what went wrong, one text a notebook.

    Args:
        notebooks: Those asked for.
        stamps: What each is made from now, by name.
        force: Whether to run them all.
        folder: Where the executed notebooks go.
    """
    stale = [n for n in notebooks if force or not cache.is_fresh(n, stamps[n.name], folder)]
    if len(stale) < len(notebooks):
        print(f"{len(notebooks) - len(stale)} notebooks are up to date", flush=True)
    with reporter(len(stale)) as show:
        outcomes = run_all(stamps, stale, folder, show)
    for outcome in outcomes:
        if outcome.stderr.strip() and not outcome.error:
            print(f"{outcome.name} wrote to stderr:\n{outcome.stderr.rstrip()}", file=sys.stderr)
    return [outcome.error for outcome in outcomes if outcome.error]


def difference(old: Path, new: str) -> str:
    """Return what changed, as a unified diff; empty if nothing did.

    Args:
        old: The file as it stands.
        new: The text that the notebooks give now.
    """
    before = old.read_text(encoding="utf-8") if old.is_file() else ""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        new.splitlines(keepends=True),
        f"{old.name} (as it stands)",
        f"{old.name} (from the notebooks)",
    )
    return "".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status.

    Args:
        arguments: The command line, without its first word.
    """
    options = parse(arguments)
    try:
        with only_one(OUTPUT):
            return answer(options)
    except KeyboardInterrupt:
        print(
            f"stopped; {options.out.name} is as it was, and the next run goes on from what is done",
            file=sys.stderr,
        )
        return 130
    except OSError as problem:
        print(f"{options.out.name} is as it was: {problem}", file=sys.stderr)
        return 1


def answer(options: argparse.Namespace) -> int:
    """Do what the options ask and return the exit status.

    Args:
        options: From `parse`.
    """
    try:
        every = all_notebooks()
        stamps = {one.name: cache.key(one) for one in every}
        problems = refresh(select(every, options.only), stamps, options.force)
        if problems:
            print("\n".join(problems), file=sys.stderr)
            print(f"{options.out.name} is as it was.", file=sys.stderr)
            return 1
        behind = [one.name for one in every if not cache.is_fresh(one, stamps[one.name])]
        if behind:
            print(f"{options.out.name} is as it was: not run yet: {', '.join(behind)}")
            return 0
        text = assemble(every)
    except (NotebookError, ValueError) as problem:
        print(problem, file=sys.stderr)
        return 1
    changed = difference(options.out, text)
    if options.check:
        print(changed or f"{options.out.name} is what the notebooks give.")
        return 1 if changed else 0
    if changed:
        write_whole(options.out, text)
    print(f"{options.out.name} {'written' if changed else 'unchanged'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
