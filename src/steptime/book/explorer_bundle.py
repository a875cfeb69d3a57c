"""Many small ES modules as one file: fewer requests, and fewer bytes.

The modules stand side by side in the order in which they need each other; where two of them share
a name, each becomes a function that returns what it exports.

Good for modules in the style of this repository: an import is one statement that
names what it takes, an export stands before a declaration or lists names.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from string import ascii_letters, digits

from steptime.book.minify import small_script

_IMPORT = re.compile(
    r'^import (?:\{(?P<names>[^}]*)\} from |\* as (?P<whole>\w+) from )?"(?P<path>[^"]+)";\n?',
    re.MULTILINE,
)
_DECLARED = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
_AT_THE_TOP = re.compile(
    r"^(?:export )?(?:async )?(?:function\*?|const|let|class) (\w+|[{\[].*?[}\]](?= =))",
    re.MULTILINE | re.DOTALL,
)
_OF_WINDOWS = frozenset("close event find focus history length name open print stop top".split())
"""What every window has under such a name: a module's own would hide it from the others."""
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


def _whole(modules: dict[str, str]) -> dict[str, str]:
    """Return the modules that another takes as one object, each with its name there."""
    return {
        posixpath.normpath(posixpath.join(posixpath.dirname(path), match["path"])): match["whole"]
        for path, code in modules.items()
        for match in _IMPORT.finditer(code)
        if match["whole"]
    }


class Apart:
    """Modules as functions, each of which returns what it exports.

    Args:
        modules: Text by path, of all that the scripts hold.
    """

    def __init__(self, modules: dict[str, str]) -> None:
        self.modules = modules
        self.labels = {path: f"$m{place}" for place, path in enumerate(modules)}
        whole = _whole(modules)
        # The key under which a module gives each name: a short one, where none is read.
        short = [f"{one}{more}" for more in ("", *digits) for one in ascii_letters]
        self.keys = {
            path: {
                name: name if path in whole else short[at] for at, name in enumerate(_given(code))
            }
            for path, code in modules.items()
        }

    def body(self, paths: Sequence[str]) -> str:
        """Return the text of some modules, in their order."""
        parts = [f"const {self.labels[p]} = (() => {{\n{self._function(p)}}})();" for p in paths]
        return "\n".join(parts)

    def read_after(self, paths: Sequence[str], after: Sequence[str]) -> list[str]:
        """Return what some modules leave for others that come after them."""
        read = {one for path in after for one in imported(path, self.modules[path])}
        return [self.labels[path] for path in paths if path in read]

    def _function(self, path: str) -> str:
        """Return a module's text as the body of a function."""

        def taken(match: re.Match[str]) -> str:
            (source,) = imported(path, match.group())
            if match["whole"]:
                return f"const {match['whole']} = {self.labels[source]};\n"
            names = _names(match["names"] or "")
            pairs = ", ".join(f"{self.keys[source][name]}: {name}" for name in names)
            return f"const {{ {pairs} }} = {self.labels[source]};\n" if pairs else ""

        given = ", ".join(f"{key}: {name}" for name, key in self.keys[path].items())
        body = _plain(_IMPORT.sub(taken, self.modules[path]))
        return body + (f"\nreturn {{ {given} }};\n" if given else "")


class Flat:
    """Modules side by side under their own names, which saves what hands names from one to another.

    A module that another takes as one object stays a function.

    Args:
        modules: Text by path, of all that the scripts hold.
    """

    def __init__(self, modules: dict[str, str]) -> None:
        self.modules = modules
        self.whole = _whole(modules)

    def possible(self) -> bool:
        """Whether no two modules share a name, and none is taken both ways."""
        names = [
            name
            for path, code in self.modules.items()
            for said in ([self.whole[path]] if path in self.whole else _AT_THE_TOP.findall(code))
            for name in re.findall(r"\w+", said)
        ]
        both = any(source in self.whole for _, source, _ in self._taken(self.modules))
        return len(set(names)) == len(names) and not both and not set(names) & _OF_WINDOWS

    def _taken(self, paths: Iterable[str]) -> Iterator[tuple[str, str, str]]:
        """Give every import by name: who takes it, of which module, the name."""
        for path in paths:
            for match in _IMPORT.finditer(self.modules[path]):
                (source,) = imported(path, match.group())
                for name in _names(match["names"] or ""):
                    yield path, source, name

    def body(self, paths: Sequence[str]) -> str:
        """Return the text of some modules, in their order."""
        parts = []
        for path in paths:
            code = _plain(_IMPORT.sub("", self.modules[path]))
            if path in self.whole:
                given = ", ".join(_given(self.modules[path]))
                code = (
                    f"const {self.whole[path]} = (() => {{\n{code}\nreturn {{ {given} }};\n}})();"
                )
            parts.append(code)
        return "\n".join(parts)

    def read_after(self, paths: Sequence[str], after: Sequence[str]) -> list[str]:
        """Return what some modules leave for others that come after them."""
        read = {name for _, source, name in self._taken(after) if source in paths}
        taken = {one for path in after for one in imported(path, self.modules[path])}
        return [*sorted(read), *(self.whole[p] for p in paths if p in taken and p in self.whole)]


def _plain(code: str) -> str:
    """Return a module's text without the words that export."""
    return _LISTED.sub("", _DECLARED.sub("", code))


def _plain_script(body: str) -> str:
    # A plain script, which a page from a file may load too; its names stay its own.
    return small_script(f'(() => {{\n"use strict";\n{body}\n}})();\n') + ";\n"


def one_script(entry: str, modules: dict[str, str]) -> str:
    """Return one script that does what a module and all that it needs do.

    Args:
        entry: Path of the module that starts it.
        modules: Text by path.
    """
    return scripts([entry], (), modules)[0]


def scripts(chain: Sequence[str], later: Sequence[str], modules: dict[str, str]) -> list[str]:
    """Return the scripts of modules of which each is fetched after those before it.

    A script has what the earlier ones lack, and shares what is in both: those of the chain leave
    in ``stParts`` what is read after them. The later ones come in any order, once it is there.

    Args:
        chain: Paths of modules, in the order in which they are fetched.
        later: Paths of modules that are fetched afterwards.
        modules: Text by path.
    """
    had: set[str] = set()
    steps: list[list[str]] = []
    for entry in chain:
        steps.append([path for path in needed_order(entry, modules) if path not in had])
        had |= set(steps[-1])
    steps += [[p for p in needed_order(one, modules) if p not in had] for one in later]
    form = _form([path for step in steps for path in step], modules)
    handed: list[str] = []
    found = []
    for place, paths in enumerate(steps):
        after = sorted({path for step in steps[place + 1 :] for path in step})
        taken = f"const [{','.join(handed)}]=globalThis.stParts;\n" if handed else ""
        body = taken + form.body(paths)
        if place < len(chain):
            mine = form.read_after(paths, after)
            body += _handing(handed, mine)
            handed += mine
        found.append(_plain_script(body))
    return found


def _form(paths: Sequence[str], modules: dict[str, str]) -> Flat | Apart:
    """Return how modules stand in one script: side by side, where no two share a name."""
    used = {path: modules[path] for path in paths}
    flat = Flat(used)
    return flat if flat.possible() else Apart(used)


def _handing(before: Sequence[str], mine: Sequence[str]) -> str:
    """Return the statement that leaves a script's parts for those after it."""
    listed = ",".join(mine)
    if not mine:
        return ""
    return (
        f"\nglobalThis.stParts.push({listed});" if before else f"\nglobalThis.stParts=[{listed}];"
    )
