"""What the accuracy chart needs from Python: its runs, its stand-in, a page of its own.

Nothing is worked out here: the notebook of §17 left each source out, and hands over the runs
in its output. `write_accuracy` fills a folder that becomes part of the site's root.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from steptime.book.accuracy_static import fragment
from steptime.book.alone_page import AlonePage
from steptime.book.figure_page import write_figure
from steptime.book.results.notebooks import OUTPUT
from steptime.book.study.accuracy import MIME, MODELS

NOTEBOOK = "17_roofline"
_ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5}(?:v\d+)?)")
_REPOSITORY = re.compile(r"([\w.-]+/[\w.-]+)@([0-9a-f]{7,40})")

PAGE = AlonePage(
    name="accuracy",
    element="accuracy",
    title="Published against predicted step time",
    heading="Published against predicted",
    about="Published training runs, each predicted while left out.",
)


def read_points(folder: Path = OUTPUT) -> dict[str, Any]:
    """Return the runs that the executed notebook of §17 handed over.

    Args:
        folder: Where executed notebooks lie.

    Raises:
        LookupError: If it has not run, or handed over nothing.
    """
    path = folder / f"{NOTEBOOK}.ipynb"
    if not path.is_file():
        raise LookupError(f"notebook {NOTEBOOK} has not run: run `make results` first")
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            if MIME in output.get("data", {}):
                found: dict[str, Any] = output["data"][MIME]
                return found
    raise LookupError(f"notebook {NOTEBOOK} hands over no runs: run `make results` again")


def address(where: str) -> str:
    """Return the web address of a source, empty if it has none.

    Args:
        where: As in ``data/sources.csv``.
    """
    if paper := _ARXIV.search(where):
        return f"https://arxiv.org/abs/{paper[1]}"
    if repository := _REPOSITORY.search(where):
        return f"https://github.com/{repository[1]}/tree/{repository[2]}"
    return ""


class _Texts:
    """A list in which each text stands once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        """Return where the text stands."""
        if text not in self._places:
            self._places[text] = len(self.all)
            self.all.append(text)
        return self._places[text]


def packed(points: dict[str, Any]) -> dict[str, Any]:
    """Return the runs as short rows over lists of texts.

    Args:
        points: From `read_points`.
    """
    texts = _Texts()
    names = list(points["sources"])
    rows = [
        [
            run["id"],
            texts.place(run["model"]),
            run["kind"],
            texts.place(run["accelerator"]),
            run["gpus"],
            texts.place(run["layout"]),
            texts.place(run["batch"]),
            names.index(run["source"]),
            run["key"],
            texts.place(run["place"]),
            run["published_s"],
            [run["errors"].get(name) for name in MODELS],
            [[round(1000 * s) for s in run["shares"].get(name, [])] for name in points["parts"]],
            [texts.place(note) for note in run["assumed"]],
            texts.place(run["software"]),
            texts.place(run["cause"]),
        ]
        for run in points["runs"]
    ]
    works = {
        key: [work["title"], work["where"], address(work["where"])]
        for source in points["sources"].values()
        for key, work in source["works"].items()
    }
    return {
        "kinds": points["kinds"],
        "parts": points["parts"],
        "sources": [[name, points["sources"][name]["name"]] for name in names],
        "works": works,
        "texts": texts.all,
        "rows": rows,
    }


def data_module(points: dict[str, Any]) -> str:
    """Return the runs as an ES module.

    Args:
        points: From `read_points`.
    """
    text = json.dumps(
        packed(points), separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).replace("</", "<\\/")
    return f"// Made from the notebook of §17; change that, not this.\nexport const DATA={text};\n"


def write_accuracy(out: Path, points: dict[str, Any] | None = None) -> None:
    """Write all generated files of the chart.

    Args:
        out: The folder that becomes part of the site's root.
        points: The runs; those of the executed notebook if None.

    Raises:
        LookupError: If the notebook has handed over none.
    """
    runs = read_points() if points is None else points
    write_figure(out, PAGE, fragment(runs), {"data.js": data_module(runs)})
