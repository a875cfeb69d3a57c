"""The one error that bad input raises, and the checks that raise it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from steptime.inputs.suffixes import as_number

LARGEST_COUNT = 10**12
_GLANCE, _SURE, _GUESS = 12, 0.6, 0.55
"""Names that are read at a glance, and how alike one is that is offered: among so many, or more.

Half alike is any short word to some of many: foo to bloom.
"""
_HELD = (tuple, dict, frozenset)


class ConfigError(ValueError):
    """Input that cannot be used: the message names the value and the way out."""


def check_count(name: str, value: object, *, least: int = 1, most: int = LARGEST_COUNT) -> int:
    """Return ``value`` if it is a whole number from ``least`` to ``most``.

    Args:
        name: What the number is called in the message.
        value: The number as it came in.
        least: Smallest value allowed.
        most: Largest value allowed.

    Raises:
        ConfigError: If it is not an ``int`` (``bool`` is refused too) or out of range.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(
            f"{name} must be a whole number, got {value!r}{as_number(value, whole=True)}"
        )
    if not least <= value <= most:
        bound = f">= {least}" if value < least else f"<= {most}"
        shown = str(value) if abs(value) < 10**20 else "a number of over 20 digits"
        raise ConfigError(f"{name} must be {bound}, got {shown}")
    return value


def check_counts(record: object, names: Iterable[str], *, least: int = 1, most: int) -> None:
    """Refuse a record of which some fields are no whole numbers from ``least`` to ``most``.

    Args:
        record: Has the fields.
        names: Of the fields.
        least: Smallest value allowed.
        most: Largest value allowed.

    Raises:
        ConfigError: If one is not an ``int`` (``bool`` is refused too) or out of range.
    """
    for name in names:
        value = getattr(record, name)
        if type(value) is not int or not least <= value <= most:
            check_count(name, value, least=least, most=most)


def check_number(name: str, value: object, *, above: float = 0.0, most: float = 1e30) -> float:
    """Return ``value`` as a float if it is finite, over ``above`` and at most ``most``.

    Args:
        name: What the number is called in the message.
        value: The number as it came in, ``int`` or ``float``.
        above: Strict lower bound.
        most: Largest value allowed.

    Raises:
        ConfigError: If it is no real number, not finite, or out of range.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ConfigError(f"{name} must be a number, got {value!r}{as_number(value, whole=False)}")
    # Compared before it becomes a float: a huge int does not fit in one.
    if not above < value <= most or not math.isfinite(value):
        shown = repr(value) if isinstance(value, float) or abs(value) < 10**20 else "a huge int"
        least = ">= 0" if -1e-200 < above < 0 else f"> {above:g}"
        raise ConfigError(f"{name} must be a number {least} and <= {most:g}, got {shown}")
    return float(value)


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``choices``; else refuse and offer the nearest.

    Args:
        name: What is being chosen, for the message.
        value: The choice as it came in.
        choices: Every allowed value.

    Raises:
        ConfigError: If it is none of them.
    """
    # An abstract class would take longer to ask than the rest of this.
    names = choices if isinstance(choices, _HELD) else tuple(choices)
    if isinstance(value, str) and value in names:
        return value
    known = sorted(names)
    # A list that is read at a glance needs no guess at what was meant.
    cutoff = _SURE if len(known) <= _GLANCE else _GUESS
    near = _nearest(str(value)[:80].lower(), known, cutoff)
    hint = f"did you mean {near!r}?" if near else "one of: " + ", ".join(known)
    raise ConfigError(f"unknown {name} {str(value)[:80]!r}; {hint}")


def _nearest(text: str, known: list[str], cutoff: float) -> str:
    """Return the name that is most alike; of equals the one with most of the letters, in place."""
    # Nobody waits for it whose names are right.
    from collections import Counter
    from difflib import SequenceMatcher, get_close_matches

    def likeness(name: str) -> tuple[float, int, int]:
        letters = Counter(name) & Counter(text)
        in_place = sum(map(str.__eq__, name, text))
        return SequenceMatcher(None, name, text).ratio(), letters.total(), in_place

    return max(get_close_matches(text, known, n=8, cutoff=cutoff), key=likeness, default="")


_TYPO = 0.05
"""Share by which a number may be off and still be a slip of the hand."""


def same_in_sense(asked: str, known: str) -> bool:
    """Return whether two names differ like a slip of the hand, not like two things.

    The numbers of a name tell its size: qwen3-32b is no qwen3-235b, an h20 no h200. So letters
    must be close, and each number within a few percent.

    Args:
        asked: What was typed.
        known: A name that there is.
    """
    numbers = [[float(n) for n in re.findall(r"\d+(?:\.\d+)?", text)] for text in (asked, known)]
    words = [re.sub(r"[^a-z]", "", text.lower()) for text in (asked, known)]
    if len(numbers[0]) != len(numbers[1]):
        return False
    pairs = zip(*numbers, strict=True)
    if any(abs(left - right) > _TYPO * max(left, right) for left, right in pairs):
        return False
    # A letter is all that parts an a100 from an h100.
    least = 1.0 if max(map(len, words)) < 4 else 0.75
    from difflib import SequenceMatcher

    return SequenceMatcher(None, words[0], words[1]).ratio() >= least


def alike(asked: str, choices: Iterable[str], most: int = 8) -> str:
    """Return a hint: the name that was meant, else those of its family, else nothing.

    Args:
        asked: What was typed.
        choices: Every name that there is.
        most: Names to tell.
    """
    from difflib import get_close_matches

    known = list(choices)
    text = asked[:80].lower().rsplit("/", 1)[-1]
    close = get_close_matches(text, known, n=12, cutoff=0.4)
    meant = [name for name in close if same_in_sense(text, name)]
    # A maker is often left out: v5p is tpu-v5p.
    meant = meant or [name for name in known if text in name.lower().split("-")[1:]]
    if len(meant) == 1 or (meant and meant[0] in close):
        return f"did you mean {meant[0]!r}?"
    for part in (r"[a-z]+[\d.]*", r"[a-z]+"):
        head = re.match(part, text)
        family = [name for name in known if head and _head(part, name) == head[0]]
        if family:
            return f"did you mean one of its family: {', '.join(family[:most])}?"
    return ""


def _head(part: str, name: str) -> str:
    found = re.match(part, name.lower())
    return found[0] if found else ""
