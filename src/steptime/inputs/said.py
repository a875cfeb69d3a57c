"""What is said of the software of a step, and when it is taken to have been current."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.fact import Value
from steptime.inputs.fact_kinds import check_fact
from steptime.inputs.generation import generations
from steptime.inputs.run_words import meant
from steptime.inputs.stack import (
    FACT_NAMES,
    KERNEL,
    USUAL_FAMILY,
    USUAL_SHARDED,
    WORD_FACTS,
    check_date,
    families,
    learnt_to_shard,
    stack_named,
    stack_names,
    stacks,
)

EXACT, FAMILY, NOTHING = "exact", "family", "nothing"
KNOWLEDGE = (EXACT, FAMILY, NOTHING)
"""What is known of the software, most first."""


def _meant(kernel: Value) -> Value:
    """Return the kernel that people mean by a word."""
    known = [name for one in generations().values() for name in one.kernels]
    found: Value = meant("attention_kernel", kernel, known)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is said of the software.

    Attributes:
        stack: Exact name of a stack, or a family; None where nothing is said.
        date: Month when it was current, as ``2025-02``; None where it is not said.
        facts: Single facts, by name, in the order given: these come before all others.
        unstated: What of the layout nobody stated, of ``UNSTATED``.
        shards: Ways to shard that it is stated to have and had not when the device was usual:
            it is no older than they are.
    """

    stack: str | None = None
    date: str | None = None
    facts: tuple[tuple[str, Value], ...] = ()
    unstated: tuple[str, ...] = ()
    shards: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.facts:
            own = ((name, _meant(value) if name == KERNEL else value) for name, value in self.facts)
            object.__setattr__(self, "facts", tuple(own))
        if self.stack is not None:
            names = (*families(), *stack_names())
            object.__setattr__(self, "stack", meant("software", self.stack, names))
            check_choice("stack", self.stack, frozenset(names))
        if self.date is not None:
            check_date(self.date)
        for name, value in self.facts:
            check_choice("fact", name, FACT_NAMES)
            if name not in WORD_FACTS:
                check_fact(name, value)
            elif not isinstance(value, str):
                raise ConfigError(
                    f"fact {name} must be a word, such as flash-2 or p2p, got {value!r:.60}"
                )

    @property
    def exact(self) -> bool:
        """Return whether the stack itself is named, not its family alone or what is assumed."""
        return self.stack in stack_names() and not self.nobodys

    @property
    def nobodys(self) -> bool:
        """Return whether what is named is what is assumed where nobody names anything."""
        return self.stack in (USUAL_FAMILY, USUAL_SHARDED)

    @property
    def without_nobody(self) -> Said:
        """Return what is said, with no name where it names what is assumed without one.

        So naming it is one question with naming nothing, and over a file it drops the file's name.
        """
        return replace(self, stack=None) if self.nobodys else self

    @property
    def knowledge(self) -> str:
        """Return how much is known of the software: one of ``KNOWLEDGE``.

        A stack that was described for one source's runs is exact for nobody else: whoever names
        it knows its family, no more, so a near stack never narrows an interval. A family that
        has no other stacks says nothing. Single facts and dates change the point, not the level.
        """
        if self.stack is None or self.nobodys:
            return NOTHING
        if self.exact:
            return FAMILY if stack_named(self.stack).of else EXACT
        members = (one for one in stacks().values() if one.family == self.stack)
        return NOTHING if all(one.of for one in members) else FAMILY


def fact_pairs(facts: object) -> tuple[tuple[str, Value], ...]:
    """Return facts as what is said of the software holds them.

    Args:
        facts: By name, or None.

    Raises:
        ConfigError: If they are not values by name.
    """
    if facts is None:
        return ()
    if not isinstance(facts, Mapping):
        raise ConfigError(
            f"facts must be values by name, such as {{'overlap_dp': 0}}, got {facts!r:.60}"
        )
    return tuple(facts.items())


UNSTATED = ("recompute unstated",)
NOTHING_SAID = Said()


@functools.lru_cache(maxsize=4096)
def in_its_time(said: Said, device: Accelerator) -> Said:
    """Return what is said with a date, where it needs one and nobody gives it.

    An exact stack needs none, but that of one source's runs is as old as they are. Of a family,
    or of software that nobody names, what was current when the device was in use is taken: the
    newest would be too fast for most of its runs. What is stated to shard as the family learnt
    only later is as young as that.

    Args:
        said: Of the software.
        device: Its generation has a usual date in ``data/generations.toml``.
    """
    generation = generations().get(device.generation)
    if said.date is None and said.stack is not None and said.exact:
        own = stack_named(said.stack)
        return replace(said, date=own.since) if own.of else said
    if said.date is not None or generation is None:
        return said
    date: str | None = generation.usual_date
    if said.stack is not None and said.shards:
        date = learnt_to_shard(said.stack, said.shards, generation.usual_date)
    return replace(said, date=date or generation.usual_date)
