"""Whether a test of a script holds, as far as that can be told without a machine."""

from __future__ import annotations

import fnmatch
import re

from steptime.readers.shell.marks import CLOSE, UNSET, is_known

_MOST_WORDS = 200
_PLAIN = re.compile(r"[\w =:,/-]{1,100}")
_REPEATED = re.compile(r"(?<!\\)[*+{]")
_NESTED = re.compile(r"\)[*+{?]|\[\[|\(\?|\\[1-9]")
"""A group that repeats, and what other shells' expressions read otherwise."""
_COMPARE = ("-eq", "-ne", "-gt", "-lt", "-ge", "-le")
_UNSET = re.compile(f"{UNSET}([^{CLOSE}]*){CLOSE}")


def holds(words: list[str]) -> tuple[bool | None, list[str]]:
    """Return whether a test holds, None if that is not known, and the arguments it waits for.

    A variable that nobody sets is empty. An argument of the script is not: whoever starts the
    script gives it, so a test of one that is not given stays open.

    Args:
        words: Of the test, without its brackets.
    """
    if len(words) > _MOST_WORDS:
        return None, []
    asks = waits_for(words)
    if asks:
        return None, asks
    words = [_UNSET.sub("", word) for word in words]
    for join in ("||", "-o", "&&", "-a"):
        if join in words:
            at = words.index(join)
            left, right = holds(words[:at])[0], holds(words[at + 1 :])[0]
            return _joined(left, right, either=join in ("||", "-o")), []
    negate = words[:1] == ["!"]
    result = _plain(words[1:] if negate else words)
    return (result if result is None or not negate else not result), []


def waits_for(words: list[str]) -> list[str]:
    """Return the arguments of the script, not given, that words depend on.

    Args:
        words: Of a condition.
    """
    return [name for word in words for name in _UNSET.findall(word) if name.isdigit()]


def _joined(left: bool | None, right: bool | None, *, either: bool) -> bool | None:
    if either in (left, right):
        return either
    return None if left is None or right is None else not either


def _plain(words: list[str]) -> bool | None:
    if any(not is_known(word) for word in words):
        return None
    if len(words) == 1:
        return words[0] not in ("", "-n")
    if len(words) == 2 and words[0] in ("-n", "-z"):
        return bool(words[1]) == (words[0] == "-n")
    if len(words) == 2 and words[1] in ("=", "==", "!="):
        return words[1] == "!="
    if len(words) == 3 and words[1] in ("=", "==", "!="):
        return fnmatch.fnmatchcase(words[0][:200], words[2][:60]) == (words[1] != "!=")
    if len(words) >= 3 and words[1] == "=~":
        return _fits(words[0], "".join(words[2:]))
    if len(words) == 3 and words[1] in _COMPARE:
        return _compared(*words)
    return None


def finds(text: str, pattern: str) -> bool | None:
    """Return whether a line of a text has a word or two as they are; None for what else they mean.

    Args:
        text: Some lines.
        pattern: What is looked for.
    """
    if _PLAIN.fullmatch(pattern) is None:
        return None
    return any(pattern in line for line in text.splitlines())


def _fits(text: str, pattern: str) -> bool | None:
    """Return whether a text has what an expression describes; None for one that may take long."""
    is_short = len(text) <= 200 and len(pattern) <= 100
    # What repeats what repeats, or much of it, is tried in very many ways.
    if not is_short or len(_REPEATED.findall(pattern)) > 2 or _NESTED.search(pattern):
        return None
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return None


def _compared(left_text: str, how: str, right_text: str) -> bool | None:
    try:
        left, right = int(left_text[:18] or "0"), int(right_text[:18] or "0")
    except ValueError:
        return None
    return {
        "-eq": left == right,
        "-ne": left != right,
        "-gt": left > right,
        "-lt": left < right,
        "-ge": left >= right,
        "-le": left <= right,
    }[how]
