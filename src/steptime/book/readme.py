"""Fill README.md with what the notebooks found: ``python -m steptime.book.readme [--check]``.

A value stands between two comments, ``<!--name-->10.8 %<!---->``, where ``name`` is what a
notebook glued, or an example of `EXAMPLES`. The picture is a notebook's first figure.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from steptime.book.results.notebooks import ROOT
from steptime.book.site.notebook_figure import figure_markup, standalone_svg
from steptime.book.site.values import all_values
from steptime.inputs.datafiles import write_whole

README = ROOT / "README.md"
PICTURE = ROOT / "book" / "accuracy.svg"
DRAWN_BY = ("17_roofline", 1)

EXAMPLES = {
    "example_predict": (
        "predict --model llama3-70b --accelerator h100 --tp 8 --pp 4 --dp 16",
        "--seq-length 8192 --global-batch-size 1024",
    )
}
"""Commands that README.md shows with what they print, by the name of their mark."""

_MARKED = re.compile(r"<!--(\w+)-->.*?<!---->", re.DOTALL)


def filled(text: str, values: dict[str, str]) -> str:
    """Return a text with every marked value put in.

    Args:
        text: With marks.
        values: What the notebooks glued, by name.

    Raises:
        KeyError: If no notebook glued a name.
    """
    return _MARKED.sub(lambda hit: f"<!--{hit[1]}-->{values[hit[1]]}<!---->", text)


def example(lines: Sequence[str]) -> str:
    """Return a command and what it prints, as Markdown.

    Args:
        lines: Its words after ``steptime``, as they are broken over lines.
    """
    words = [sys.executable, "-m", "steptime", *shlex.split(" ".join(lines))]
    # A hundred columns, whatever terminal or machine this runs on.
    known = {**os.environ, "COLUMNS": "100", "PYTHONUTF8": "1", "TERM": "dumb"}
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=True, env=known)
    shown = " \\\n    ".join(lines)
    return f"\n\n```console\n$ steptime {shown}\n{done.stdout.rstrip()}\n```\n\n"


def changes(path: Path, text: str, check: bool) -> bool:
    """Return whether a file differs from what it should hold, and mend it unless asked not to.

    Args:
        path: The file.
        text: What it should hold.
        check: Whether to leave it alone.
    """
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    if not check:
        write_whole(path, text)
    return True


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status.

    Args:
        arguments: The command line, without its first word.
    """
    parser = argparse.ArgumentParser(prog="python -m steptime.book.readme", description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if a file would change")
    check = parser.parse_args(arguments).check
    try:
        printed = {name: example(lines) for name, lines in EXAMPLES.items()}
        text = filled(README.read_text(encoding="utf-8"), all_values() | printed)
        picture = standalone_svg(figure_markup(*DRAWN_BY))
    except KeyError as name:
        print(f"README.md uses {name}, but no notebook glues it", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as problem:
        print(problem.stderr, end="", file=sys.stderr)
        return 1
    except LookupError as problem:
        print(problem, file=sys.stderr)
        return 1
    wanted = {README: text, PICTURE: picture}
    changed = [path.name for path, content in wanted.items() if changes(path, content, check)]
    if not changed:
        print("README.md is what the notebooks give.")
    else:
        print(f"{' and '.join(changed)} {'out of date: make results' if check else 'written'}.")
    return 1 if changed and check else 0


if __name__ == "__main__":
    sys.exit(main())
