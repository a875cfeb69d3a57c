"""Fill README.md with what the notebooks found: ``python -m steptime.book.readme [--check]``.

A value stands between two comments, ``<!--name-->10.8 %<!---->``, where ``name`` is what a
notebook glued. The picture is a notebook's first figure.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from steptime.book.results.notebooks import ROOT
from steptime.book.site.notebook_figure import figure_markup, standalone_svg
from steptime.book.site.values import all_values
from steptime.inputs.datafiles import write_whole

README = ROOT / "README.md"
PICTURE = ROOT / "book" / "accuracy.svg"
DRAWN_BY = ("17_roofline", 1)

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
        text = filled(README.read_text(encoding="utf-8"), all_values())
        picture = standalone_svg(figure_markup(*DRAWN_BY))
    except KeyError as name:
        print(f"README.md uses {name}, but no notebook glues it", file=sys.stderr)
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
