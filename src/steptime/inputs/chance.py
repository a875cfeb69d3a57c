"""Chances as people read them: what is not sure is never shown as 0 or 100 %."""

from __future__ import annotations

_NEAR = {"100 %": "over 99 %", "0 %": "under 1 %"}
_SHORT = {"100 %": ">99%", "0 %": "<1%"}


def chance_text(chance: float | None, *, short: bool = False) -> str:
    """Return a chance in whole percent, or a dash; near 0 and 1 it says so.

    Args:
        chance: From 0 to 1, or None where none is known.
        short: As the narrow column of a table has it.
    """
    if chance is None:
        return "-"
    shown = f"{100.0 * chance:.0f} %"
    return _SHORT.get(shown, shown.replace(" ", "")) if short else _NEAR.get(shown, shown)
