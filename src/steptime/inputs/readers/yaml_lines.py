"""The YAML that training configurations use, read line by line.

Mappings, lists, quoted and plain scalars, flow lists, literal blocks, and simple anchors.
A file that goes beyond is refused with the line. A full YAML parser would be a dependency,
forgets the lines, and takes many seconds for a hostile megabyte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from steptime.inputs.errors import ConfigError
from steptime.inputs.readers.safe import DEEPEST, shown

MOST_LEAVES = 50_000
_KEY = re.compile(
    r"""((?:"[^"]*"|'[^']*'|[^\s#:\[\]{},&*!|>'"%@`-](?:[^#:]|:(?=\S))*?|-\S(?:[^#:]|:(?=\S))*?))\s*:(?=\s|$)"""
)
_INTEGER = re.compile(r"[-+]?\d[\d_]*\Z")
_FLOAT = re.compile(r"[-+]?(\d[\d_]*)?\.?\d[\d_]*([eE][-+]?\d{1,4})?\Z|[-+]?\d[\d_]*\.\Z")
_WORDS = {
    "": None,
    "null": None,
    "~": None,
    "none": None,
    "true": True,
    "yes": True,
    "on": True,
    "false": False,
    "no": False,
    "off": False,
}


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value and where it stands.

    Attributes:
        path: Keys from the outermost in.
        value: Text, number, bool, None, or a list of these.
        line: Counted from 1.
    """

    path: tuple[str, ...]
    value: object
    line: int


class _Lines:
    """Walks down the lines, with the keys that are open above the present one."""

    def __init__(self, text: str, name: str) -> None:
        self.lines = text.split("\n")
        self.name, self.at = name, 0
        self.leaves: list[Leaf] = []
        self.anchors: dict[str, object] = {}
        self.open: list[tuple[float, str]] = []
        self.counters: dict[tuple[str, ...], int] = {}
        self.scalar_indent: float = -1

    def refuse(self, why: str) -> ConfigError:
        return ConfigError(f"{self.name}:{self.at}: {why}")

    def run(self) -> list[Leaf]:
        """Return all leaves of the first document."""
        while self.at < len(self.lines):
            line = self.lines[self.at].rstrip()
            self.at += 1
            bare = line.lstrip(" ")
            if not bare or bare.startswith("#"):
                continue
            if line.startswith(("---", "%")) or line == "...":
                if self.leaves:
                    break
                continue
            if bare.startswith("\t"):
                raise self.refuse("a tab where spaces must stand")
            self._entry(bare, len(line) - len(bare))
        return self.leaves

    def _entry(self, bare: str, indent: int) -> None:
        """Read ``key: value`` or ``- value`` at a depth of ``indent`` spaces."""
        while bare == "-" or bare.startswith("- "):
            # An item may stand right under its key, so it lies half a step further in.
            self._close(indent + 0.5)
            path = tuple(key for _, key in self.open)
            number = self.counters.get(path, 0)
            self.counters[path] = number + 1
            self._push(indent + 0.5, str(number))
            rest = bare[1:].lstrip(" ")
            indent += len(bare) - len(rest)
            bare = rest
            if not bare or bare.startswith("#"):
                return
        match = _KEY.match(bare)
        if match is None:
            if self.open and self.open[-1][1].isdigit():
                self.scalar_indent = self.open[-1][0]
                self._leaf(self._value(bare))
                self.open.pop()
                return
            if -1 < self.scalar_indent < indent:
                # A plain text goes on over lines that stand further in.
                return
            raise self.refuse(f"expected 'key: value', got {shown(bare)}")
        self._close(indent)
        key = match[1].strip("'\"")
        self._push(indent, key)
        self.scalar_indent = -1
        rest = bare[match.end() :].strip()
        rest = self._without_tag(rest)
        if rest[:1] in ("|", ">"):
            self._leaf(self._block(indent))
            self.open.pop()
        elif rest and not rest.startswith("#"):
            self.scalar_indent = indent
            self._leaf(self._value(rest))
            self.open.pop()

    def _without_tag(self, text: str) -> str:
        while text[:1] in ("!", "&"):
            head, _, text = text.partition(" ")
            text = text.lstrip()
            if head[0] == "&" and text and not text.startswith("#"):
                self.anchors[head[1:]] = self._scalar(text)
        return text

    def _close(self, indent: float) -> None:
        while self.open and self.open[-1][0] >= indent:
            self.open.pop()

    def _push(self, indent: float, key: str) -> None:
        if len(self.open) >= DEEPEST:
            raise self.refuse(f"nested over {DEEPEST} deep")
        self.open.append((indent, key[:200]))

    def _leaf(self, value: object) -> None:
        if len(self.leaves) >= MOST_LEAVES:
            raise self.refuse(f"over {MOST_LEAVES} values")
        self.leaves.append(Leaf(tuple(key for _, key in self.open), value, self.at))

    def _block(self, indent: int) -> str:
        """Skip a literal or folded text and return it."""
        start = self.at
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and len(line) - len(line.lstrip(" ")) <= indent:
                break
            self.at += 1
        return " ".join(line.strip() for line in self.lines[start : self.at])[:1000]

    def _value(self, text: str) -> object:
        """Return a scalar or a flow list; a flow list may go on over lines."""
        if text[0] not in "[{":
            return self._scalar(text)
        pieces = [_without_comment(text)]
        level = pieces[0].count("[") + pieces[0].count("{")
        level -= pieces[0].count("]") + pieces[0].count("}")
        start = self.at
        while level > 0:
            if self.at >= len(self.lines):
                self.at = start
                raise self.refuse("a bracket is never closed")
            piece = _without_comment(self.lines[self.at].strip())
            self.at += 1
            level += piece.count("[") + piece.count("{") - piece.count("]") - piece.count("}")
            pieces.append(piece)
        flow = " ".join(pieces)
        if text[0] == "{" or "[" in flow[1:] or "{" in flow:
            # Nested flow collections hold nothing that is read here.
            return None if flow.strip("[]{} ") == "" else flow[:200]
        inner = flow.strip()[1:].rsplit("]", 1)[0]
        return [self._scalar(item.strip()) for item in inner.split(",") if item.strip()]

    def _scalar(self, text: str) -> object:
        if text[:1] in ("'", '"'):
            end = text.find(text[0], 1)
            if end < 0:
                raise self.refuse("a quote is never closed")
            return text[1:end]
        text = _without_comment(text)
        if text.startswith("*"):
            if text[1:] not in self.anchors:
                raise self.refuse(f"alias {shown(text)} is not known")
            return self.anchors[text[1:]]
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        if _INTEGER.match(text) and len(text) < 40:
            return int(text.replace("_", ""))
        if len(text) < 40 and _FLOAT.match(text):
            return float(text.replace("_", ""))
        return text


def _without_comment(text: str) -> str:
    """Return a plain value without the comment behind it."""
    place = text.find(" #")
    if place < 0:
        return text.rstrip()
    quoted = ""
    for at, letter in enumerate(text):
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "'\"":
            quoted = letter
        elif letter == "#" and at and text[at - 1] in " \t":
            return text[:at].rstrip()
    return text.rstrip()


def yaml_leaves(text: str, name: str) -> list[Leaf]:
    """Return every value of a YAML text with its keys and its line.

    Args:
        text: The file's text.
        name: What to call it in a refusal.

    Raises:
        ConfigError: With the line, for what is not YAML or beyond the YAML read here.
    """
    return _Lines(text.replace("\r\n", "\n"), name).run()
