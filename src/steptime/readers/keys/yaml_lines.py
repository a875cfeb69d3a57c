"""The values of a YAML file with their keys and lines, from PyYAML's stream of events.

Events come one after another whatever the file: nothing is built, so no alias can make a
small file large, and nesting ends where it passes what real files hold. Words and numbers are
read as launchers read them, ``1e-5`` as a number too, which YAML 1.1 takes for text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.safe import DEEPEST, shown

MOST_LEAVES = 50_000
_INTEGER = re.compile(r"[-+]?\d[\d_]*\Z")
_FLOAT = re.compile(r"[-+]?(\d[\d_]*)?\.?\d[\d_]*([eE][-+]?\d{1,4})?\Z|[-+]?\d[\d_]*\.\Z")
_PLAIN_TAGS = {"!", *("tag:yaml.org,2002:" + kind for kind in "str int float bool null".split())}
_PLAIN_TAGS |= {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}
_WORDS: dict[str, bool | None] = {"null": None, "~": None, "none": None}
_WORDS |= {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value and where it stands.

    Attributes:
        path: Keys from the outermost in.
        value: Text, number, bool, None, or a list of these.
        line: Counted from 1.
        file: Name of another file that says it; empty for the file that is read.
    """

    path: tuple[str, ...]
    value: object
    line: int
    file: str = ""


@dataclass(slots=True)
class _Open:
    """A mapping or a list that is open.

    Attributes:
        is_list: Whether it is a list.
        line: Where it starts.
        key: The last key, or the number of the last item; None where a key comes next.
        values: Items of a list written in brackets, None for any other.
        count: Items so far.
        anchor: The name that an alias may use.
        first: How many leaves there were before.
        depth: How many keys lead here.
    """

    is_list: bool
    line: int
    key: str | None = None
    values: list[object] | None = None
    count: int = field(default=0)
    anchor: str | None = None
    first: int = 0
    depth: int = 0


class _Walk:
    """Takes events in turn; ``open`` holds what is open, from the outermost in."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.leaves: list[Leaf] = []
        self.anchors: dict[str, object] = {}
        self.mappings: dict[str, tuple[int, int, int]] = {}
        self.open: list[_Open] = []

    def refuse(self, line: int, why: str) -> ConfigError:
        return ConfigError(f"{self.name}:{line}: {why}")

    def take(self, event: Any) -> None:
        """Take one event."""
        line = event.start_mark.line + 1
        tag, kind = getattr(event, "tag", None), type(event).__name__
        # What a program puts in a word's place, such as another file, is not known.
        is_put_in = kind == "ScalarEvent" and str(tag)[:1] == "!"
        if tag and tag not in _PLAIN_TAGS and not is_put_in:
            raise self.refuse(line, f"tag {shown(tag)}: only plain values are read, no objects")
        if kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._start(
                line, is_list=kind[0] == "S", in_brackets=event.flow_style, anchor=event.anchor
            )
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._end()
        elif kind == "AliasEvent":
            self._alias(event.anchor, line)
        elif kind == "ScalarEvent":
            self._scalar(event, line)

    def _alias(self, anchor: str, line: int) -> None:
        """Put in a value, or the values of a mapping, that stands under a name."""
        if anchor in self.anchors:
            self._value(self.anchors[anchor], line)
            return
        if anchor not in self.mappings:
            raise self.refuse(line, f"alias {shown('*' + anchor)} names no single value")
        first, last, depth = self.mappings[anchor]
        self._enter(line)
        outer = tuple(one.key for one in self.open if one.key is not None)
        for leaf in self.leaves[first:last]:
            self._keep(Leaf((*outer, *leaf.path[depth:]), leaf.value, leaf.line))
        self._leave()

    def _keep(self, leaf: Leaf) -> None:
        """Keep a leaf; what is merged into a mapping stands in it."""
        if len(self.leaves) >= MOST_LEAVES:
            raise self.refuse(leaf.line, f"over {MOST_LEAVES} values")
        path = tuple(key for key in leaf.path if key != "<<")
        self.leaves.append(Leaf(path, leaf.value, leaf.line))

    def _start(self, line: int, *, is_list: bool, in_brackets: bool, anchor: str | None) -> None:
        if is_list and not self.open:
            raise self.refuse(line, "expected 'key: value', got a list")
        if len(self.open) >= DEEPEST:
            raise self.refuse(line, f"nested over {DEEPEST} deep")
        self._enter(line)
        if is_list and not self.open:
            raise self.refuse(line, "expected 'key: value', got a list")
        values: list[object] | None = [] if is_list and in_brackets else None
        depth = sum(one.key is not None for one in self.open)
        self.open.append(
            _Open(is_list, line, values=values, anchor=anchor, first=len(self.leaves), depth=depth)
        )

    def _enter(self, line: int) -> None:
        """Name the place of what comes now: an item's number, or the key before it."""
        if not self.open:
            return
        outer = self.open[-1]
        if outer.is_list:
            outer.key, outer.count = str(outer.count), outer.count + 1
        elif outer.key is None:
            raise self.refuse(line, "a key must be a single word")

    def _end(self) -> None:
        closed = self.open.pop()
        # A list that holds lists has given each of its values already.
        if closed.values and len(closed.values) == closed.count:
            self._leaf(closed.values, closed.line)
        if closed.anchor and not closed.is_list:
            self.mappings[closed.anchor] = (closed.first, len(self.leaves), closed.depth)
        self._leave()

    def _leave(self) -> None:
        if self.open and not self.open[-1].is_list:
            self.open[-1].key = None

    def _scalar(self, event: Any, line: int) -> None:
        if not self.open:
            raise self.refuse(line, f"expected 'key: value', got {shown(event.value)}")
        inner = self.open[-1]
        if not inner.is_list and inner.key is None:
            inner.key = event.value[:200]
            return
        if not event.value and not event.style:
            self._enter(line)
            self._leave()
            return
        value = event.value.strip()[:1000] if event.style else _plain(event.value)
        if event.tag and event.tag not in _PLAIN_TAGS:
            value = f"${{{event.tag[:40]} {event.value[:200]}}}"
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        self._value(value, line)

    def _value(self, value: object, line: int) -> None:
        self._enter(line)
        inner = self.open[-1]
        if inner.values is not None:
            inner.values.append(value)
        else:
            self._leaf(value, line)
        self._leave()

    def _leaf(self, value: object, line: int) -> None:
        path = tuple(one.key for one in self.open if one.key is not None)
        self._keep(Leaf(path, value, line))


def _plain(text: str) -> object:
    """Return what a word without quotes stands for."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INTEGER.match(text) and len(text) < 40:
        return int(text.replace("_", ""))
    if len(text) < 40 and _FLOAT.match(text):
        return float(text.replace("_", ""))
    return text


def yaml_leaves(text: str, name: str) -> list[Leaf]:
    """Return every value of the first document of a YAML text.

    Args:
        text: The file's text.
        name: What to call it in a refusal.

    Raises:
        ConfigError: With the line, for what is not YAML, too deep, too long or no mapping.
    """
    import yaml

    walk = _Walk(name)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.DocumentEndEvent) and walk.leaves:
                break
            walk.take(event)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        why = f"not valid YAML: {error.problem}"
        if error.context and error.context_mark:
            why += f" ({error.context} from line {error.context_mark.line + 1} on)"
        raise walk.refuse(line, why) from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{name}: not valid YAML: {shown(str(error))}") from None
    return walk.leaves
