"""What software can run of a layout: ``data/abilities.toml``, for all who must know it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from steptime.inputs.assumed import Assumed
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.fields import BY_NAME
from steptime.inputs.layout import Layout
from steptime.inputs.said import Said
from steptime.inputs.stack import families, last_of, stack_named

NOT_RUN = "not run"
"""The name of the record of what a layout asks beyond its software."""
_PLAIN = Layout()
_OF_STAGES = ("schedule", "vpp")
"""Fields that mean nothing without stages, which nobody needs to be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What software can run of one field of a layout.

    Attributes:
        of: The field.
        least: The least that it may be; None for any. A switch is 0 or 1.
        most: The most; None for any.
        one_of: The words that it may be; empty for any.
        where: A field that must be above its default, such as a size above 1, for the limit to
            hold; empty where it always does.
        before: The month in which software lost it; empty where it still has it.
        trainers: Whether ready-made trainers alone have it, not models written for the library.
    """

    of: str
    least: int | None = None
    most: int | None = None
    one_of: tuple[str, ...] = ()
    where: str = ""
    before: str = ""
    trainers: bool = False

    def allows(self, value: Any) -> bool:
        """Return whether a value of the field is inside the limit.

        Args:
            value: A number, a switch or a word.
        """
        if self.one_of:
            return value in self.one_of
        return (self.least is None or value >= self.least) and (
            self.most is None or value <= self.most
        )

    def broken_by(self, layout: Layout) -> bool:
        """Return whether a layout asks for more.

        Args:
            layout: The layout.
        """
        holds = not self.where or getattr(layout, self.where) > self.above
        return holds and not self.allows(getattr(layout, self.of))

    @property
    def above(self) -> int:
        """Return what the other field must be above: its default."""
        return int(getattr(_PLAIN, self.where))

    @property
    def instead(self) -> str:
        """Return what the field may be, in words."""
        if self.one_of:
            return " or ".join(self.one_of)
        if self.is_switch:
            return f"{self.of}={self.least == 1}"
        return f"{self.most} at most" if self.least is None else f"{self.least} at least"

    @property
    def is_switch(self) -> bool:
        """Return whether the field is on or off."""
        return isinstance(getattr(_PLAIN, self.of), bool)

    @property
    def how(self) -> str:
        """Return the option that states what is run."""
        on, _, off = BY_NAME[self.of].flags[0].partition("/")
        if self.is_switch:
            return on if self.least == 1 else off
        return f"{on}: {self.instead}"

    def sentence(self, software: str, layout: Layout) -> str:
        """Return the sentence that says what a layout asks beyond software.

        Args:
            software: What to call it.
            layout: A layout that breaks the limit.
        """
        asked = f"{self.of}={getattr(layout, self.of)}"
        beside = f" beside {self.where}={getattr(layout, self.where)}" if self.where else ""
        if self.of in _OF_STAGES:
            beside = ""
        age = f" before {self.before}" if self.before else ""
        if self.trainers:
            return (
                f"{software} runs {asked}{beside}{age} only with models written for it; its "
                f"trainers run {self.instead}"
            )
        return f"{software} does not run {asked}{beside}{age}; it runs {self.instead}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """What some software runs.

    Attributes:
        limits: What it cannot; none where nothing is known.
    """

    limits: tuple[Limit, ...] = ()

    def lacking(self, layout: Layout) -> dict[str, Limit]:
        """Return what a layout asks beyond it: by field, the limit that is broken.

        Args:
            layout: The layout.
        """
        return {limit.of: limit for limit in self.limits if limit.broken_by(layout)}

    def runs(self, name: str, value: Any) -> bool:
        """Return whether a value is run, whatever stands beside it; a pipeline is taken to.

        Args:
            name: A field of the layout.
            value: Of it.
        """
        return all(
            limit.allows(value)
            for limit in self.limits
            if limit.of == name and (not limit.where or name in _OF_STAGES)
        )

    def without(self, fields: tuple[str, ...]) -> Ability:
        """Return the ability without the limits of some fields.

        Args:
            fields: Of the layout.
        """
        if not fields:
            return self
        return Ability(limits=tuple(limit for limit in self.limits if limit.of not in fields))

    def beside(self) -> Iterator[Limit]:
        """Yield the limits that hold beside a size only."""
        for limit in self.limits:
            if limit.where and limit.of not in _OF_STAGES:
                yield limit

    def most(self) -> dict[str, int]:
        """Return the most that sizes can be, whatever stands beside them."""
        return {
            limit.of: limit.most
            for limit in self.limits
            if limit.most is not None and (not limit.where or limit.of in _OF_STAGES)
        }


EVERYTHING = Ability()
"""Of software that nobody names, or of which nothing is known."""


@functools.cache
def _limits() -> dict[str, tuple[Limit, ...]]:
    return {
        family: tuple(_limit(line) for line in entry["limits"])
        for family, entry in data_table("abilities.toml").items()
    }


def _limit(line: dict[str, Any]) -> Limit:
    known = {name: value for name, value in line.items() if name != "source"}
    return Limit(**known | {"one_of": tuple(known.get("one_of", ()))})


@functools.cache
def ability_named(family: str, last: str = "", *, ends: bool = False) -> Ability:
    """Return what a family of software runs.

    Args:
        family: Of ``data/abilities.toml``; another runs everything.
        last: A month by which it was there; the newest if empty.
        ends: Whether that month is the first in which it was no more current.
    """
    held = tuple(
        limit
        for limit in _limits().get(family, ())
        if not limit.before or (last and (last < limit.before or (ends and last == limit.before)))
    )
    return Ability(limits=held)


@functools.lru_cache(maxsize=4096)
def ability_of(said: Said) -> Ability:
    """Return what the software runs that is named.

    It is taken to have all that its family ever learnt, unless its age is stated: by a month, or
    by the name of an exact stack. Whoever has an old device may well run new software.

    Args:
        said: Of the software.
    """
    if said.stack is None or said.nobodys:
        return EVERYTHING
    if said.stack in families():
        return ability_named(said.stack, said.date or "")
    stack = stack_named(said.stack)
    if said.date is not None:
        return ability_named(stack.family, said.date)
    return ability_named(stack.family, last_of(stack), ends=not stack.of)


def not_had(said: Said, layout: Layout) -> tuple[Assumed, ...]:
    """Return a record of each thing that a layout asks and the named software does not run.

    Args:
        said: Of the software.
        layout: The layout.
    """
    return tuple(
        Assumed(
            what=NOT_RUN,
            value=f"{name}={getattr(layout, name)}",
            why=limit.sentence(str(said.stack), layout),
            how=limit.how,
        )
        for name, limit in ability_of(said).lacking(layout).items()
    )


def check_run(title: str, runs: Ability, layout: Layout) -> None:
    """Refuse a layout that software does not run.

    Args:
        title: What to call the software.
        runs: What it can.
        layout: The layout.

    Raises:
        ConfigError: With the first thing that it does not run, and what it runs instead.
    """
    for limit in runs.lacking(layout).values():
        raise ConfigError(f"{limit.sentence(title, layout)}; choose such a layout")
