"""What software can run of a layout: ``data/abilities.toml``, for all who must know it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import asdict as fields_of
from dataclasses import dataclass
from typing import Any

from steptime.inputs.ability_limit import OF_STAGES
from steptime.inputs.ability_limit import Limit as Limit
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.assumed import Assumed
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.generation import generations
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.said import Said
from steptime.inputs.stack import families, last_of, stack_named

NOT_RUN = "not run"
"""The name of the record of what a layout asks beyond its software."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """What some software runs.

    Attributes:
        limits: What it cannot; none where nothing is known.
    """

    limits: tuple[Limit, ...] = ()

    def lacking(self, layout: Layout, batch: Batch) -> dict[str, Limit]:
        """Return what a layout asks beyond it: by field or count, the limit that is broken.

        Args:
            layout: The layout.
            batch: Gives the micro-batches.
        """
        return {limit.of: limit for limit in self.limits if limit.broken_by(layout, batch)}

    def runs(self, name: str, value: Any) -> bool:
        """Return whether a value is run, whatever stands beside it; a pipeline is taken to.

        Args:
            name: A field of the layout.
            value: Of it.
        """
        return all(
            limit.allows(value)
            for limit in self.limits
            if limit.of == name and (not limit.where or name in OF_STAGES)
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
        """Yield the limits that hold beside a size only, or of several together."""
        for limit in self.limits:
            # A search has one precision: what it asks of a layout is said of each answer.
            if (limit.where or limit.counts) and limit.of not in (*OF_STAGES, "precision"):
                yield limit

    def most(self) -> dict[str, int]:
        """Return the most that sizes can be, whatever stands beside them."""
        return {
            limit.of: limit.most
            for limit in self.limits
            if limit.most is not None and (not limit.where or limit.of in OF_STAGES)
        }


EVERYTHING = Ability()
"""Of software that nobody names, or of which nothing is known."""


@functools.cache
def _limits() -> dict[str, tuple[Limit, ...]]:
    return {
        family: tuple(_limit(line) for line in entry["limits"])
        for family, entry in data_table("abilities.toml").items()
    }


@functools.cache
def _devices() -> dict[str, tuple[bool, tuple[str, ...], str]]:
    """Return by family whether it runs on the generations that follow or on none of them."""
    return {
        family: (key == "runs_on", tuple(entry[key]["generations"]), entry[key]["source"])
        for family, entry in data_table("abilities.toml").items()
        for key in ("runs_on", "never_on")
        if key in entry
    }


def starts_on(family: str, generation: str) -> bool:
    """Return whether a family of software starts on a generation of devices, as far as is known.

    Args:
        family: Of software.
        generation: Of devices; of one that no table has nothing is known.
    """
    runs, listed, _ = _devices().get(family, (False, (), ""))
    return generation not in generations() or (generation in listed) == runs


def check_starts(said: Said, device: Accelerator) -> None:
    """Refuse software that is named and does not start on a device.

    Args:
        said: Of the software; what nobody names starts.
        device: Gives the generation.

    Raises:
        ConfigError: With the software that does.
    """
    if said.stack is None or said.nobodys:
        return
    family = said.stack if said.stack in families() else stack_named(said.stack).family
    if starts_on(family, device.generation):
        return
    known = [one for one in _devices() if starts_on(one, device.generation)]
    own = [one for one in known if device.generation in _devices()[one][1]]
    instead = " or ".join((own or known)[:4])
    raise ConfigError(
        f"stack {said.stack!r} does not run on {device.name} ({_devices()[family][2]}); "
        f"name software that does, such as {instead}, or 'usual'"
    )


def _limit(line: dict[str, Any]) -> Limit:
    known = {name: value for name, value in line.items() if name != "source"}
    names = known.get("where", ())
    where = (names,) if isinstance(names, str) else tuple(names)
    return Limit(**known | {"one_of": tuple(known.get("one_of", ())), "where": where})


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


def ability_of(said: Said) -> Ability:
    """Return what the software runs that is named.

    Args:
        said: Of the software.
    """
    # What nobody names runs everything: no need to look for it.
    return EVERYTHING if said.stack is None else _ability_of(said)


@functools.lru_cache(maxsize=4096)
def _ability_of(said: Said) -> Ability:
    """Return what named software runs.

    It is taken to have all that its family ever learnt, unless its age is stated: by a month, or
    by the name of an exact stack. Whoever has an old device may well run new software.
    """
    if said.stack is None or said.nobodys:
        return EVERYTHING
    if said.stack in families():
        return ability_named(said.stack, said.date or "")
    stack = stack_named(said.stack)
    if said.date is not None:
        return ability_named(stack.family, said.date)
    return ability_named(stack.family, last_of(stack), ends=not stack.of)


def asked_values(layout: Layout, batch: Batch) -> dict[str, Any]:
    """Return what the words of a limit may hold: fields of layout and batch, and ``micro``.

    Args:
        layout: The layout.
        batch: The batch.
    """
    # A batch that does not divide is refused elsewhere, in words of its own.
    micro = batch.global_batch_size // (layout.dp * batch.micro_batch_size)
    return {**fields_of(layout), **fields_of(batch), "micro": micro}


def not_had(said: Said, layout: Layout, batch: Batch) -> tuple[Assumed, ...]:
    """Return a record of each thing that a layout asks and the named software does not run.

    Args:
        said: Of the software.
        layout: The layout.
        batch: Gives the micro-batches.
    """
    lacking = ability_of(said).lacking(layout, batch)
    values = asked_values(layout, batch) if lacking else {}
    return tuple(
        Assumed(
            what=NOT_RUN,
            value=limit.asked(values),
            why=limit.sentence(str(said.stack), values),
            how=limit.how,
        )
        for limit in lacking.values()
    )


def check_run(title: str, runs: Ability, layout: Layout, batch: Batch) -> None:
    """Refuse a layout that software does not run.

    Args:
        title: What to call the software.
        runs: What it can.
        layout: The layout.
        batch: The batch.

    Raises:
        ConfigError: With the first thing that it does not run, and what it runs instead.
    """
    for limit in runs.lacking(layout, batch).values():
        told = limit.sentence(title, asked_values(layout, batch))
        raise ConfigError(f"{told}; choose such a layout")
