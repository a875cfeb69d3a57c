"""Write the Python reference, one page a room, from signatures and docstrings."""

from __future__ import annotations

import re
from pathlib import Path

from steptime.book.site.docstrings import Docstring, Member, items, module_text, public_members

ROOMS = ("inputs", "formulas", "pipeline", "parallel", "evidence", "planning")
_ROLE = re.compile(r":(?:func|class|mod|meth|data|ref|doc):`~?\.?([^`]+)`")
_SINGLE = re.compile(r"(?<![`\w{}])`([^`\n]+)`(?!`)")
_DOUBLE = re.compile(r"``([^`]+)``")
_CODE_FOLLOWS = re.compile(r"::$", re.MULTILINE)
_KEY = re.compile(r"^([a-z][a-z0-9]+(?:19|20)\d\d[a-z]?)\b")


def as_markdown(text: str) -> str:
    """Return docstring text as Markdown.

    Args:
        text: Plain text with double backticks for code, or single ones for names.
    """
    text = _ROLE.sub(r"`\1`", text)
    text = _CODE_FOLLOWS.sub(":", text)
    text = _DOUBLE.sub(r"`\1`", text)
    # What is left could be read as markup: a dollar opens a formula, a brace a role.
    pieces = re.split(r"(`[^`]+`)", text)
    for place in range(0, len(pieces), 2):
        pieces[place] = re.sub(r"([$*_<\[\]{}])", r"\\\1", pieces[place])
    return "".join(pieces)


def _listed(lines: list[str]) -> str:
    """Return a section's entries as a list."""
    return "\n".join(f"- `{name}`: {as_markdown(what)}" for name, what in items(lines))


def sources_line(lines: list[str], keys: frozenset[str]) -> str:
    """Return a section of sources, each key a link into the bibliography."""
    done = []
    for part in " ".join(line.strip() for line in lines).split(";"):
        text = part.strip().rstrip(".")
        hit = _KEY.match(text)
        if hit and hit[1] in keys:
            done.append(f"{{cite:t}}`{hit[1]}`{as_markdown(text[hit.end() :])}")
        elif text:
            done.append(as_markdown(text))
    return "Source: " + "; ".join(done) + "."


def _body(doc: Docstring, keys: frozenset[str]) -> list[str]:
    """Return the blocks of one docstring."""
    blocks = [as_markdown(doc.text)]
    for name, lines in doc.sections.items():
        if name in {"Args", "Attributes", "Raises"} and items(lines):
            title = {"Args": "Takes", "Attributes": "Holds", "Raises": "Refuses"}[name]
            blocks.append(f"{title}:\n\n{_listed(lines)}")
        elif name == "References":
            blocks.append(sources_line(lines, keys))
        elif name == "Example":
            blocks.append("```python\n" + "\n".join(lines) + "\n```")
        elif name in {"Returns", "Yields"}:
            blocks.append(f"{name}: {as_markdown(' '.join(lines))}")
        else:
            blocks.append(as_markdown("\n".join(lines)))
    return blocks


def _member(member: Member, module: str, level: int, keys: frozenset[str]) -> list[str]:
    """Return the blocks of a function or class."""
    blocks = [
        f"{'#' * level} `{member.name}`",
        f"```python\n{member.signature}\n```",
        *_body(member.doc, keys),
    ]
    for method in member.members:
        blocks += [f"```python\n{method.signature}\n```", *_body(method.doc, keys)]
    return blocks


def room_page(room: str, package: Path, keys: frozenset[str]) -> str:
    """Return one room's page.

    Args:
        room: Its name, such as ``formulas``.
        package: The folder of ``steptime``.
        keys: Every key of the bibliography.
    """
    blocks = [f"# steptime.{room}", as_markdown(module_text(package / room / "__init__.py"))]
    for path in sorted((package / room).rglob("*.py")):
        members = list(public_members(path))
        if not members or any(part.startswith("_") for part in (path.stem,) if part != "__init__"):
            continue
        parts = path.relative_to(package.parent).with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        blocks.append(f"## {module}")
        if path.name != "__init__.py":
            blocks.append(as_markdown(module_text(path)))
        for member in members:
            blocks += _member(member, module, 3, keys)
    return "\n\n".join(block for block in blocks if block.strip()) + "\n"


def index_page(package: Path) -> str:
    """Return the page that says which room holds what.

    Args:
        package: The folder of ``steptime``.
    """
    lines = [
        "# Python reference",
        "",
        "Made from the signatures and docstrings of the package. Imports go down this list",
        "only, so a room can be read without those below it.",
        "",
    ]
    for room in ROOMS:
        about = as_markdown(module_text(package / room / "__init__.py")).split("\n\n")[0]
        lines.append(f"- [steptime.{room}](python-{room}.md): {about}".replace("\n", " "))
    return "\n".join(lines) + "\n"


def pages(package: Path, bibliography: Path) -> dict[str, str]:
    """Return every page of the reference, by its file's name.

    Args:
        package: The folder of ``steptime``.
        bibliography: The ``.bib`` file.
    """
    entries = bibliography.read_text(encoding="utf-8") if bibliography.is_file() else ""
    keys = frozenset(re.findall(r"^@\w+\{([^,\s]+)", entries, re.MULTILINE))
    found = {f"python-{room}.md": room_page(room, package, keys) for room in ROOMS}
    return {"python.md": index_page(package), **found}
