"""Write the layout explorer: its data, its arithmetic and its page without JavaScript.

Run ``python -m steptime.book.explorer_page OUT_DIR`` to write ``OUT_DIR/explorer/``.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from steptime.book.explorer_data import explorer_data
from steptime.book.formula_text import formula_texts
from steptime.book.javascript import bundle

SOURCE = Path(__file__).resolve().parents[3] / "book" / "web"
ROOTS = ("steptime.formulas",)


def module_text(name: str, value: Any) -> str:
    """Return an ES module that exports one value.

    Args:
        name: Of the export.
        value: Anything that JSON can hold.
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return f"export const {name} = {text};\n"


def write_explorer(out: Path) -> list[Path]:
    """Write the explorer's folder and return the files made there.

    Args:
        out: The site's web folder; ``explorer`` is written below it.
    """
    folder = out / "explorer"
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((SOURCE / "explorer").iterdir()):
        shutil.copyfile(path, folder / path.name)
    made = {
        "data.js": module_text("data", explorer_data()),
        "formula-text.js": module_text("texts", formula_texts()),
        "formulas.js": bundle(*ROOTS),
    }
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in made]


def main() -> None:
    """Write the explorer into the folder named on the command line."""
    parser = argparse.ArgumentParser(description="Write the layout explorer.")
    parser.add_argument("out", type=Path)
    for path in write_explorer(parser.parse_args().out):
        print(f"{path} {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
