"""Where a number or a figure comes from: what made it, from what, and how to make it again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path

from steptime.book.results.notebooks import Notebook, all_notebooks

_CITED = re.compile(r"\{cite(?::\w)?\}`([^`]+)`")
LONGEST = 90
"""Letters of parameters that are shown."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What made a number or a figure.

    Attributes:
        page: The page that tells of it, from the site's root, without its ending.
        made_by: The notebook or the function.
        parameters: With which it ran; empty where there are none.
        sources: Keys of the works that it cites; empty where there are none.
        command: What makes it again.
    """

    page: str
    made_by: str
    parameters: str
    sources: str
    command: str

    def lines(self) -> list[str]:
        """Return what a reader is told, a line each."""
        told = [f"From {self.made_by}"]
        if self.parameters:
            told.append(f"Parameters: {self.parameters}")
        if self.sources:
            told.append(f"Sources: {self.sources}")
        return [*told, f"Again: {self.command}"]


def notebook_origin(notebook: Notebook) -> Origin:
    """Return where the numbers of a notebook come from.

    Args:
        notebook: The notebook.
    """
    pairs = [f"{name} = {value}" for name, value in notebook.all_parameters().items()]
    text = ", ".join(pairs)
    prose = "\n".join(
        cell["source"] for cell in notebook.cells() if cell["cell_type"] == "markdown"
    )
    keys = dict.fromkeys(key for hit in _CITED.findall(prose) for key in hit.split(","))
    return Origin(
        page=f"build/notebooks/{notebook.name}",
        made_by=f"notebook {notebook.name}",
        parameters=text if len(text) <= LONGEST else f"{text[:LONGEST]} …",
        sources=", ".join(keys),
        command=f"python -m steptime.book.results --only {notebook.section}",
    )


def example_origin(maker: Callable[[], dict[str, str]]) -> Origin:
    """Return where the numbers of worked examples come from.

    Args:
        maker: The function that gives them all.
    """
    return _called("book/rerun", maker.__module__, maker.__name__, "print(f())")


def figure_origin(name: str, steps: Path) -> Origin | None:
    """Return where a figure that runs in the browser comes from, None where nobody noted it.

    Args:
        name: Of the figure.
        steps: File with the function that writes each, by the figure's name.
    """
    made = json.loads(steps.read_text(encoding="utf-8")) if steps.is_file() else {}
    if name not in made:
        return None
    module, _, writer = made[name].partition(":")
    call = "from pathlib import Path; f(Path('web'))"
    chosen = "what you choose; at first as drawn here"
    return _called("book/built", module, writer, call, parameters=chosen)


def _called(page: str, module: str, name: str, call: str, parameters: str = "") -> Origin:
    """Return the origin of what a function makes; ``call`` calls it as ``f``."""
    return Origin(
        page=page,
        made_by=f"{module}.{name}",
        parameters=parameters,
        sources="",
        command=f'python -c "from {module} import {name} as f; {call}"',
    )


def origin_of(notebook: str) -> Origin:
    """Return where what a notebook shows comes from.

    Args:
        notebook: Its name, such as ``17_roofline``.

    Raises:
        LookupError: If there is no such notebook.
    """
    for one in all_notebooks():
        if one.name == notebook:
            return notebook_origin(one)
    raise LookupError(f"no notebook is called {notebook}")


def link_below(origin: Origin, docname: str, words: str = "") -> str:
    """Return the line under a figure or a table that leads to what made it, as HTML.

    Args:
        origin: What made it.
        docname: Of the page that shows it.
        words: Of the link; else it names what made it.
    """
    up = "../" * docname.count("/")
    told = escape("\n".join(origin.lines()))
    return (
        f'<p class="st-made"><a class="st-from" href="{up}{origin.page}.html" '
        f'data-from="{told}">{escape(words or f"From {origin.made_by}")}</a></p>'
    )
