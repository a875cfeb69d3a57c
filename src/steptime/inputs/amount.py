"""Counts and amounts as people write them: 32k tokens of a sequence, 2T tokens of a run."""

from __future__ import annotations

from steptime.inputs.errors import ConfigError
from steptime.inputs.suffixes import MOST_DIGITS, amount_of, digits_of, whole_of


def whole(text: object) -> int:
    """Return a whole number that may end in k or m, for 1024 and its square.

    Args:
        text: As it came in: ``8192``, ``8_192``, ``8k``.

    Raises:
        ConfigError: If it is no such number.
    """
    digits, _ = digits_of(str(text))
    if len(digits) > MOST_DIGITS:
        raise ConfigError(f"{digits[:20]!r}… is no number that can be used: it has too many digits")
    value = whole_of(str(text))
    if value is None:
        raise ConfigError(
            f"{str(text)[:60]!r} is not a valid integer; write digits: 8, or 8k for 8 x 1024"
        )
    return value


def amount(text: object) -> float:
    """Return a number that may end in k, M, B or T, for thousands to millions of millions.

    Args:
        text: As it came in: ``15e12``, ``15T``.

    Raises:
        ConfigError: If it is no such number.
    """
    value = amount_of(str(text))
    if value is None:
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
