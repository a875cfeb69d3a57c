"""Checks the name of a pipeline schedule, and knows those that only a search makes."""

from __future__ import annotations

from steptime.formulas.schedule import SCHEDULES
from steptime.inputs.errors import ConfigError, check_choice

SEARCHED = {
    "zb-1p": "use zb-h1: it takes as long and holds as much where a step has p micro-batches or "
    "more",
    "zb-2p": "use zb-h2: it takes at most 3 % longer where a step has 2p micro-batches or more",
    "zb-auto": "use zb-h1, zb-h2 or zb-v",
}
"""What its authors' search makes for given times (qi2023, Sec. 3.1), and what comes near."""
_OTHER_SPELLINGS = {"zb1p": "zb-1p", "zb2p": "zb-2p", "auto-schedule": "zb-auto"}


def searched_name(name: object) -> str:
    """Return the name of a schedule that a search makes; nothing for any other.

    Args:
        name: As it came in.
    """
    folded = str(name).lower().replace("_", "-")
    searched = _OTHER_SPELLINGS.get(folded, folded)
    return searched if searched in SEARCHED else ""


def check_schedule_name(name: object) -> str:
    """Return the name of a schedule if it is one with an order and a form for every time.

    Args:
        name: As it came in.

    Raises:
        ConfigError: If it is none, or one that only a search makes.
    """
    if isinstance(name, str) and name in SCHEDULES:
        return name
    searched = searched_name(name)
    if searched:
        raise ConfigError(
            f"schedule={name!r} is an order that a search makes anew for each time, so it has no "
            f"form here; 'steptime schedule {searched}' runs it; {SEARCHED[searched]}"
        )
    return check_choice("schedule", name, SCHEDULES)
