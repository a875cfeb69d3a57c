"""Many small ES modules as one file: fewer requests, and fewer bytes.

Each module becomes one function that returns what it exports, in the order in which they need
each other. Good for modules in the style of this repository: an import is one statement that
names what it takes, an export stands before a declaration or lists names.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from string import ascii_letters, digits

from steptime.book.minify import small_script

_IMPORT = re.compile(
    r'^import (?:\{(?P<names>[^}]*)\} from |\* as (?P<whole>\w+) from )?"(?P<path>[^"]+)";\n?',
    re.MULTILINE,
)
_DECLARED = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
_LISTED = re.compile(r"^export \{([^}]*)\};?\n?", re.MULTILINE)


def imported(path: str, code: str) -> list[str]:
    """Return the paths of the modules that a module imports, in its order.

    Args:
        path: Of the module, as a key of all modules.
        code: Its text.
    """
    folder = posixpath.dirname(path)
    found = (match["path"] for match in _IMPORT.finditer(code))
    return [posixpath.normpath(posixpath.join(folder, one)) for one in found]


def needed_order(entry: str, modules: dict[str, str]) -> list[str]:
    """Return a module and all that it needs, what is needed first.

    Args:
        entry: Path of the module.
        modules: Text by path.

    Raises:
        ValueError: If modules need each other in a ring.
    """
    order: list[str] = []
    waiting: list[str] = []

    def visit(path: str) -> None:
        if path in waiting:
            raise ValueError(f"{path} needs itself: {' -> '.join(waiting)}")
        if path in order:
            return
        waiting.append(path)
        for one in imported(path, modules[path]):
            visit(one)
        order.append(waiting.pop())

    visit(entry)
    return order


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _given(code: str) -> list[str]:
    """Return the names that a module exports."""
    listed = [name for found in _LISTED.findall(code) for name in _names(found)]
    return _DECLARED.findall(code) + listed


def _keys(modules: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return by module the key under which it gives each name: a short one, where none is read."""
    whole = {
        posixpath.normpath(posixpath.join(posixpath.dirname(path), match["path"]))
        for path, code in modules.items()
        for match in _IMPORT.finditer(code)
        if match["whole"]
    }
    short = [f"{one}{more}" for more in ("", *digits) for one in ascii_letters]
    return {
        path: {name: name if path in whole else short[at] for at, name in enumerate(_given(code))}
        for path, code in modules.items()
    }


def _as_function(
    path: str, code: str, labels: dict[str, str], keys: dict[str, dict[str, str]]
) -> str:
    """Return a module's text as the body of a function."""

    def taken(match: re.Match[str]) -> str:
        (source,) = imported(path, match.group())
        if match["whole"]:
            return f"const {match['whole']} = {labels[source]};\n"
        pairs = ", ".join(f"{keys[source][name]}: {name}" for name in _names(match["names"] or ""))
        return f"const {{ {pairs} }} = {labels[source]};\n" if pairs else ""

    given = ", ".join(f"{key}: {name}" for name, key in keys[path].items())
    body = _LISTED.sub("", _DECLARED.sub("", _IMPORT.sub(taken, code)))
    return body + (f"\nreturn {{ {given} }};\n" if given else "")


def _labelled(
    order: list[str],
    modules: dict[str, str],
    labels: dict[str, str],
    keys: dict[str, dict[str, str]],
) -> str:
    """Return modules as functions called in their order, each with a name of its own."""
    parts = []
    for path in order:
        body = _as_function(path, modules[path], labels, keys)
        parts.append(f"const {labels[path]} = (() => {{\n{body}}})();")
    return "\n".join(parts)


def _plain_script(body: str) -> str:
    # A plain script, which a page from a file may load too; its names stay its own.
    return small_script(f'(() => {{\n"use strict";\n{body}\n}})();\n') + ";\n"


def one_script(entry: str, modules: dict[str, str]) -> str:
    """Return one script that does what a module and all that it needs do.

    Args:
        entry: Path of the module that starts it.
        modules: Text by path.
    """
    return scripts(entry, (), modules)[0]


def scripts(entry: str, later: Sequence[str], modules: dict[str, str]) -> list[str]:
    """Return the script of a module, and one each of modules that it fetches afterwards.

    A later script has what the first lacks, and shares what is in both: the first leaves its
    modules in ``stParts``.

    Args:
        entry: Path of the module that starts it.
        later: Paths of modules that are fetched.
        modules: Text by path.
    """
    order = needed_order(entry, modules)
    lacking = {one: [p for p in needed_order(one, modules) if p not in order] for one in later}
    labels = {path: f"$m{place}" for place, path in enumerate(order)}
    read = {one for paths in lacking.values() for p in paths for one in imported(p, modules[p])}
    shared = [labels[path] for path in order if path in read]
    given = f"\nglobalThis.stParts=[{','.join(shared)}];" if shared else ""
    keys = _keys(modules)
    found = [_plain_script(_labelled(order, modules, labels, keys) + given)]
    for paths in lacking.values():
        more = {**labels, **{path: f"$n{place}" for place, path in enumerate(paths)}}
        taken = f"const [{','.join(shared)}]=globalThis.stParts;\n"
        found.append(_plain_script(taken + _labelled(paths, modules, more, keys)))
    return found
