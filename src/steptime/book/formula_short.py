"""Formulas as data in fewer bytes than JSON: lists as words in brackets.

``book/web/explorer/texts.js`` reads them back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

_STATEMENTS = frozenset({"return", "unpack", "put", "for", "if", "push"})
"""Words that begin a statement; any other begins one that names a value."""


def short_bodies(bodies: Sequence[list[Any]]) -> str:
    """Return what functions do in fewer bytes; what each returns at its end stands alone.

    Args:
        bodies: Lists of what `statement` returns; a function's last one returns.

    Raises:
        TypeError: If one would be read as something else.
    """
    lists = []
    for *before, last in bodies:
        if last[0] != "return":
            raise TypeError(f"no short form for a formula that ends with {last[0]}")
        lists.append(_listed([*map(_short_statement, before), short_form(last[1])]))
    return "".join(lists)


def _short_statement(one: list[Any]) -> str:
    """Return a statement; one that names a value goes without its sign."""
    match one:
        case ["=", str(name), value]:
            if name in _STATEMENTS:
                raise TypeError(f"no short form for a value of the name {name}")
            return _listed([_word(name), short_form(value)])
        case ["if" | "for" as word, *asked, list(body)]:
            inner = _listed([_short_statement(line) for line in body])
            return _listed([word, *map(short_form, asked), inner])
    return short_form(one)


def short_form(tree: Any) -> str:
    """Return nested lists in fewer bytes than JSON: ``(+ job.tp(! floor(* terms'total 2)))``.

    Args:
        tree: From `expression`, or a list of such.

    Raises:
        TypeError: If a word would be read as something else.
    """
    match tree:
        case [".", str(record), str(name)]:
            return f"{_word(record)}.{_word(name)}"
        case ["at", str(record), ["text", str(key)]]:
            return f"{_word(record)}'{_word(key)}"
        case ["call", *rest]:
            return _listed(["!", *map(short_form, rest)])
        case ["dict", *pairs]:
            return _listed(["dict", *map(_short_entry, pairs)])
        case ["text", key]:
            return "'" + _word(key)
        case list():
            return _listed([short_form(one) for one in tree])
    return _word(tree)


def _short_entry(pair: list[Any]) -> str:
    """Return an entry of a record: one that has its value's own name is the value alone."""
    name, value = pair
    match value:
        case [".", str(), own] | ["at", str(), ["text", own]] if own == name:
            return short_form(value)
    return short_form(value) if value == name else _listed([_word(name), short_form(value)])


def _listed(words: Sequence[str]) -> str:
    return f"({' '.join(words)})".replace(" (", "(").replace(") ", ")")


def _word(value: Any) -> str:
    """Return a name, an operator or a number as one word."""
    word = json.dumps(value).strip('"').removesuffix(".0")
    kept = isinstance(value, str) and word != "." and ("." in word or word == "!")
    if isinstance(value, bool) or kept or set(word) & set(" ()'\"\\"):
        raise TypeError(f"no short form for {value!r}")
    return word
