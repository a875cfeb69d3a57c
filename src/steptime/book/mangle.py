"""Short names for what only one script sees, found without parsing the script in full.

A name is shortened throughout a file if it is declared there and every place it stands
in is a plain use: no field, key, import, export, method or shorthand. What is doubtful
keeps its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from steptime.book.minify import tokens

_NAME = re.compile(r"[A-Za-z_$][\w$]*$")
_HOLE = re.compile(r"\$\{([^{}`]*)\}")
_KEPT = frozenset(
    "async await break case catch const continue default delete do else export extends false "
    "finally for from function get if import in instanceof let new null of return set static "
    "switch this throw true try typeof undefined var void while yield".split()
)


def short_names(parts: list[str]) -> list[str]:
    """Return the tokens of a script with its own names shortened.

    Args:
        parts: From `steptime.book.minify.tokens`.
    """
    uses, kept = _uses(parts)
    mine = _declared(parts) & uses.keys() - kept - _KEPT
    everything = set(uses) | kept
    fresh = (name for name in _fresh() if name not in everything)
    # The longest gain first, so that the shortest names go where they save most.
    order = sorted(mine, key=lambda name: (-uses[name] * len(name), name))
    chosen = {name: short for name in order if len(short := next(fresh)) < len(name)}
    return [_renamed(parts, i, chosen) for i in range(len(parts))]


def _fresh() -> Iterator[str]:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    yield from letters
    for first in letters:
        for second in letters:
            if first + second not in _KEPT:
                yield first + second


def _plain(parts: list[str]) -> list[str]:
    """Return the tokens without the spaces between them."""
    return [part for part in parts if part != " "]


def _uses(parts: list[str]) -> tuple[dict[str, int], set[str]]:
    """Return how often each name is used, and the names that must stay as they are."""
    solid = _plain(parts)
    uses: dict[str, int] = {}
    kept: set[str] = set()
    stack: list[str] = []
    for i, token in enumerate(solid):
        before = solid[i - 1] if i else ""
        after = solid[i + 1] if i + 1 < len(solid) else ""
        if token[0] == "`":
            for hole in _HOLE.findall(token):
                inner, more = _uses(tokens(hole))
                kept |= more
                for name, count in inner.items():
                    uses[name] = uses.get(name, 0) + count
        elif token in "([{":
            stack.append(token)
        elif token in ")]}":
            stack.pop()
        elif _NAME.match(token):
            if before == "." and solid[max(0, i - 2) : i] != [".", "."]:
                continue
            uses[token] = uses.get(token, 0) + 1
            braced = bool(stack) and stack[-1] == "{"
            key = braced and before in "{," and after in ":,}(="
            if key or before in ("get", "set", "import", "export", "as", "async"):
                kept.add(token)
            if before in ("function", "const", "let") and solid[i - 2 : i - 1] == ["export"]:
                kept.add(token)
            if before == "function" and solid[i - 3 : i - 1] == ["export", "async"]:
                kept.add(token)
            if before == "*" and solid[i - 2 : i - 1] == ["function"]:
                kept.add(token)
    return uses, kept


def _declared(parts: list[str]) -> set[str]:
    """Return the names that a script declares: variables, functions, parameters."""
    solid = _plain(parts)
    names: set[str] = set()
    for i, token in enumerate(solid):
        if token in ("const", "let", "function") and _NAME.match(solid[i + 1]):
            names.add(solid[i + 1])
        if token == "=" and solid[i + 1 : i + 2] == [">"] and i:
            names |= _parameters(solid, i - 1)
        if token == "{" and solid[i - 1] == ")" and _opens_function(solid, i - 1):
            names |= _parameters(solid, i - 1)
    return names


def _parameters(solid: list[str], end: int) -> set[str]:
    """Return the simple names in the list of parameters that ends at ``end``."""
    if solid[end] != ")":
        return {solid[end]} if _NAME.match(solid[end]) else set()
    depth = 0
    found: set[str] = set()
    for i in range(end, -1, -1):
        depth += {")": 1, "]": 1, "}": 1, "(": -1, "[": -1, "{": -1}.get(solid[i], 0)
        if depth == 0:
            return found
        follows = solid[i - 1] in "(,["
        if _NAME.match(solid[i]) and follows and solid[i + 1] in ",)]=":
            found.add(solid[i])
    return found


def _opens_function(solid: list[str], closing: int) -> bool:
    """Whether the brackets that close at ``closing`` are a named function's parameters."""
    depth = 0
    for i in range(closing, 0, -1):
        depth += {")": 1, "(": -1}.get(solid[i], 0)
        if depth == 0:
            return solid[i - 2 : i - 1] in (["function"], ["*"])
    return False


def _renamed(parts: list[str], i: int, chosen: dict[str, str]) -> str:
    token = parts[i]
    if token[0] == "`":
        return _HOLE.sub(lambda hole: "${" + _expression(hole.group(1), chosen) + "}", token)
    spread = parts[max(0, i - 2) : i] == [".", "."]
    if token in chosen and (i == 0 or parts[i - 1] != "." or spread):
        return chosen[token]
    return token


def _expression(code: str, chosen: dict[str, str]) -> str:
    parts = tokens(code)
    return "".join(_renamed(parts, i, chosen) for i in range(len(parts)))


def smallest_script(code: str) -> str:
    """Return a script that does the same, its own names as short as they go.

    Args:
        code: An ES module in the style that `steptime.book.minify` asks for.
    """
    return "".join(short_names(tokens(code)))
