"""Letters behind a number: 8k tokens of a sequence are 8192, 15T tokens of a run are 15e12."""

from __future__ import annotations

import math

SIZES = {"k": 1024, "m": 1024**2}
"""Of sequences, batches and devices: 32k is 32,768, as their makers mean it."""

AMOUNTS = {"k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12}
"""Of tokens and money: 2T is 2e12."""

MOST_DIGITS = 40
"""No sum needs more digits, and Python refuses to read thousands of them."""

MOST_SHOWN = 10**15
"""A larger count is no slip of the hand."""


def digits_of(text: str) -> tuple[str, int]:
    """Return a count without its letter, and what the letter stands for.

    Args:
        text: As it came in.
    """
    word = text.strip().lower()
    factor = SIZES.get(word[-1:], 1)
    return (word[:-1] if factor > 1 else word), factor


def whole_of(text: str) -> int | None:
    """Return a whole number that may end in k or m; None where the text is none.

    Args:
        text: As it came in.
    """
    digits, factor = digits_of(text)
    try:
        return int(digits) * factor if len(digits) <= MOST_DIGITS else None
    except ValueError:
        return None


def amount_of(text: str) -> float | None:
    """Return a number that may end in k, M, B or T; None where the text is none.

    Args:
        text: As it came in.
    """
    word = text.strip().lower().replace("_", "")
    factor = AMOUNTS.get(word[-1:], 1.0)
    try:
        value = float(word[:-1] if factor > 1.0 else word) * factor
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def as_number(value: object, *, whole: bool) -> str:
    """Return how to write a number that came as a text, as commands take it; else nothing.

    Args:
        value: As it came in: ``8k``, ``15T``, ``1e9``, 8192.0 where a count is asked.
        whole: Whether it counts something: 8k of these is 8192, and of amounts 8000.
    """
    if not isinstance(value, (str, float)):
        return ""
    if not whole:
        amount = amount_of(value) if isinstance(value, str) else None
        return "" if amount is None else f"; write {amount:g}"
    count = whole_of(value) if isinstance(value, str) else None
    if count is None and not (isinstance(value, str) and digits_of(value)[1] > 1):
        number = amount_of(str(value))
        count = int(number) if number is not None and number.is_integer() else None
    return "" if count is None or abs(count) > MOST_SHOWN else f"; write {count}"
