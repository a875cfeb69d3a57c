"""Whole-number arithmetic as a shell does it."""

from __future__ import annotations

import re
from collections.abc import Callable

MOST_INTEGER = 10**15
MOST_SYMBOLS = 200
_SYMBOL = re.compile(r"\s*(\d+|[A-Za-z_]\w*|[<>=!]=|&&|\|\||[-+*/%()<>?:!])")
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "<=": lambda left, right: left <= right,
    ">=": lambda left, right: left >= right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
}


def value_of(text: str, number: Callable[[str], int]) -> int:
    """Return the value of an expression.

    Args:
        text: The expression, with its variables put in or named.
        number: The value of a variable by its name.

    Raises:
        ValueError: If it is no expression that is known here.
        ArithmeticError: If a value grows too large, or something is divided by 0.
        IndexError: If it ends too soon.
    """
    symbols: list[int | str] = []
    at = 0
    while at < len(text):
        match = _SYMBOL.match(text, at)
        if match is None or len(symbols) > MOST_SYMBOLS:
            raise ValueError(text[:40])
        symbols.append(_symbol(match[1], number))
        at = match.end()
    value, rest = _choice(symbols, 0)
    if rest != len(symbols):
        raise ValueError(text[:40])
    return value


def _symbol(symbol: str, number: Callable[[str], int]) -> int | str:
    if symbol[0].isdigit():
        return _bounded(int(symbol[:20]))
    return _bounded(number(symbol)) if symbol[0].isalpha() or symbol[0] == "_" else symbol


def _bounded(value: int) -> int:
    if abs(value) > MOST_INTEGER:
        raise OverflowError
    return value


def _choice(symbols: list[int | str], at: int) -> tuple[int, int]:
    """Return ``condition ? one : other``, or what stands alone."""
    value, at = _either(symbols, at)
    if at >= len(symbols) or symbols[at] != "?":
        return value, at
    first, at = _choice(symbols, at + 1)
    if symbols[at] != ":":
        raise ValueError
    second, at = _choice(symbols, at + 1)
    return (first if value else second), at


def _either(symbols: list[int | str], at: int) -> tuple[int, int]:
    value, at = _both(symbols, at)
    while at < len(symbols) and symbols[at] == "||":
        other, at = _both(symbols, at + 1)
        value = int(bool(value or other))
    return value, at


def _both(symbols: list[int | str], at: int) -> tuple[int, int]:
    value, at = _comparison(symbols, at)
    while at < len(symbols) and symbols[at] == "&&":
        other, at = _comparison(symbols, at + 1)
        value = int(bool(value and other))
    return value, at


def _comparison(symbols: list[int | str], at: int) -> tuple[int, int]:
    value, at = _sum(symbols, at)
    while at < len(symbols) and symbols[at] in _COMPARE:
        other, end = _sum(symbols, at + 1)
        value, at = int(_COMPARE[str(symbols[at])](value, other)), end
    return value, at


def _sum(symbols: list[int | str], at: int) -> tuple[int, int]:
    value, at = _product(symbols, at)
    while at < len(symbols) and symbols[at] in ("+", "-"):
        other, end = _product(symbols, at + 1)
        value = _bounded(value + other if symbols[at] == "+" else value - other)
        at = end
    return value, at


def _product(symbols: list[int | str], at: int) -> tuple[int, int]:
    value, at = _factor(symbols, at)
    while at < len(symbols) and symbols[at] in ("*", "/", "%"):
        other, end = _factor(symbols, at + 1)
        if symbols[at] == "*":
            value = _bounded(value * other)
        else:
            # The shell cuts towards zero, Python rounds down.
            quotient = abs(value) // abs(other) * (1 if (value < 0) == (other < 0) else -1)
            value = quotient if symbols[at] == "/" else value - quotient * other
        at = end
    return value, at


def _factor(symbols: list[int | str], at: int) -> tuple[int, int]:
    symbol = symbols[at]
    if symbol == "(":
        value, at = _choice(symbols, at + 1)
        if symbols[at] != ")":
            raise ValueError
        return value, at + 1
    if symbol in ("-", "+", "!"):
        value, at = _factor(symbols, at + 1)
        return {"-": -value, "+": value, "!": int(not value)}[str(symbol)], at
    if not isinstance(symbol, int):
        raise ValueError
    return symbol, at + 1
