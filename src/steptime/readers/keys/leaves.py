"""Every value of a file of keys, whatever its syntax: YAML, JSON or TOML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.entries import Entry
from steptime.readers.keys.formats import Format, wrappers
from steptime.readers.keys.resolve import Resolver
from steptime.readers.keys.safe import LARGEST_LAUNCH_BYTES, json_object, line_of, toml_object
from steptime.readers.keys.yaml_lines import MOST_LEAVES, Leaf, yaml_leaves

_LONGEST_NAME = 200
MOST_KEYS = 3000


def file_leaves(text: str, syntax: str, name: str) -> list[Leaf]:
    """Return the values of a file with their keys and lines.

    Args:
        text: The file's text.
        syntax: yaml, json or toml.
        name: What to call the file.

    Raises:
        ConfigError: With the line, for what is not of that syntax.
    """
    if syntax == "yaml":
        return gathered(yaml_leaves(text, name))
    if syntax == "toml":
        return list(_toml_leaves(toml_object(text, name), text))
    table = json_object(text, name)
    if len(text) <= LARGEST_LAUNCH_BYTES and "\\" not in text:
        # JSON is YAML in brackets, whose parser tells the lines.
        return gathered(yaml_leaves(text.replace("\t", " "), name))
    return list(_flat(table, ()))


def gathered(leaves: list[Leaf]) -> list[Leaf]:
    """Return the leaves with the items of a list as one value.

    Args:
        leaves: In the order of the file.
    """
    lists: dict[tuple[str, ...], list[object]] = {}
    out: list[Leaf] = []
    for leaf in leaves:
        if leaf.path and leaf.path[-1].isdigit():
            outer = leaf.path[:-1]
            if outer not in lists:
                lists[outer] = []
                out.append(Leaf(outer, lists[outer], leaf.line))
            lists[outer].append(leaf.value)
        else:
            out.append(leaf)
    return out


def _flat(table: Mapping[str, Any], outer: tuple[str, ...]) -> Iterator[Leaf]:
    """Yield the values of nested tables; their lines are not known."""
    for key, value in list(table.items())[:MOST_LEAVES]:
        path = (*outer, str(key)[:_LONGEST_NAME])
        if isinstance(value, dict):
            yield from _flat(value, path)
        else:
            yield Leaf(path, value, 0)


def _toml_leaves(table: Mapping[str, Any], text: str) -> Iterator[Leaf]:
    """Yield the values of a TOML file with their lines, as far as those are found."""
    lines = text.splitlines()
    starts = {line.strip(): number for number, line in enumerate(lines, 1) if line[:1] == "["}
    for place, leaf in enumerate(_flat(table, ())):
        if place >= MOST_LEAVES:
            return
        start = starts.get(f"[{'.'.join(leaf.path[:-1])}]", 0)
        # A line costs a walk over the file, and no real file has so many keys.
        line = line_of(text, leaf.path[-1], after=start) if place < 500 else 0
        yield Leaf(leaf.path, leaf.value, line)


def unwrapped_keys(leaves: list[Leaf]) -> list[Leaf]:
    """Return the leaves with a framework's own keys at the top, whatever program keeps them.

    Args:
        leaves: Of the file.
    """
    around = wrappers()
    return [
        Leaf(leaf.path[1:], leaf.value, leaf.line)
        if len(leaf.path) > 1 and leaf.path[0].lower() in around
        else leaf
        for leaf in leaves
    ]


def plain_name(path: tuple[str, ...]) -> str:
    """Return a path of keys as formats name it.

    Args:
        path: The keys as the file has them.
    """
    # Megatron-LM's own tests write the flags themselves as keys.
    parts = [part.lstrip("-").replace("-", "_").lower() for part in path]
    return ".".join(parts)[-_LONGEST_NAME:]


def overruled(form: Format, names: list[str]) -> dict[str, str]:
    """Return the section that counts alone for a key, for the sections that a file has.

    Args:
        form: The format.
        names: Every name of the file.
    """
    sections = {part for name in names for part in name.split(".")[:-1]}
    return {
        key: section
        for section, keys in form.over.items()
        if section in sections
        for key in keys.split()
    }


def tree_entries(
    leaves: list[Leaf], form: Format, given: Mapping[str, str], file: str
) -> Iterator[Entry]:
    """Yield the leaves under our names; those that mean nothing here under none.

    Args:
        leaves: Of the file.
        form: Its format.
        given: What its user sets, for ``${NAME}``.
        file: What to call the file.

    Raises:
        ConfigError: If it has more keys than any launch file.
    """
    if len(leaves) > MOST_KEYS:
        raise ConfigError(f"{file}: over {MOST_KEYS} keys; a launch file has far fewer")
    resolver = Resolver({".".join(leaf.path): leaf.value for leaf in leaves}, given)
    named = [(leaf, plain_name(leaf.path)) for leaf in leaves]
    over = overruled(form, [name for _, name in named])
    for leaf, name in named:
        parts = name.split(".")
        if parts[-1] in over and over[parts[-1]] not in parts[:-1]:
            continue
        value, known = resolver.value(leaf.value, leaf.path)
        key = form.our_name(parts) or f"?{name}"
        written = ", ".join(filter(None, (leaf.file, ".".join(leaf.path)[-80:])))
        yield Entry(key, value, leaf.line, written, known, name)
