"""Checks the name of a pipeline schedule, and says why some known ones are not built."""

from __future__ import annotations

from steptime.formulas.schedule import SCHEDULES
from steptime.inputs.errors import ConfigError, check_choice

SEARCHED = {
    "zb-1p": "within the memory of p micro-batches; use zb-h1, an order by hand that holds p",
    "zb-2p": "within the memory of 2p micro-batches; use zb-h2, an order by hand that holds 2p - 1",
    "zb-auto": "within any memory; use zb-h1, zb-h2 or zb-v, or give your order as a file with "
    "'steptime schedule --order FILE'",
}
"""What its authors' search finds for given times (qi2023, Sec. 3), and what comes near."""
_OTHER_SPELLINGS = {"zb1p": "zb-1p", "zb2p": "zb-2p", "auto-schedule": "zb-auto"}


def check_schedule_name(name: object) -> str:
    """Return the name of a schedule if it is one that is built.

    Args:
        name: As it came in.

    Raises:
        ConfigError: If it is none, or one that only a search makes.
    """
    folded = str(name).lower().replace("_", "-")
    searched = _OTHER_SPELLINGS.get(folded, folded)
    if searched in SEARCHED:
        raise ConfigError(
            f"schedule={name!r} is what its authors' search over orders finds for one set of "
            f"times, which is not built here: it looks {SEARCHED[searched]}"
        )
    return check_choice("schedule", name, SCHEDULES)
