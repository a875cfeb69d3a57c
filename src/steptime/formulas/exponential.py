"""The exponential function out of + - * /, so that all three languages agree to the last bit."""

from steptime.formulas.number import Number

HALVINGS = 10
TERMS = 12


def exponential(power: Number) -> Number:
    """Return e to a power, to about a part in 1e13 for powers between -20 and 20.

    The power is halved ten times, the series summed from its smallest term, the result squared
    ten times.

    Args:
        power: A number, or an array.
    """
    small = power / 1024.0
    total = 1.0 + small / TERMS
    for step in range(TERMS - 1):
        total = 1.0 + small / (TERMS - 1.0 - step) * total
    for _ in range(HALVINGS):
        total = total * total
    return total
