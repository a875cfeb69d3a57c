"""What is taken of the software where it is not stated in full."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from steptime.formulas.records import MemoryFacts
from steptime.inputs.assumed import Assumed, taken
from steptime.inputs.fact import Fact
from steptime.inputs.generation import ANY
from steptime.inputs.model import ModelShape
from steptime.inputs.said import Said
from steptime.inputs.stack import (
    KERNEL,
    TIME_FACTS,
    USUAL_FAMILY,
    USUAL_SHARDED,
    Stack,
    last_of,
    stack_named,
)

MIXTURES = {
    USUAL_FAMILY: "what keeps weights whole, in memory the mean of its families; ZeRO-3 is taken "
    "to run on other software",
    USUAL_SHARDED: "what shares weights, in memory the mean of its families; ZeRO-0 to 2 are taken "
    "to run on other software, as is a rank that shares with nobody",
}
"""What is assumed where nobody names software: two layouts may so run on two mixtures."""
KEPT_BY_DEFAULT = {
    entry.name: float(entry.default)  # type: ignore[arg-type]
    for entry in fields(MemoryFacts)
    if entry.name not in TIME_FACTS
}
"""What software keeps in memory where none of its lines says otherwise."""
_WHOSE = "all that software had on such devices, as nobody says whose it is or of when"
ALL_KERNELS = taken(KERNEL, ANY, _WHOSE, "--fact kernel=NAME or --date YYYY-MM")
PAST = (
    "{stack} was current until {last}: a later month decides what it can run and what changed in "
    "time; the rest stays as it had it"
)
HOW_PAST = "--stack with its family"
"""The layout page says the same."""
_WHEN = "when most published runs on it were"


def is_past(stack: Stack, date: str) -> bool:
    """Return whether a stack was no more what is current in a month.

    Args:
        stack: One of one source's runs was current in their month.
        date: The month.
    """
    last = last_of(stack)
    return bool(last) and (date > last if stack.of else date >= last)


def assumed_of(
    said: Said, era: Said, stack: Stack, model: ModelShape, conditions: tuple[str, ...]
) -> tuple[Assumed, ...]:
    """Return what is taken of the software where it is not stated in full.

    Args:
        said: What is stated.
        era: The same with the month that is taken.
        stack: What that means.
        model: Its own report may name what trained it.
        conditions: As `conditions_of` returns them.
    """
    found = []
    if as_trained(said, model, conditions):
        why = f"with what {model.name}'s own report says; naming yours narrows the interval"
        found.append(taken("stack", stack.name, why, "--stack NAME"))
    elif said.stack is None:
        why = f"{MIXTURES[stack.family]}; naming yours narrows the interval"
        found.append(taken("stack", stack.name, why, "--stack NAME"))
    elif not said.exact:
        when = f"current in {era.date}" if era.date else "the newest"
        if era.date and era.date < stack.since:
            when = "the oldest known"
        young = f", of {stack.since}" if era.date and era.date < stack.since else ""
        why = f"{when} of {said.stack}{young}"
        found.append(taken("stack", stack.name, why, "--stack with an exact name"))
    elif said.date is not None and is_past(stack, said.date):
        why = PAST.format(stack=stack.name, last=last_of(stack))
        found.append(taken("date", said.date, why, HOW_PAST))
    if said.date is None and era.date is not None:
        shown = " and ".join(f"ZeRO-{stage}" for stage in said.shards)
        # What nobody states of the age goes by facts of that month and, where it is a question of
        # what software can do at all, by its newest: an old device may well run new software.
        more = (
            "for all but the facts listed here"
            if said.stack is None
            else "what it can run is today's"
        )
        why = f"no older can {shown}" if said.shards else f"{_WHEN}; {more}"
        why = f"when {stack.name} ran" if said.exact else why
        found.append(taken("date", era.date, why, "--date YYYY-MM"))
    elif said.date is None and (dated := stack.dated(conditions)):
        names = " and ".join(dict.fromkeys(fact.name for fact in dated))
        why = f"older software has another {names}"
        found.append(taken("date", "today's software", why, "--date YYYY-MM"))
    return tuple(found)


def kernels_taken(lines: Mapping[str, Fact]) -> tuple[Assumed, ...]:
    """Return that all kernels of attention are taken together, where they are.

    Args:
        lines: The line that gave each fact.
    """
    line = lines[KERNEL]
    if line.value != ANY or line.kind == "stated":
        return ()
    return (ALL_KERNELS,)


def as_trained(said: Said, model: ModelShape, conditions: tuple[str, ...]) -> dict[str, Fact]:
    """Return what the software did that trained a model by its own report, where none is named.

    All that it keeps in memory is the report's software's: a mixture keeps some of everything.

    Args:
        said: Of the software; what is named comes before.
        model: ``trained_with`` is a key of ``data/stacks.toml``.
        conditions: As `conditions_of` returns them.
    """
    if said.stack is not None or not model.trained_with:
        return {}
    stack = stack_named(model.trained_with)
    known = stack.values(conditions, said.date)
    held = {
        name: Fact(name=name, value=value, kind="inferred", source=f"as {stack.name}")
        for name, value in KEPT_BY_DEFAULT.items()
    }
    held |= {name: line for name, line in known.items() if name in held}
    return held | {fact.name: fact for fact in stack.own if fact.holds(conditions, said.date)}
