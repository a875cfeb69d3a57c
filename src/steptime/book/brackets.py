"""Brackets that change nothing: PScript puts a pair round every operation.

``(a*b)*c`` and ``a*b*c`` are worked out in the same order, so they agree to the last bit;
``a*(b*c)`` keeps its pair.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_RANK = {"*": 12, "/": 12, "%": 12, "+": 11, "-": 11, "<": 9, ">": 9, "<=": 9, ">=": 9}
_RANK |= {"==": 8, "!=": 8, "===": 8, "!==": 8, "&&": 5, "||": 4}
_UNARY = 14
_LONG = "=== !== ... == != <= >= && || => ++ -- ?. ?? += -= *= /=".split()
_OPENS, _CLOSES = frozenset("([{"), frozenset(")]}")


def operators(parts: Sequence[str]) -> list[str]:
    """Return tokens in which an operator of several marks is one.

    Args:
        parts: From `steptime.book.minify.tokens`.
    """
    out: list[str] = []
    place = 0
    while place < len(parts):
        for word in _LONG:
            if list(parts[place : place + len(word)]) == list(word):
                out.append(word)
                place += len(word)
                break
        else:
            out.append(parts[place])
            place += 1
    return out


def pairs(parts: Sequence[str]) -> dict[int, int]:
    """Return where each bracket that opens is closed."""
    opened: list[int] = []
    found: dict[int, int] = {}
    for place, token in enumerate(parts):
        if token in _OPENS:
            opened.append(place)
        elif token in _CLOSES:
            found[opened.pop()] = place
    return found


def _weakest(parts: Sequence[str], first: int, last: int, closed: dict[int, int]) -> int:
    """Return the rank of the loosest operator between two places, 0 where it is none of ours."""
    weakest, place, before = 99, first, "("
    while place < last:
        token = parts[place]
        if token in _RANK and (before in _RANK or before in "(!?:,="):
            return 0  # a sign, not a difference
        if token in _RANK:
            weakest = min(weakest, _RANK[token])
        elif token in _OPENS:
            place = closed[place]
        elif not re.fullmatch(r"[\w$.]+|\"[^\"]*\"", token):
            return 0
        before, place = parts[place], place + 1
    return weakest


def without_needless(parts: Sequence[str]) -> list[str]:
    """Return tokens without the brackets round an operation that is done first anyway.

    Args:
        parts: From `steptime.book.minify.tokens`.
    """
    solid = operators(parts)
    closed = pairs(solid)
    dropped: set[int] = set()
    for first, last in closed.items():
        before, after = solid[first - 1] if first else "", solid[last + 1 : last + 2]
        calls = re.search(r"[\w$)\]]$", before) is not None
        if solid[first] != "(" or calls or after in ([], ["=>"], ["."], ["["], ["("]):
            continue
        signs = before in ("-", "+", "!") and (
            solid[first - 2] in _RANK or solid[first - 2] in "(?:,="
        )
        left = _UNARY if signs or before == "!" else _RANK.get(before, 0)
        inside = _weakest(solid, first + 1, last, closed)
        known = before in _RANK or before in "(,?:=!" or before in ("===", "&&", "||")
        if known and inside > left and inside >= _RANK.get(after[0], 0):
            dropped |= {first, last}
    return [token for place, token in enumerate(solid) if place not in dropped]
