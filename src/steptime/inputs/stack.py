"""Software stacks as ``data/stacks.toml`` has them: their facts, families and dates."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from steptime.formulas.records import MemoryFacts, TimeFacts
from steptime.inputs.context_kind import CONTEXT_KIND
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.fact import Fact, facts_from

COMMON = "common"
TIME_FACTS = tuple(entry.name for entry in fields(TimeFacts))
MEMORY_FACTS = tuple(entry.name for entry in fields(MemoryFacts))
KERNEL = "kernel"
WORD_FACTS = (KERNEL, CONTEXT_KIND)
"""The facts whose value is a word."""
USUAL_FAMILY, USUAL_SHARDED = "usual", "usual-sharded"
"""The mixtures that are assumed where nobody names the software: where weights stay whole, and
where data-parallel ranks share them."""
HIDING = (
    *("overlap_dp", "overlap_plain_dp", "overlap_tp", "overlap_tp_backward"),
    *("overlap_cp", "overlap_sends", "overlap_ep"),
)
"""The facts of time that say which messages computing hides."""
FACT_NAMES = tuple(dict.fromkeys((*WORD_FACTS, *TIME_FACTS, *MEMORY_FACTS)))
"""Every name that a fact of the software may have."""
MOST_YEARS_AHEAD = 5
"""Years after the newest stack of the data file that a date may lie."""
_MONTH = re.compile(r"(19|20)\d\d-(0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A named software stack.

    Attributes:
        name: Key in ``data/stacks.toml``.
        title: What it is called in a table.
        family: What it is a version of.
        since: Month in which it became current, as ``2023-06``.
        of: The source whose runs it was described for; empty where it is anybody's.
        zero_stages: What data parallelism can shard in it, the usual stage first.
        sharding_since: Month in which it learnt a stage, where that is later than ``since``.
        zero_in_pipeline: The usual stage of sharding where there is a pipeline.
        recompute: What it recomputes where nobody says it.
        sequence_parallel: Whether norms are split over tensor ranks where nobody says it.
        no_eight_bits: Why its products cannot have 8 bits or fewer; empty where they can.
        facts: Its lines, those of all software and of the stack that it is like first.
        own: Those of its lines that are its own.
    """

    name: str
    title: str
    family: str
    since: str
    of: str
    zero_stages: tuple[int, ...]
    sharding_since: tuple[tuple[int, str], ...]
    zero_in_pipeline: int
    recompute: str
    sequence_parallel: bool
    no_eight_bits: str
    facts: tuple[Fact, ...]
    own: tuple[Fact, ...]

    def values(self, conditions: Iterable[str], date: str | None) -> dict[str, Fact]:
        """Return the line that counts for each name: the last one that holds.

        Args:
            conditions: What is true of model and precision, of `steptime.inputs.fact.conditions`.
            date: Month of the software, or None where it is not known.
        """
        true = tuple(conditions)
        return {fact.name: fact for fact in self.facts if fact.holds(true, date)}

    def shards(self, date: str | None) -> tuple[int, ...]:
        """Return what data parallelism can shard in it, the usual stage first.

        Args:
            date: Month of the software; None for all that it ever learnt.
        """
        later = {stage for stage, month in self.sharding_since if date and date < month}
        return tuple(stage for stage in self.zero_stages if stage not in later)

    def dated(self, conditions: Iterable[str]) -> tuple[Fact, ...]:
        """Return the lines that a date would decide on.

        Args:
            conditions: As in `values`.
        """
        true = tuple(conditions)
        return tuple(fact for fact in self.facts if fact.before and fact.holds(true, "0000-00"))


@functools.cache
def stacks() -> dict[str, Stack]:
    """Return every stack, in the order of the data file.

    Raises:
        ConfigError: If a line names no fact.
    """
    table = data_table("stacks.toml")
    found: dict[str, Stack] = {}
    kept: dict[str | None, dict[str, Any]] = {}
    for name, entry in table.items():
        own = facts_from(entry["facts"])
        for fact in own:
            check_choice(f"fact of {name}", fact.name, FACT_NAMES)
        inherited: tuple[Fact, ...] = ()
        habits: dict[str, Any] = table[COMMON] | kept.get(entry.get("like"), {}) | entry
        kept[name] = habits
        if like := entry.get("like"):
            inherited = _as_in(found[like])
        elif name != COMMON:
            inherited = found[COMMON].facts
        found[name] = Stack(
            name=name,
            title=entry["title"],
            family=entry["family"],
            since=entry["since"],
            of=entry.get("of", ""),
            zero_stages=tuple(habits["zero_stages"]),
            sharding_since=tuple(
                (int(stage), month) for stage, month in habits.get("sharding_since", {}).items()
            ),
            zero_in_pipeline=int(habits.get("zero_in_pipeline", habits["zero_stages"][0])),
            recompute=str(habits["recompute"]),
            sequence_parallel=bool(habits["sequence_parallel"]),
            no_eight_bits=str(entry.get("no_eight_bits", "")),
            facts=(*inherited, *own),
            own=own,
        )
    return {name: stack for name, stack in found.items() if name != COMMON}


