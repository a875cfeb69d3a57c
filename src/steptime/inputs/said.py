"""What is said of the software of a step, and when it is taken to have been current."""

from __future__ import annotations

from dataclasses import dataclass, replace

from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.fact import Value
from steptime.inputs.generation import generations
from steptime.inputs.stack import FACT_NAMES, WORD_FACTS, check_date, families, stack_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is said of the software.

    Attributes:
        stack: Exact name of a stack, or a family; None where nothing is said.
        date: Month when it was current, as ``2025-02``; None where it is not said.
        facts: Single facts, by name, in the order given: these come before all others.
        unstated: What of the layout nobody stated, of ``UNSTATED``.
    """

    stack: str | None = None
    date: str | None = None
    facts: tuple[tuple[str, Value], ...] = ()
    unstated: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.stack is not None:
            check_choice("stack", self.stack, (*stack_names(), *families()))
        if self.date is not None:
            check_date(self.date)
        for name, value in self.facts:
            check_choice("fact", name, FACT_NAMES)
            if isinstance(value, str) != (name in WORD_FACTS):
                kind = "a word, such as flash-2 or p2p" if name in WORD_FACTS else "a number"
                raise ConfigError(f"fact {name} must be {kind}, got {value!r:.60}")

    @property
    def exact(self) -> bool:
        """Return whether the stack itself is named, not its family alone."""
        return self.stack in stack_names()


UNSTATED = ("recompute unstated",)
NOTHING_SAID = Said()


def in_its_time(said: Said, device: Accelerator) -> Said:
    """Return what is said with a date, where it needs one and nobody gives it.

    An exact stack needs none. Of a family, or of software that nobody names, what was current
    when the device was in use is taken: the newest would be too fast for most of its runs.

    Args:
        said: Of the software.
        device: Its generation has a usual date in ``data/generations.toml``.
    """
    generation = generations().get(device.generation)
    if said.date is not None or said.exact or generation is None:
        return said
    return replace(said, date=generation.usual_date)
