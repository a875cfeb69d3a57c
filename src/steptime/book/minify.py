"""Smaller JavaScript and CSS: no comments, no indentation, no needless spaces.

Good for text in the style of this repository: statements end in ``;``, and no template
literal holds another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from steptime.book.brackets import without_needless

_TOKEN = re.compile(
    r"""(?P<note>//[^\n]*|/\*.*?\*/)|(?P<space>\s+)"""
    r"""|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)"""
    r"""|(?P<word>[\w$]+(?:\.\d+)?)|(?P<mark>.)""",
    re.DOTALL,
)
_REGEX = re.compile(r"/(?![/*])(?:\[(?:\\.|[^\]\\\n])*\]|\\.|[^/\\\[\n])+/[a-z]*")


def tokens(code: str) -> list[str]:
    """Return the parts of some JavaScript; a space stands where one is needed.

    Args:
        code: A module or a piece of one.

    Raises:
        ValueError: If a template literal holds another, which this cannot follow.
    """
    out: list[str] = []
    gap = False
    place = 0
    while place < len(code):
        last = out[-1][-1] if out else ""
        # A slash after a value divides; elsewhere it starts a regular expression.
        match = None if re.match(r"[\w$)\]]", last) else _REGEX.match(code, place)
        match = match or _TOKEN.match(code, place)
        assert match is not None
        place = match.end()
        if match.lastgroup in ("space", "note"):
            gap = True
            continue
        token = match.group()
        if token[0] == "`" and token.count("${") != len(re.findall(r"\$\{[^{}`]*\}", token)):
            line = code.count("\n", 0, match.start()) + 1
            raise ValueError(f"line {line}: a template literal inside another: take it out")
        both_words = bool(re.match(r"[\w$]", token) and re.match(r"[\w$]", last))
        if gap and (both_words or (token in "+-" and last == token)):
            out.append(" ")
        if token in ")]}" and last == ",":
            out.pop()
        out.append(token)
        gap = False
    return out


def small_script(code: str) -> str:
    """Return a script that does the same in fewer bytes.

    Args:
        code: An ES module.
    """
    return "".join(tokens(code))


def small_style(code: str) -> str:
    """Return a style sheet that does the same in fewer bytes.

    Args:
        code: CSS without strings that hold braces.
    """
    code = re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL)
    code = re.sub(r"\s+", " ", code)
    code = re.sub(r"\s*([{};,>])\s*", r"\1", code)
    code = re.sub(r":\s+", ":", code)
    return code.replace(";}", "}").strip()


def tightened(code: str) -> str:
    """Return PScript's output without doubled brackets and detours over a list.

    Args:
        code: Minified text of a function.
    """
    code = "".join(_undoubled(tokens(code)))
    pair = re.compile(r"(?<=[;{}])(\w+)=(\[[^;]*\]|\w+);((?:[\w$]+=\1\[\d\];){2,4})(?!\w+=\1\[)")

    def direct(match: re.Match[str]) -> str:
        names = [part.split("=")[0] for part in match.group(3).rstrip(";").split(";")]
        return f"[{','.join(names)}]={match.group(2)};"

    def field(match: re.Match[str]) -> str:
        owner, name = match.groups()
        return match.group() if owner in ("return", "in", "of") else f"{owner}.{name}"

    code = re.sub(r"\b(\w+)\+=1\b", r"\1++", pair.sub(direct, code))
    code = re.sub(r"(\w+|[\])])\[\"([A-Za-z_]\w*)\"\]", field, code)
    return "".join(without_needless(list(_bare(tokens(code)))))


def _is_whole_test(before: list[str], inside: list[str]) -> bool:
    """Whether all that is chosen by lies within the brackets: nothing before joins in."""
    starts = before[-1] in ("(", ",", ";", "{") or (
        before[-1] == "=" and before[-2] not in ("=", "!", "<", ">")
    )
    return starts and "?" not in inside


def _undoubled(parts: list[str]) -> list[str]:
    """Return tokens without the inner pair of ``((...))``, and with ``a<b?`` for ``(a<b)?``."""
    opened: list[int] = []
    closed: dict[int, int] = {}
    for place, token in enumerate(parts):
        if token == "(":
            opened.append(place)
        elif token == ")":
            closed[opened.pop()] = place
    inner = {first + 1: last - 1 for first, last in closed.items()}
    doubled = {(first, last) for first, last in inner.items() if closed.get(first) == last}
    tested = {
        (first, last)
        for first, last in closed.items()
        if parts[last + 1 : last + 2] == ["?"] and _is_whole_test(parts[:first], parts[first:last])
    }
    dropped = {place for pair in doubled | tested for place in pair}
    return [token for place, token in enumerate(parts) if place not in dropped]


def _bare(parts: list[str]) -> Iterator[str]:
    """Yield tokens with 1 for 1.0, and no brackets round a single word after ? or a colon."""
    place, last = 0, ""
    while place < len(parts):
        after = parts[place : place + 3]
        if last in ("?", ":") and after[0] == "(" and after[2:] == [")"]:
            place += 2
            after = after[1:]
        place += 1
        last = after[0]
        yield last.removesuffix(".0") if re.fullmatch(r"\d+\.0", last) else last
