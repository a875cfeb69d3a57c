"""Put results.md together from the outputs of the executed notebooks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from steptime.book.glue import PREFIX
from steptime.book.references import references
from steptime.book.results.captions import captions, with_captions
from steptime.book.results.notebooks import OUTPUT, Notebook

HEAD = """\
# Results

Made by `make results` from the notebooks in `notebooks/`. Do not edit it: change the
notebook, or the code under `src/`, and run that again.

Each number is *published* (printed in its source), *model* (worked out, nothing fitted) or
*fitted*. Keys such as `narayanan2021` stand for the sources listed at the end.
"""

_CITE = re.compile(r"\{cite(?::[a-z]+)?\}`([^`]+)`")
_VALUE = re.compile(r"\{(?:glue:text|value)\}`([^`:]+)(?::[^`]*)?`")
_LINKED = re.compile(r"\{(?:doc|ref|numref|term)\}`(?:([^`<]+?) *<[^`>]+>|([^`]+))`")
_MATH = re.compile(r"\{math\}`([^`]+)`")
_TITLE = re.compile(r"# (§\d+[a-z]? .+)")
_KEY = re.compile(r"\b[a-z]+(?:19|20)\d\d[a-z0-9]*\b")


class NotebookError(ValueError):
    """A notebook that ran, but has not the shape that results.md needs."""


def read_executed(notebook: Notebook, folder: Path = OUTPUT) -> dict[str, Any]:
    """Return an executed notebook as plain JSON, sources joined.

    Args:
        notebook: Which one.
        folder: Where the executed notebooks lie.
    """
    path = folder / f"{notebook.name}.ipynb"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for cell in content["cells"]:
        cell["source"] = "".join(cell["source"])
    return content


def glued_values(content: dict[str, Any]) -> dict[str, str]:
    """Return each value that the notebook handed to the prose, by its name.

    Args:
        content: An executed notebook.
    """
    values: dict[str, str] = {}
    for cell in content["cells"]:
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name:
                values[name] = "".join(output["data"][f"{PREFIX}text/plain"]).strip("'")
    return values


def plain(text: str, values: dict[str, str]) -> str:
    """Return a page's text for a reader of the bare Markdown file.

    Args:
        text: MyST, with roles for citations, values, links and formulas.
        values: What ``glue`` recorded.

    Raises:
        NotebookError: If a value is used that no cell recorded.
    """

    def value(hit: re.Match[str]) -> str:
        if hit[1] not in values:
            raise NotebookError(f"the text uses {hit[1]!r}, but no cell glues it")
        return values[hit[1]]

    text = _VALUE.sub(value, text)
    text = _CITE.sub(lambda hit: "[" + ", ".join(hit[1].split(",")) + "]", text)
    text = _LINKED.sub(lambda hit: hit[1] or hit[2], text)
    return _MATH.sub(r"$\1$", text)


def _tables(cells: list[dict[str, Any]]) -> list[str]:
    """Return the Markdown of every output of a cell tagged ``results``."""
    return [
        with_captions(
            "".join(output["data"]["text/markdown"]).strip(), captions(cell["source"]), _captioned
        )
        for cell in cells
        if "results" in cell["metadata"].get("tags", [])
        for output in cell.get("outputs", [])
        if "text/markdown" in output.get("data", {})
    ]


def _captioned(table: str, caption: str) -> str:
    """Return a table below its caption."""
    return f"*{caption}*\n\n{table}"


def sources(text: str) -> str:
    """Return the section that says what each key in a text stands for, and where to read it.

    Args:
        text: The sections before it.
    """
    known = references()
    named = set(_KEY.findall(text)) & set(known)
    lines = [
        f"- `{one.key}`: {one.name}. [{one.title}]({one.url})."
        if one.url
        else f"- `{one.key}`: {one.name}. {one.title}."
        for one in sorted((known[key] for key in named), key=lambda one: one.key)
    ]
    return "## Sources\n\n" + "\n".join(lines) if lines else ""


def _written(value: object) -> str:
    """Return a parameter's value, long lists cut short."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "…"


def section(notebook: Notebook, content: dict[str, Any]) -> str:
    """Return one section of results.md.

    Args:
        notebook: Where it comes from.
        content: The same, executed.

    Raises:
        NotebookError: If it has no ``# §NN Title``, no results table, or a value missing.
    """
    cells = content["cells"]
    prose = [cell["source"] for cell in cells if cell["cell_type"] == "markdown"]
    title = _TITLE.match(prose[0]) if prose else None
    if title is None or title[1].split()[0][1:] != notebook.section:
        raise NotebookError(f"the first cell must begin '# §{notebook.section} Title'")
    tables = _tables(cells)
    if not tables:
        raise NotebookError("no cell tagged 'results' displays text/markdown")
    values = glued_values(content)
    sources = sorted(
        {k.strip() for text in prose for hit in _CITE.findall(text) for k in hit.split(",")}
    )
    parameters = notebook.all_parameters()
    origin = [f"Notebook: [{notebook.path.name}](notebooks/{notebook.path.name})"]
    if parameters:
        said = ", ".join(f"`{name} = {_written(value)}`" for name, value in parameters.items())
        origin.append(f"parameters: {said}")
    if sources:
        origin.append("sources: " + ", ".join(sources))
    reading = [text for text in prose[1:] if text.lstrip().startswith("**Reading")]
    blocks = [f"## {title[1].strip()}", prose[0][title.end() :], *tables, *reading]
    texts = [plain(block, values).strip() for block in blocks]
    return "\n\n".join([text for text in texts if text] + [" · ".join(origin) + "."])


def assemble(notebooks: list[Notebook], folder: Path = OUTPUT) -> str:
    """Return the whole of results.md.

    Args:
        notebooks: All of them, in order.
        folder: Where they lie, executed.

    Raises:
        NotebookError: If one has not the shape needed (it is named), or two use one name.
    """
    parts, owner = [HEAD.strip()], dict[str, str]()
    for notebook in notebooks:
        content = read_executed(notebook, folder)
        for name in glued_values(content):
            if name in owner:
                raise NotebookError(f"{name!r} is glued in {owner[name]} and {notebook.name}")
            owner[name] = notebook.name
        try:
            parts.append(section(notebook, content))
        except NotebookError as problem:
            raise NotebookError(f"notebooks/{notebook.path.name}: {problem}") from problem
    listed = sources("\n".join(parts))
    return "\n\n".join([*parts, listed] if listed else parts) + "\n"
