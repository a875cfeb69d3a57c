"""Counts and amounts as people write them: 32k tokens of a sequence, 2T tokens of a run."""

from __future__ import annotations

import math

from steptime.inputs.errors import ConfigError

SIZES = {"k": 1024, "m": 1024**2}
"""Of sequences, batches and devices: 32k is 32,768, as their makers mean it."""

AMOUNTS = {"k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12}
"""Of tokens and money: 2T is 2e12."""


def whole(text: object) -> int:
    """Return a whole number that may end in k or m, for 1024 and its square.

    Args:
        text: As it came in: ``8192``, ``8_192``, ``8k``.

    Raises:
        ConfigError: If it is no such number.
    """
    word = str(text).strip().lower()
    factor = SIZES.get(word[-1:], 1)
    digits = word[:-1] if factor > 1 else word
    # No sum needs more digits, and Python refuses to read thousands of them.
    if len(digits) > 40:
        raise ConfigError(f"{word[:20]!r}… is no number that can be used: it has too many digits")
    try:
        return int(digits) * factor
    except ValueError:
        raise ConfigError(
            f"{str(text)[:60]!r} is not a valid integer; write digits: 8, or 8k for 8 x 1024"
        ) from None


def amount(text: object) -> float:
    """Return a number that may end in k, M, B or T, for thousands to millions of millions.

    Args:
        text: As it came in: ``15e12``, ``15T``.

    Raises:
        ConfigError: If it is no such number.
    """
    word = str(text).strip().lower().replace("_", "")
    factor = AMOUNTS.get(word[-1:], 1.0)
    try:
        value = float(word[:-1] if factor > 1.0 else word) * factor
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(f"{str(text)[:60]!r} is not a valid number; write 15e12 or 15T")
    return value


def wholes(texts: list[str]) -> tuple[int, ...]:
    """Return whole numbers from words, each one or several with commas between.

    Args:
        texts: As they came in.

    Raises:
        ConfigError: If one is no whole number.
    """
    return tuple(whole(part) for part in words(texts))


def words(texts: list[str]) -> tuple[str, ...]:
    """Return words from texts, each one or several with commas between.

    Args:
        texts: As they came in.
    """
    return tuple(part.strip() for text in texts for part in text.split(",") if part.strip())
