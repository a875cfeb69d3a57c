"""Read modules and their Google docstrings, without importing them where the source says all."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises", "References", "Example", "Note")
_HEAD = re.compile(rf"^({'|'.join(SECTIONS)})s?:\s*(.*)$")
_ITEM = re.compile(r"^(\*{0,2}[\w.]+(?: \([^)]*\))?): *(.*)$")


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring in its parts.

    Attributes:
        text: What stands before the first section.
        sections: The lines of each section, dedented.
    """

    text: str
    sections: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A public function, class or method.

    Attributes:
        name: Its name; a method's is ``Class.method``.
        signature: The first line of its definition, on as many lines as it needs.
        doc: Its docstring.
        members: A class's public methods.
    """

    name: str
    signature: str
    doc: Docstring
    members: tuple[Member, ...] = ()


def parsed(text: str) -> Docstring:
    """Return a docstring in its parts.

    Args:
        text: As it stands in the source.
    """
    before: list[str] = []
    sections: dict[str, list[str]] = {}
    current = before
    for line in inspect.cleandoc(text).splitlines():
        head = _HEAD.match(line)
        if head:
            current = sections.setdefault(head[1], [])
            if head[2]:
                current.append(head[2])
        else:
            current.append(line)
    bodies = {
        name: inspect.cleandoc("\n".join(["", *lines])).splitlines()
        for name, lines in sections.items()
    }
    return Docstring("\n".join(before).strip(), bodies)


def items(lines: list[str]) -> list[tuple[str, str]]:
    """Return the ``name: what`` entries of a section, continued lines joined.

    Args:
        lines: The section's lines.
    """
    found: list[tuple[str, str]] = []
    for line in lines:
        hit = None if line.startswith(" ") else _ITEM.match(line)
        if hit:
            found.append((hit[1], hit[2]))
        elif found and line.strip():
            name, text = found[-1]
            found[-1] = (name, f"{text} {line.strip()}".strip())
    return found


def _signature(node: ast.FunctionDef | ast.ClassDef, owner: str = "") -> str:
    """Return the definition's head, one parameter a line if it is long."""
    if isinstance(node, ast.ClassDef):
        if _is_record(node):
            return node.name
        fields = [
            ast.unparse(line)
            for line in node.body
            if isinstance(line, ast.AnnAssign) and not ast.unparse(line.target).startswith("_")
        ]
        is_data = any("dataclass" in ast.unparse(one) for one in node.decorator_list)
        # A dict with fixed keys is a class that does nothing.
        is_data = is_data or not any(isinstance(line, ast.FunctionDef) for line in node.body)
        parts, after = (fields if is_data else []), ""
    elif _is_property(node):
        return f"{owner}.{node.name}: {ast.unparse(node.returns) if node.returns else 'Any'}"
    else:
        parts = _split(ast.unparse(node.args))
        if owner and parts and parts[0] in {"self", "cls"}:
            parts = parts[1:]
        after = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    name = f"{owner}.{node.name}" if owner else node.name
    line = f"{name}({', '.join(parts)}){after}"
    if len(line) <= 76:
        return line
    inner = "".join(f"    {part},\n" for part in parts)
    return f"{name}(\n{inner}){after}"


def _is_record(node: ast.ClassDef) -> bool:
    """Whether a class says only which fields an object must have."""
    return any(ast.unparse(base) == "Protocol" for base in node.bases) and all(
        _is_property(one) for one in node.body if isinstance(one, ast.FunctionDef)
    )


def _is_property(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(one) == "property" for one in node.decorator_list)


def _doc(node: ast.FunctionDef | ast.ClassDef) -> Docstring:
    """Return a member's docstring; a record's fields count as its attributes."""
    doc = parsed(ast.get_docstring(node, clean=False) or "")
    if isinstance(node, ast.ClassDef) and _is_record(node):
        held = [one for one in node.body if isinstance(one, ast.FunctionDef)]
        said = [" ".join(_doc(one).text.split()) for one in held]
        types = [f"``{ast.unparse(one.returns)}``" if one.returns else "" for one in held]
        lines = [
            f"{one.name}: {text or kind}" for one, text, kind in zip(held, said, types, strict=True)
        ]
        return Docstring(doc.text, {**doc.sections, "Attributes": lines})
    return doc


def _split(text: str) -> list[str]:
    """Return an argument list cut at its outer commas."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [part for part in [*parts, text[start:].strip()] if part]


def _of_fields(node: ast.FunctionDef | ast.ClassDef, path: Path) -> Member | None:
    """Return a function that takes a dictionary of fields with what it then takes, by name.

    Its signature and its words are made when it is imported.
    """
    rest = node.args.kwarg if isinstance(node, ast.FunctionDef) else None
    if rest is None or rest.annotation is None or "Unpack" not in ast.unparse(rest.annotation):
        return None
    parts = path.with_suffix("").parts
    module = ".".join(parts[len(parts) - parts[::-1].index("steptime") - 1 :])
    function = getattr(importlib.import_module(module), node.name)
    asked = inspect.signature(function)
    lines = [f"    {_plain(str(one))},\n" for one in asked.parameters.values()]
    after = f" -> {asked.return_annotation}"
    signature = f"{node.name}(\n{''.join(lines)}){after}"
    return Member(name=node.name, signature=signature, doc=parsed(function.__doc__ or ""))


def _plain(text: str) -> str:
    """Return a parameter with the names of types alone, not where they are from."""
    return re.sub(r"\b[a-z_]+\.(?:[a-z_]+\.)*(?=[A-Z])", "", text)


def public_members(path: Path) -> Iterator[Member]:
    """Yield the public functions and classes that a module defines, in its order.

    Args:
        path: The module's file.
    """
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        asked = _of_fields(node, path)
        if asked is not None:
            yield asked
            continue
        methods = tuple(
            Member(
                name=f"{node.name}.{one.name}",
                signature=_signature(one, node.name),
                doc=_doc(one),
            )
            for one in node.body
            if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")
        )
        yield Member(
            name=node.name,
            signature=_signature(node),
            doc=_doc(node),
            members=methods if isinstance(node, ast.ClassDef) and not _is_record(node) else (),
        )


def module_text(path: Path) -> str:
    """Return a module's own docstring.

    Args:
        path: The module's file.
    """
    module = ast.parse(path.read_text(encoding="utf-8"))
    return parsed(ast.get_docstring(module, clean=False) or "").text
