"""The words that the columns of a table of runs take: `data/run_words.toml`, looked up whole."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from steptime.inputs.datafiles import data_table

_FILE = "run_words.toml"
MINUS = "-\N{MINUS SIGN}\N{EN DASH}\N{EM DASH}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """What a word of a column means.

    Attributes:
        key: Its entry in the file.
        value: What it stands for.
        meaning: In a sentence.
        facts: Facts of the software that it sets, of `steptime.inputs.stack.FACT_NAMES`.
        more: What else the entry holds.
    """

    key: str
    value: str
    meaning: str
    facts: Mapping[str, float] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)


def folded(text: str) -> str:
    """Return a cell as words are compared: small letters, digits, and a minus before a number.

    Args:
        text: The cell.
    """
    found = "".join(character for character in text.casefold() if character.isalnum())
    return f"-{found}" if below_zero(text) else found


def below_zero(text: str) -> bool:
    """Return whether a cell holds a number with a minus before it; "ZeRO-1" holds none.

    Args:
        text: The cell.
    """
    signs = (place for place, mark in enumerate(text[:-1]) if mark in MINUS)
    return any(
        text[place + 1].isdecimal() and not (place and text[place - 1].isalnum()) for place in signs
    )


def pieces(text: str, kept: str = "") -> tuple[str, ...]:
    """Return the runs of letters and the numbers of a cell, in order.

    Args:
        text: The cell.
        kept: Marks that count as letters.
    """
    found: list[str] = []
    last = ""
    for mark in text:
        kind = "number" if mark.isdecimal() or mark == "." else ""
        kind = kind or ("letters" if mark.isalpha() or mark in kept else "")
        if kind and kind == last:
            found[-1] += mark
        elif kind:
            found.append(mark)
        last = kind
    return tuple(found)


def entries(column: str) -> dict[str, dict[str, Any]]:
    """Return the entries of a column, by key.

    Args:
        column: Its name.
    """
    table: dict[str, dict[str, Any]] = data_table(_FILE)[column]
    return table


@functools.cache
def words(column: str) -> dict[str, Word]:
    """Return every word of a column, folded, with what it means.

    Args:
        column: Its name.
    """
    found: dict[str, Word] = {}
    for key, entry in entries(column).items():
        kept = ("value", "meaning", "facts", "words", "printed")
        word = Word(
            key=key,
            value=str(entry.get("value", key)),
            meaning=str(entry["meaning"]),
            facts=entry.get("facts", {}),
            more={name: value for name, value in entry.items() if name not in kept},
        )
        for text in (key, *entry.get("words", ()), *entry.get("printed", ())):
            found[folded(text)] = word
    return found


@functools.cache
def _blanks() -> frozenset[str]:
    return frozenset({"", *map(folded, data_table(_FILE)["blank"])})


def word_of(column: str, text: str) -> Word | None:
    """Return what a cell means, or None where nobody knows.

    Args:
        column: Its column.
        text: The cell.
    """
    return words(column).get(folded(text))


def is_blank(text: str) -> bool:
    """Return whether a cell says nothing, or that its source does not say.

    Args:
        text: The cell, such as ``not stated``.
    """
    return folded(text) in _blanks()


def list_of(column: str, text: str) -> tuple[tuple[Word, ...], tuple[str, ...]]:
    """Return the words of a cell that holds a list, and what in it is no word.

    Args:
        column: Its column.
        text: Items between commas, semicolons, plus signs or spaces.
    """
    known: list[Word] = []
    unknown: list[str] = []
    for item in _divided(text, ",;+"):
        whole = word_of(column, item)
        found = [whole] if whole else [word_of(column, part) for part in item.split()]
        if all(found):
            known.extend(word for word in found if word is not None)
        elif not is_blank(item):
            unknown.append(item)
    return tuple(known), tuple(unknown)


def _divided(text: str, marks: str) -> Iterable[str]:
    for mark in marks:
        text = text.replace(mark, "\n")
    return filter(None, map(str.strip, text.split("\n")))


def meant(column: str, text: Any, known: Iterable[str]) -> Any:
    """Return which known name people mean by a word of a column; what nobody knows as it is.

    Args:
        column: Whose words are looked up.
        text: The word.
        known: Names that stand for themselves.
    """
    if not isinstance(text, str) or text in known:
        return text
    names = {folded(name): name for name in known}
    word = word_of(column, text)
    return names.get(folded(text), text if word is None else word.value)
