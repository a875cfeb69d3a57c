"""What the site's search knows: every section, what it is for, and the words readers say instead.

Sphinx's own search weighs a page of the reference like a chapter, knows no second word for a
thing, and loads whole pages to show a line of each. Ours reads the finished pages once, when they
are made.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[4]
WORDS = ROOT / "data" / "search_words.toml"
CONTENTS = ROOT / "_toc.yml"
INDEX = "search-index.js"
LONGEST, LONGEST_OF_REFERENCE = 4000, 300
"""Letters of a section that can be found: what explains in full, a reference by its first lines."""

_SKIPPED = frozenset({"script", "style", "svg", "math", "pre", "button", "table"})
_HEADS = frozenset({"h1", "h2", "h3", "h4"})
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())


@dataclass(slots=True)
class Section:
    """A heading with what stands under it.

    Attributes:
        anchor: Its id in the page; empty for what is above the first.
        heading: Its text.
        text: All letters up to the next heading.
    """

    anchor: str
    heading: str = ""
    text: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    """Read the sections of an article."""

    def __init__(self) -> None:
        super().__init__()
        self.sections: list[Section] = []
        self._open: list[str] = []
        self._ids: list[str] = []
        self._skipping = 0
        self._heading = False
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a section, a heading, or something that is not read."""
        given = dict(attrs)
        if tag == "article":
            self._inside = True
        if not self._inside or tag in _VOID:
            return
        hidden = tag in _SKIPPED or "headerlink" in (given.get("class") or "")
        if self._skipping or hidden:
            self._skipping += 1
        elif tag == "section":
            self._ids.append(given.get("id") or "")
        elif tag in _HEADS:
            self._heading = True
            self.sections.append(Section(self._ids[-1] if self._ids else ""))

    def handle_endtag(self, tag: str) -> None:
        """Leave what was entered."""
        if tag == "article":
            self._inside = False
        elif self._skipping and tag not in _VOID:
            self._skipping -= 1
        elif tag == "section" and self._ids:
            self._ids.pop()
        elif tag in _HEADS:
            self._heading = False

    def handle_data(self, data: str) -> None:
        """Take text."""
        if not self._inside or self._skipping or not self.sections:
            return
        if self._heading:
            self.sections[-1].heading += data
        else:
            self.sections[-1].text.append(data)


def sections(html: str) -> list[Section]:
    """Return the sections of a page.

    Args:
        html: The whole page.
    """
    reader = _Reader()
    # End tags that may be left out would unbalance what is skipped.
    reader.feed(re.sub(r"<(table|svg|math|pre)\b.*?</\1>", " ", html, flags=re.DOTALL))
    return reader.sections


def _places(entry: Any, part: str) -> Iterator[tuple[str, str]]:
    """Yield each place of the contents with its part; a glob as it stands."""
    for one in entry:
        yield one.get("file") or one["glob"], part
        yield from _places(one.get("sections", ()), part)


def parts_of(addresses: list[str], order: list[str]) -> dict[str, int]:
    """Return which part of the book each page belongs to, the front page to the first.

    Args:
        addresses: Of pages, without their ending.
        order: Names of the parts, as results show them.

    Raises:
        ValueError: If the contents have a part that the order does not.
    """
    contents = yaml.safe_load(CONTENTS.read_text(encoding="utf-8"))["parts"]
    if missing := [one["caption"] for one in contents if one["caption"] not in order]:
        raise ValueError(f"{WORDS.name}: parts lacks {', '.join(missing)}")
    places = [pair for one in contents for pair in _places(one["chapters"], one["caption"])]
    found = {}
    for address in addresses:
        near = (part for place, part in places if Path(address).match(place))
        found[address] = order.index(next(near, contents[0]["caption"]))
    return found


def words(known: dict[str, set[str]]) -> list[list[Any]]:
    """Return what else readers say: words, title, and the place.

    Args:
        known: Anchors of each page, by its address.

    Raises:
        ValueError: If a place is not in the site.
    """
    rows = tomllib.loads(WORDS.read_text(encoding="utf-8"))["word"]
    for row in rows:
        address, _, anchor = row["find"].partition("#")
        if anchor not in known.get(address, ()) and (anchor or address not in known):
            raise ValueError(f"{WORDS.name}: {row['find']} is in no page: name one of its sections")
    return [[row["say"], row["title"], row["find"]] for row in rows]


def index(pages: dict[str, str]) -> dict[str, Any]:
    """Return all that the search needs.

    Args:
        pages: Text of each page by its address, without the ending.
    """
    order = tomllib.loads(WORDS.read_text(encoding="utf-8"))["parts"]
    part = parts_of(list(pages), order)
    found = {address: sections(html) for address, html in pages.items()}
    rows = []
    for address, inside in found.items():
        last = part[address] == len(order) - 1
        longest = LONGEST_OF_REFERENCE if last else LONGEST
        rows.append(
            [
                address,
                part[address],
                [
                    # The first heading is the page's own.
                    [
                        one.anchor if place else "",
                        _line(one.heading),
                        _line("".join(one.text), longest),
                    ]
                    for place, one in enumerate(inside)
                ],
            ]
        )
    known = {address: {one.anchor for one in inside} for address, inside in found.items()}
    return {"parts": order, "pages": rows, "words": words(known)}


def _line(text: str, longest: int = 200) -> str:
    return re.sub(r"\s+", " ", text).strip()[:longest]


def write_index(folder: Path, pages: dict[Path, str]) -> None:
    """Write the index beside the site's script, as a script: a page from a file reads it, too.

    Args:
        folder: Of the site.
        pages: Text by path.
    """
    named = {
        path.relative_to(folder).as_posix().removesuffix(".html"): pages[path] for path in pages
    }
    for left_out in ("search", "genindex"):
        named.pop(left_out, None)
    text = json.dumps(index(named), ensure_ascii=False, separators=(",", ":"))
    (folder / "_static" / INDEX).write_text(f"globalThis.stPages={text};\n", encoding="utf-8")
