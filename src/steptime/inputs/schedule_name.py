"""Checks the name of a pipeline schedule, and knows those whose order a search makes."""

from __future__ import annotations

from typing import Any

from steptime.formulas.schedule import SCHEDULES
from steptime.formulas.schedules.registry import NUMBERS
from steptime.formulas.schedules.zb_searched import SEARCHED
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.run_words import meant


def schedule_meant(name: Any) -> Any:
    """Return the name of the schedule that people mean by a word; what nobody knows as it is.

    Args:
        name: As it came in.
    """
    return meant("schedule", name, SCHEDULES)


def with_one_chunk(name: str) -> str:
    """Return the schedule that one is where a rank holds one chunk; itself where that is no other.

    Args:
        name: A key of the schedules.
    """
    single = int(NUMBERS["single"][SCHEDULES.index(name)])
    return name if single < 0 else SCHEDULES[single]


def searched_name(name: object) -> str:
    """Return the name of a schedule that a search makes; nothing for any other.

    Args:
        name: As it came in.
    """
    searched = str(schedule_meant(name))
    return searched if searched in SEARCHED else ""


def check_schedule_name(name: object) -> str:
    """Return the name of a schedule if it is one.

    Args:
        name: As it came in.

    Raises:
        ConfigError: If it is none; with its own name where it is another spelling of it.
    """
    if isinstance(name, str) and name in SCHEDULES:
        return name
    searched = searched_name(name)
    if searched and searched != name:
        raise ConfigError(f"unknown schedule {name!r}; did you mean {searched!r}?")
    return check_choice("schedule", name, SCHEDULES)
