"""How far two columns of numbers move together."""

from __future__ import annotations

import math
from collections.abc import Sequence


def correlation(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Return Pearson's correlation, or None under three pairs or without spread.

    A constant, but for rounding, has no spread.

    Args:
        xs: One number a row.
        ys: Another, in the same order.
    """
    if len(xs) < 3:
        return None
    mean_x, mean_y = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
    across = math.fsum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    spread_x = math.fsum((x - mean_x) ** 2 for x in xs)
    spread_y = math.fsum((y - mean_y) ** 2 for y in ys)
    if spread_x <= 1e-18 * mean_x**2 * len(xs) or spread_y <= 1e-18 * mean_y**2 * len(ys):
        return None
    return across / math.sqrt(spread_x * spread_y)
