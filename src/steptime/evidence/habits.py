"""What software does on some runs only, by `data/stack_habits.toml`."""

from __future__ import annotations

from typing import Any

from steptime.evidence.row_text import year_of_date
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Layout
from steptime.inputs.model import ModelShape

_FILE = "stack_habits.toml"
_APART = ("usual", "unstated")


def _before(month: str) -> float:
    """Return a month of the table as a year: half a month early, so that it is not itself before.

    Args:
        month: ``YYYY-MM``.
    """
    year = year_of_date(month)
    if year is None:
        raise ConfigError(f"{_FILE}: {month!r} is no month; write YYYY-MM")
    return year - 0.5 / 12.0


def is_before(year: float | None, month: str) -> bool:
    """Return whether a date is known and earlier than a month.

    Args:
        year: With a fraction, as `steptime.evidence.row_text.year_of_date` gives it.
        month: ``YYYY-MM``.
    """
    return year is not None and year < _before(month)


def habit_changes(
    stack: str,
    model: ModelShape,
    layout: Layout,
    accelerator: Accelerator,
    *,
    year: float | None = None,
    recompute_stated: bool = True,
) -> dict[str, float]:
    """Return the facts that software has on such a run, beside those of its own table.

    Args:
        stack: A key of ``data/stacks.toml``.
        model: Tells experts and latent attention.
        layout: Gives precision, sharding and stages.
        accelerator: Gives the generation.
        year: When it ran, None where nobody says it.
        recompute_stated: Whether it says what it recomputes.
    """
    has = {
        "experts": model.experts is not None,
        "latent_attention": model.latent_attention is not None,
        "recompute_stated": recompute_stated,
        "pp": layout.pp,
    }
    one_of = {
        "stacks": stack,
        "zero_stages": layout.zero_stage,
        "precisions": layout.precision,
        "generations": accelerator.generation,
    }
    found: dict[str, float] = {}
    for name, habit in data_table(_FILE).items():
        if name in _APART:
            continue
        holds = all(habit.get(key, value) == value for key, value in has.items())
        holds = holds and all(value in habit.get(key, (value,)) for key, value in one_of.items())
        if holds and ("before" not in habit or is_before(year, habit["before"])):
            found.update(habit["facts"])
    return found


def usual(habit: str, stack: str) -> bool:
    """Return whether something is usual with a stack where a run does not say.

    Args:
        habit: A table under ``usual``.
        stack: A key of ``data/stacks.toml``.
    """
    entry: dict[str, Any] = data_table(_FILE)["usual"][habit]
    return stack in entry["stacks"]


def stack_by_year(accelerator: Accelerator, year: float | None) -> str:
    """Return the stack of a generation's early runs that name none, empty if it is a later one.

    Args:
        accelerator: Of the run.
        year: When it ran.
    """
    entry = data_table(_FILE)["unstated"].get(accelerator.generation)
    return str(entry["stack"]) if entry and is_before(year, entry["before"]) else ""
