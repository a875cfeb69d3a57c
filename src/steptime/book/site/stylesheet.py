"""Only what the site uses of its themes' style sheets.

The theme and its parts bring half a megabyte of rules, and a page uses a tenth of them. A rule
stays if every class, id and tag that it asks for stands in some page or in a script; what stands
within brackets, such as ``:not(.x)``, asks for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""(?P<note>/\*.*?\*/)|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    r"""|(?P<url>url\([^"')]*\))|(?P<mark>[{};])|(?P<other>\\.|[^{};"'/\\u]+|.)""",
    re.DOTALL,
)
_GROUPS = ("@media", "@supports", "@container", "@layer")
_NAMES = re.compile(r"[.#](-?[A-Za-z_](?:[\w-]|\\.)*)")
_TAGS = re.compile(r"[a-zA-Z][\w-]*")
_FILE = re.compile(r"url\((?![\"']?data:)")
_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule, or a group of them.

    Attributes:
        head: What stands before the brace; the whole text of a statement or a notice.
        body: Its declarations; None for a statement, a notice or a group.
        inside: The rules of a group.
    """

    head: str
    body: str | None = None
    inside: tuple[Rule, ...] = ()


@dataclass(slots=True)
class Known:
    """What pages and scripts name.

    Attributes:
        names: Classes and ids.
        tags: Elements, in small letters.
        dropped: Selectors that ask for something else: filled by `used`.
    """

    names: set[str]
    tags: set[str]
    dropped: list[str] = field(default_factory=list)


def rules(css: str) -> tuple[Rule, ...]:
    """Return the rules of a style sheet.

    Args:
        css: Its text.
    """
    tokens = (match for match in _TOKEN.finditer(css))
    return tuple(_rules(tokens))


def _rules(tokens: Iterator[re.Match[str]]) -> Iterator[Rule]:
    """Yield rules up to the brace that closes them."""
    head = ""
    for match in tokens:
        token = match.group()
        if match.lastgroup == "note":
            # A notice of a licence stays with what it is for.
            if token.startswith("/*!"):
                yield Rule(head=token)
        elif token == ";":
            yield Rule(head=f"{head.strip()};")
            head = ""
        elif token == "{":
            head = head.strip()
            if head.startswith(_GROUPS):
                yield Rule(head=_in_letters(head), inside=tuple(_rules(tokens)))
            else:
                yield Rule(head=head, body=_body(tokens))
            head = ""
        elif token == "}":
            return
        else:
            head += token


def _in_letters(head: str) -> str:
    """Return a condition with pixels as sizes of letters: who doubles these has half the room."""
    if not head.startswith("@media"):
        return head
    return re.sub(r"([\d.]+)px", lambda match: f"{float(match[1]) / 16:g}em", head)


def _body(tokens: Iterator[re.Match[str]]) -> str:
    """Return the text up to the brace that closes it; braces inside belong to it."""
    depth, text = 1, ""
    for match in tokens:
        token = match.group()
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth == 0:
            break
        if match.lastgroup != "note":
            text += token
    return text.strip()


def parts(text: str, mark: str) -> list[str]:
    """Return a text cut at a mark, where it stands outside brackets and quotes.

    Args:
        text: A list of selectors, or of declarations.
        mark: ``,`` or ``;``.
    """
    found, depth = [""], 0
    for token in re.findall(r"""\\.|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|.""", text, re.DOTALL):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token, 0)
        if token == mark and depth == 0:
            found.append("")
        else:
            found[-1] += token
    return [one.strip() for one in found if one.strip()]


def _asks(selector: str) -> str:
    """Return a selector without what stands in brackets, of both kinds."""
    plain = re.sub(r"\[[^\]]*\]", "", selector)
    while (shorter := re.sub(r"\([^()]*\)", "", plain)) != plain:
        plain = shorter
    return plain


def is_known(selector: str, known: Known) -> bool:
    """Whether everything that a selector asks for stands somewhere.

    Args:
        selector: One, without commas outside brackets.
        known: What stands in pages and scripts.
    """
    plain = _asks(selector)
    names = {name.replace("\\", "") for name in _NAMES.findall(plain)}
    bare = re.sub(r"::?[\w-]+", "", _NAMES.sub("", plain))
    tags = {tag.lower() for tag in _TAGS.findall(bare)}
    return names <= known.names and tags <= known.tags


def used(found: tuple[Rule, ...], known: Known) -> tuple[Rule, ...]:
    """Return the rules that some page can meet.

    Args:
        found: From `rules`.
        known: What stands in pages and scripts; hears of the selectors that go.
    """
    kept: list[Rule] = []
    for rule in found:
        if rule.inside:
            inside = used(rule.inside, known)
            if any(one.body for one in inside):
                kept.append(Rule(head=rule.head, inside=inside))
        elif rule.body is None or rule.head.startswith("@"):
            kept.append(rule)
        elif rule.body:
            selectors = parts(rule.head, ",")
            good = [one for one in selectors if is_known(one, known)]
            known.dropped += [one for one in selectors if one not in good]
            if good:
                kept.append(Rule(head=",".join(good), body=rule.body))
    return tuple(kept)


def text_of(found: tuple[Rule, ...]) -> str:
    """Return rules as text.

    Args:
        found: From `rules` or `used`.
    """
    out = []
    for rule in found:
        if rule.inside:
            out.append(f"{rule.head}{{{text_of(rule.inside)}}}")
        else:
            out.append(rule.head if rule.body is None else f"{rule.head}{{{rule.body}}}")
    return "\n".join(out)


def _without(found: tuple[Rule, ...], read: set[str]) -> tuple[Rule, ...]:
    """Return rules without the variables that nothing reads, and without what asks for a file."""
    kept: list[Rule] = []
    for rule in found:
        if rule.inside:
            inside = _without(rule.inside, read)
            kept += [Rule(head=rule.head, inside=inside)] if inside else []
        elif rule.body and not rule.head.startswith("@"):
            lines = parts(rule.body, ";")
            good = [
                one for one in lines if one[:2] != "--" or one.partition(":")[0].strip() in read
            ]
            good = [one for one in good if not _FILE.search(one)]
            kept += [Rule(head=rule.head, body=";".join(good))] if good else []
        elif rule.head != "@font-face":
            kept.append(rule)
    return tuple(kept)


def read_only(found: tuple[Rule, ...], elsewhere: str) -> tuple[Rule, ...]:
    """Return rules without variables that nothing reads, motions that nothing names, and files.

    Icons are drawn by our own sheet: the theme's fonts and pictures for them are never asked for.

    Args:
        found: From `used`.
        elsewhere: Style sheets, scripts and pages that may read variables, too.
    """
    outside = set(re.findall(r"--[a-z][\w-]+", elsewhere))
    while True:
        read = outside | set(_VARIABLE.findall(text_of(found)))
        fewer = _without(found, read)
        if fewer == found:
            break
        found = fewer
    moves = {rule for rule in found if re.match(r"@(?:-webkit-)?keyframes", rule.head)}
    plain = text_of(tuple(rule for rule in found if rule not in moves))
    named = {rule for rule in moves if re.search(rf"\b{rule.head.split()[-1]}\b", plain)}
    return tuple(rule for rule in found if rule not in moves - named)
