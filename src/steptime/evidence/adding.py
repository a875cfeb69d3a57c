"""Sums that are the same bits on every Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def step_of(parts: Mapping[str, Any]) -> Any:
    """Return the step that parts add up to, one after another as the formulas add them.

    Since Python 3.12 ``sum`` of floats carries what each addition rounds off, so its last digit
    differs from Python 3.11's, from NumPy's and from the page's.

    Args:
        parts: Seconds of each part, floats or arrays, in the order of the formulas.
    """
    values = iter(parts.values())
    total = next(values)
    for value in values:
        total = total + value
    return total
