"""Lines of the package that no test runs, by room: ``make coverage`` measures, this shows it.

``python bench/covered.py [REPORT.json]`` puts the shares into CONTRIBUTING.md.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from written import ROOT, put, table

REPORT = ROOT / "build" / "coverage" / "report.json"


def rooms(report: Path) -> str:
    """Return the table of what ``coverage json`` wrote."""
    lines, run = Counter[str](), Counter[str]()
    for name, file in json.loads(report.read_text(encoding="utf-8"))["files"].items():
        inside = Path(name).parts[Path(name).parts.index("steptime") + 1 :]
        for room in (f"`{inside[0]}`" if len(inside) > 1 else "the package itself", "all"):
            lines[room] += file["summary"]["num_statements"]
            run[room] += file["summary"]["covered_lines"]
    rows = [
        [room, lines[room], lines[room] - run[room], f"{100.0 * run[room] / lines[room]:.1f} %"]
        for room in sorted(lines, key=lambda room: (room == "all", room))
        if lines[room]
    ]
    return table(["room", "statements", "not run", "run"], rows)


def main(words: list[str]) -> int:
    """Print the table and put it into the page."""
    shown = rooms(Path(words[0]) if words else REPORT)
    print(shown)
    put(ROOT / "CONTRIBUTING.md", "covered", shown)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
