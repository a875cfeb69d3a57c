"""The bibliography as readers meet it: a name such as "Qi et al., 2024b", and a link.

`data/references.bib` is read with a few patterns, since each of its fields stands on a line
of its own; so results.md and the pages need no BibTeX package to name their sources.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

BIBLIOGRAPHY = Path(__file__).resolve().parents[3] / "data" / "references.bib"

_ENTRY = re.compile(r"^@\w+\{([^,\s]+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^\s*(\w+) = \{(.*)\},?$", re.MULTILINE)
_ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5})")
_COMMIT = re.compile(r"\b([\w-]+/[\w.-]+)@([0-9a-f]{7,40})\b")
_KEY = re.compile(r"\b[a-z]+\d{4}[a-z0-9]*\b")
_ACCENTS = {r"{\'e}": "é", r"\`e": "è"}


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of the bibliography.

    Attributes:
        key: Its key in the file.
        name: Who and when, told apart by a letter where two would be the same.
        title: Its title.
        url: Where it can be read; empty if the entry does not say.
    """

    key: str
    name: str
    title: str
    url: str


def _fields(body: str) -> dict[str, str]:
    """Return the fields of one entry, without the braces that protect capitals."""
    found = dict(_FIELD.findall(body))
    for written, letter in _ACCENTS.items():
        found = {name: text.replace(written, letter) for name, text in found.items()}
    return {name: re.sub(r"[{}]|\\(?=_)", "", text) for name, text in found.items()}


def who(author: str) -> str:
    """Return the people of an entry, as a sentence would name them.

    Args:
        author: BibTeX's field: names joined by ``and``.
    """
    names = [one.partition(",")[0].strip() for one in author.split(" and ")]
    if len(names) == 1:
        return names[0]
    if len(names) == 2 and names[1] != "others":
        return f"{names[0]} and {names[1]}"
    return f"{names[0]} et al."


def url_of(fields: dict[str, str]) -> str:
    """Return where an entry can be read, the most lasting address first.

    Args:
        fields: Its fields.
    """
    if "doi" in fields:
        return f"https://doi.org/{fields['doi']}"
    said = f"{fields.get('howpublished', '')} {fields.get('note', '')}"
    if found := _ARXIV.search(said):
        return f"https://arxiv.org/abs/{found[1]}"
    if "url" in fields:
        return fields["url"]
    if found := _COMMIT.search(said):
        return f"https://github.com/{found[1]}/tree/{found[2]}"
    return ""


def references(path: Path = BIBLIOGRAPHY) -> dict[str, Reference]:
    """Return every entry by its key, in the order of the names.

    Args:
        path: The ``.bib`` file.
    """
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    entries = {key: _fields(body) for key, body in _ENTRY.findall(text)}
    plain = {
        key: f"{who(fields.get('author', key))}, {fields.get('year', 'n.d.')}"
        for key, fields in entries.items()
    }
    counts, seen = Counter(plain.values()), Counter[str]()
    found = {}
    # By name, then by title: the letters follow the order in which the list is read.
    for key in sorted(entries, key=lambda one: (plain[one].lower(), entries[one].get("title", ""))):
        name = plain[key]
        if counts[name] > 1:
            seen[name] += 1
            name += chr(96 + seen[name])
        found[key] = Reference(key, name, entries[key].get("title", key), url_of(entries[key]))
    return found


def with_names(text: str) -> str:
    """Return a text that cites by keys with the names of the entries instead.

    Args:
        text: Such as ``korthikanti2022, Sec. 4.1``; words that are no key stay.
    """
    known = _names()
    return _KEY.sub(lambda found: known.get(found[0], found[0]), text)


@functools.cache
def _names() -> dict[str, str]:
    return {key: one.name.replace(", ", " ") for key, one in references().items()}