def _as_in(parent: Stack) -> tuple[Fact, ...]:
    """Return a stack's lines as another takes them over: inferred, whatever they were."""
    return tuple(
        fact
        if fact.before
        else replace(fact, kind="inferred", source=f"as {parent.name}: {fact.source}")
        for fact in parent.facts
    )


def stack_names() -> tuple[str, ...]:
    """Return the names of the stacks in ``data/stacks.toml``."""
    return tuple(stacks())


@functools.cache
def families() -> tuple[str, ...]:
    """Return the names of the families of stacks."""
    return tuple(dict.fromkeys(stack.family for stack in stacks().values()))


def stack_named(name: str) -> Stack:
    """Return a stack of ``data/stacks.toml``.

    Args:
        name: Its key.

    Raises:
        ConfigError: If there is no such stack.
    """
    check_choice("stack", name, stack_names())
    return stacks()[name]


@functools.cache
def family_stack(family: str, date: str | None = None) -> Stack:
    """Return the stack of a family that was current at a date.

    Args:
        family: One of `families`.
        date: Month, or None for the newest.

    Returns:
        The newest that is no younger than the date; the oldest where all are. A stack of one
        source's runs is nobody else's, unless the family has no other.

    Raises:
        ConfigError: If there is no such family.
    """
    check_choice("family", family, families())
    members = sorted(
        (stack for stack in stacks().values() if stack.family == family),
        key=lambda stack: stack.since,
    )
    members = [stack for stack in members if not stack.of] or members
    current = [stack for stack in members if date is None or stack.since <= date]
    # Of several of one month the first in the file is the plain one.
    newest = current[-1].since if current else members[0].since
    return next(stack for stack in members if stack.since == newest)


def last_of(stack: Stack) -> str:
    """Return the month from which on a stack is no more what is current.

    Args:
        stack: The stack.

    Returns:
        When the next of its family came; its own month where it is of one source's runs; empty
        where it is the newest.
    """
    if stack.of:
        return stack.since
    plain = (one.since for one in stacks().values() if one.family == stack.family and not one.of)
    return min((month for month in plain if month > stack.since), default="")


def learnt_to_shard(family: str, stages: tuple[int, ...], date: str) -> str | None:
    """Return the first month from which on what is current of a family has some ways to shard.

    Args:
        family: One of `families`.
        stages: 0 to 3; all are to be had.
        date: Month to look from.

    Returns:
        The date itself where it has them then; None where it never has.
    """
    members = [one for one in stacks().values() if one.family == family]
    learnt = {month for one in members for _, month in one.sharding_since}
    later = {month for month in {*learnt, *(one.since for one in members)} if month > date}
    months = (date, *sorted(later))
    had = (month for month in months if {*stages} <= {*family_stack(family, month).shards(month)})
    return next(had, None)


@functools.cache
def months() -> tuple[str, str]:
    """Return the first month that software is known of, and the last that may be asked for."""
    first: str = data_table("stacks.toml")[COMMON]["since"]
    year, month = max(stack.since for stack in stacks().values()).split("-")
    return first, f"{int(year) + MOST_YEARS_AHEAD}-{month}"


def check_date(date: str) -> str:
    """Return a date if it is a month in which software is known, or may come to be.

    Args:
        date: As ``2025-02``.

    Raises:
        ConfigError: If it is none, or too early or late.
    """
    if not isinstance(date, str) or not _MONTH.fullmatch(date):
        raise ConfigError(f"date must be a month such as 2025-02, got {str(date)[:40]!r}")
    first, last = months()
    if not first <= date <= last:
        known = "before any software for such models" if date < first else "too far ahead"
        raise ConfigError(f"date={date} is {known}; use {first} to {last}")
    return date
