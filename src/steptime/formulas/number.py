"""The few operations that floats, NumPy arrays and JavaScript numbers all share.

Everything in ``formulas/`` is built from ``+ - * /`` and these, because each of
them rounds alike in all three. ``where`` finds NumPy through the array itself, so
this room imports nothing.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Number: TypeAlias = Any
"""A float, a NumPy float64 array or, in the page, a JavaScript number."""


def where(condition: Number, yes: Number, no: Number) -> Number:
    """Return ``yes`` where ``condition`` holds and ``no`` elsewhere.

    Both are already computed, so neither may raise where it is not chosen.

    Args:
        condition: A bool, or a boolean array.
        yes: Value where it holds, broadcast against ``condition``.
        no: Value where it does not.

    Returns:
        A number, or an array of the broadcast shape.
    """
    if condition is True:
        return yes
    if condition is False:
        return no
    return condition.__array_namespace__().where(condition, yes, no)


def maximum(a: Number, b: Number) -> Number:
    """Return the larger of two numbers, element by element for arrays."""
    return where(a > b, a, b)


def minimum(a: Number, b: Number) -> Number:
    """Return the smaller of two numbers, element by element for arrays."""
    return where(a < b, a, b)


def floor(a: Number) -> Number:
    """Return the largest whole number not above ``a``."""
    return a // 1.0


def ceil(a: Number) -> Number:
    """Return the smallest whole number not below ``a``."""
    return -((-a) // 1.0)


def ceil_div(a: Number, b: Number) -> Number:
    """Return ``a / b`` rounded up; exact for whole numbers under 2**53."""
    return -((-a / b) // 1.0)
