"""Turn an executed notebook into a page for readers, as it is read.

The notebook's own order is that of work: question, code, tables, what they say. A reader
wants the answer after the question, then the tables with captions and named sources, then
the figures, and the code at the end, folded. The file itself stays as it was run.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from steptime.book.references import references
from steptime.book.results.captions import captions, with_captions, with_leads
from steptime.book.results.notebooks import all_notebooks
from steptime.book.site.citations import captioned, named

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = "build/notebooks/"
READ_ON = {
    "11": "accuracy",
    "11a": "assumptions",
    "12": "pipeline",
    "13": "tensor",
    "14": "sequence-context",
    "15": "expert",
    "16": "layouts",
    "17": "roofline",
    "17c": "knowledge",
    "17d": "accuracy",
    "17e": "rerun",
    "18": "memory",
    "19": "hardware",
    "20": "search",
    "21": "rerun",
    "22": "rerun",
}
"""The page that tells the story behind a section; §12b reads on at §12's."""

_ROLE = re.compile(r"\{glue:text\}(?=`)")
_READING = "**Reading.**"


def _markdown(text: str) -> dict[str, Any]:
    name = "page-" + hashlib.sha256(text.encode()).hexdigest()[:8]
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def _shown(cell: dict[str, Any], keys: frozenset[str]) -> dict[str, Any]:
    """Return a code cell as its output alone, tables with captions and sources with names."""
    source = "".join(cell["source"])
    tags = cell["metadata"].get("tags", [])
    outputs = []
    for output in cell.get("outputs", []):
        data = dict(output.get("data", {}))
        if "text/markdown" in data:
            text = named("".join(data["text/markdown"]), keys)
            text = with_captions(text, captions(source), captioned)
            data["text/markdown"] = with_leads(text, captioned)
        outputs.append({**output, "data": data} if data else output)
    # A tutorial shows what its cells ask.
    hidden = [] if {"remove-cell", "show-input"} & set(tags) else ["remove-input"]
    return {
        **cell,
        "outputs": outputs,
        "metadata": {**cell["metadata"], "tags": [*tags, *hidden]},
    }


def _again(name: str, parameters: dict[str, Any], code: list[str]) -> str:
    """Return the last part of the page: how to run it, and its code."""
    said = "".join(f"- `{key} = {json.dumps(value)}`\n" for key, value in parameters.items())
    cells = "\n\n".join(code)
    return (
        "## Run it yourself\n\n"
        f"This page is `notebooks/{name}.ipynb`, run by papermill with\n\n{said}\n"
        f"and {{doc}}`runs with others too </book/rerun>`.\n\n"
        ":::{dropdown} The notebook's code\n:class-container: st-code\n\n"
        f"```python\n{cells}\n```\n:::"
    )


def page(text: str, keys: frozenset[str], name: str, parameters: dict[str, Any]) -> str:
    """Return the notebook that the page is made from.

    Args:
        text: The executed notebook.
        keys: Every key of the bibliography.
        name: The notebook's name, such as ``12_bubble``.
        parameters: What it ran with.
    """
    content = json.loads(text)
    prose, shown, code = [], [], []
    for cell in content["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            prose.append(_ROLE.sub("{value}", source))
        elif cell["cell_type"] == "code":
            shown.append(_shown(cell, keys))
            code.append(source)
    answers = [one for one in prose[1:] if one.lstrip().startswith(_READING)]
    others = [one for one in prose[1:] if one not in answers]
    section = name.partition("_")[0]
    story = READ_ON.get(section) or READ_ON[section.rstrip("abc")]
    title, _, question = prose[0].partition("\n")
    blocks = [f"{title}\n\n{question.strip()}\n\nThe story around it: {{doc}}`/book/{story}`."]
    for one in answers:
        said = one.lstrip().removeprefix(_READING).strip()
        blocks.append(f":::{{admonition}} In short\n:class: tip st-answer\n{said}\n:::")
    content["cells"] = [
        *map(_markdown, blocks),
        *shown,
        *map(_markdown, [*others, _again(name, parameters, code)]),
    ]
    return json.dumps(content)


def on_read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Change a notebook's text as it is read."""
    if not docname.startswith(FOLDER):
        return
    name = docname.removeprefix(FOLDER)
    for notebook in all_notebooks():
        if notebook.name == name:
            keys = frozenset(references())
            source[0] = page(source[0], keys, name, notebook.all_parameters())


def setup(app: Sphinx) -> None:
    """Register it."""
    app.connect("source-read", on_read)
