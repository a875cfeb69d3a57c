"""The one error that bad input raises, and the checks that raise it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable

LARGEST_COUNT = 10**12


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
        raise ConfigError(f"{name} must be a whole number, got {value!r}")
    if not least <= value <= most:
        bound = f">= {least}" if value < least else f"<= {most}"
        shown = str(value) if abs(value) < 10**20 else "a number of over 20 digits"
        raise ConfigError(f"{name} must be {bound}, got {shown}")
    return value


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
        raise ConfigError(f"{name} must be a number, got {value!r}")
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
    known = sorted(choices)
    if isinstance(value, str) and value in known:
        return value
    near = difflib.get_close_matches(str(value)[:80].lower(), known, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}?" if near else "one of: " + ", ".join(known)
    raise ConfigError(f"unknown {name} {str(value)[:80]!r}; {hint}")
