"""The few operations that floats, NumPy arrays and JavaScript numbers all share.

Everything in ``formulas/`` is built from ``+ - * /`` and these, because each of
them rounds alike in all three. ``where`` finds NumPy through the array itself, so
this room imports nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Only who checks types needs NumPy here.
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Number: TypeAlias = float | NDArray[np.float64]
    Condition: TypeAlias = bool | NDArray[np.bool_]
else:
    # A float, a NumPy float64 array or, in the page, a JavaScript number.
    Number = Any
    # What a comparison of them gives.
    Condition = Any

FEW = 8
"""How many times more elements to choose than to ask make it pay to ask all at once."""


def where(condition: Condition, yes: Number, no: Number) -> Number:
    """Return ``yes`` where ``condition`` holds and ``no`` elsewhere.

    Both are already computed, so neither may raise where it is not chosen.

    Args:
        condition: A bool, or a boolean array.
        yes: Value where it holds, broadcast against ``condition``.
        no: Value where it does not.

    Returns:
        A number, or an array that broadcasts to the shape of all three: where every element is the
        same one of the two, that one as it is.
    """
    if condition is True:
        return yes
    if condition is False:
        return no
    # Asking few whether they all agree takes less than choosing many one by one.
    if getattr(yes, "size", 1) > FEW * condition.size and condition.all():
        return yes
    if getattr(no, "size", 1) > FEW * condition.size and not condition.any():
        return no
    chosen: Number = condition.__array_namespace__().where(condition, yes, no)
    return chosen


def maximum(a: Number, b: Number) -> Number:
    """Return the larger of two numbers, element by element for arrays.

    NumPy's own is up to ten times faster than choosing by `where`; for numbers both agree.
    """
    larger = a > b
    if larger is True:
        return a
    if larger is False:
        return b
    chosen: Number = larger.__array_namespace__().maximum(a, b)
    return chosen


def minimum(a: Number, b: Number) -> Number:
    """Return the smaller of two numbers, element by element for arrays."""
    smaller = a < b
    if smaller is True:
        return a
    if smaller is False:
        return b
    chosen: Number = smaller.__array_namespace__().minimum(a, b)
    return chosen


def floor(a: Number) -> Number:
    """Return the largest whole number not above ``a``.

    NumPy has a fast one, sixty times faster than its ``//``; for finite numbers both agree.
    """
    itself = a == a
    if itself is True or itself is False:
        return a // 1.0
    below: Number = itself.__array_namespace__().floor(a)
    return below


def ceil(a: Number) -> Number:
    """Return the smallest whole number not below ``a``."""
    return -floor(-a)


def ceil_div(a: Number, b: Number) -> Number:
    """Return ``a / b`` rounded up; exact for whole numbers under 2**53."""
    return -floor(-a / b)


def anywhere(condition: Condition) -> bool:
    """Return whether a condition holds for some element: what need not be computed is skipped.

    Args:
        condition: A bool, or a boolean array.
    """
    if condition is True:
        return True
    if condition is False:
        return False
    return bool(condition.any())


def taken(table: Sequence[float], index: Number) -> Number:
    """Return the entry of a table at a whole number, element by element for arrays.

    Args:
        table: Numbers.
        index: Places in it, from 0; beyond its ends the first or last entry is taken.
    """
    itself = index == index
    if itself is True or itself is False:
        place, last = int(index), len(table) - 1
        return table[place if 0 <= place <= last else max(0, min(place, last))]
    space = itself.__array_namespace__()
    # Every array has what a type checker asks of a float here.
    places: Any = index
    found: Number = space.take(space.asarray(table), places.astype("int64"), None, None, "clip")
    return found
