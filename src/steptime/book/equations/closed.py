"""Closed forms of the few formulas that go through steps which an equation would not show.

Each is the same function of the same numbers; tests compare the two.
"""

from __future__ import annotations

from types import FunctionType

from steptime.formulas.number import Number
from steptime.formulas.roofline import exchanges


def groups_reached(groups: Number, picks: Number) -> Number:
    """Return the power that the formula works out by squaring.

    Args:
        groups: Of experts.
        picks: Experts a token goes to.
    """
    return groups * (1.0 - (1.0 - 1.0 / groups) ** picks)


CLOSED: dict[FunctionType, FunctionType] = {exchanges.groups_reached: groups_reached}  # type: ignore[dict-item]
