"""What a question leaves open, ranked by what each could change: each choice is asked in full.

A choice is what compared runs are known to have had (``data/reach.toml``) or what software of
their families does (``data/stacks.toml``). For the time, choices that would not fit in memory are
none; for the peak they are, for whether it fits is the question.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Protocol

from steptime.answer.choices import Choice, choices_of, word_of
from steptime.answer.question import Question
from steptime.inputs.again import asked_again
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.fields import LAYOUT_FIELDS, USUAL_FIELDS
from steptime.inputs.software import Software

LEAST_CHANGE = 1e-9
"""Things that move the answer by less than rounding are not listed."""
STATED_OF_LAYOUT = {*USUAL_FIELDS, "network_gbit"}
"""Things that are open of the layout and its links, not of the software."""
OF_SOFTWARE = ("stack", "date")
HABITS = tuple(name for name in USUAL_FIELDS if name in LAYOUT_FIELDS)
"""What of a layout may follow from the software."""
TIME, MEMORY = "facts", "memory"
"""Tables of ``open_things.toml`` with the facts that are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unstated:
    """One thing that nobody stated, and how far the answer moves with it.

    Attributes:
        what: The field or the fact, as Python and JSON call it.
        says: As a sentence calls it.
        how: The option that states it.
        low_s: Step time with the fastest choice, what was taken included.
        high_s: With the slowest.
        fastest: That choice.
        slowest: That choice.
        choices: How many were asked.
        change: ln(high over low), which ranks.
        outside: How many choices of the software lie outside the answer's interval, of those that
            leave the layout as it was taken: an interval is of one layout. 0 without one.
    """

    what: str
    says: str
    how: str
    low_s: float
    high_s: float
    fastest: str
    slowest: str
    choices: int
    change: float
    outside: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPeak:
    """One thing that nobody stated, and how far the peak moves with it.

    Attributes:
        what: The field or the fact, as Python and JSON call it.
        says: As a sentence calls it.
        how: The option that states it.
        low_bytes: Peak with the leanest choice, what was taken included.
        high_bytes: With the fullest.
        leanest: That choice.
        fullest: That choice.
        choices: How many were asked.
        change: ln(high over low), which ranks.
    """

    what: str
    says: str
    how: str
    low_bytes: float
    high_bytes: float
    leanest: str
    fullest: str
    choices: int
    change: float


class Told(Protocol):
    """What is read of an answer."""

    @property
    def question(self) -> Question:
        """Return what was asked."""

    @property
    def software(self) -> Software:
        """Return what it runs on."""

    @property
    def step_time_s(self) -> float:
        """Return the seconds of a step."""

    @property
    def step_time_low_s(self) -> float | None:
        """Return the earlier end of the interval; None without one."""

    @property
    def step_time_high_s(self) -> float | None:
        """Return the later end, likewise."""

    @property
    def total_bytes(self) -> float:
        """Return the bytes on the fullest device."""

    @property
    def fits(self) -> bool:
        """Return whether it fits."""


Ask = Callable[[Question], Told]


def asked_with(question: Question, choice: Choice, ask: Ask) -> Told | None:
    """Return the answer with a choice stated; None where that is no possible question.

    Args:
        question: What was asked.
        choice: A value of a thing that is open.
        ask: Gives the answer of a question.
    """
    try:
        step = asked_again(question.step, **choice.stated)
        return ask(Question(step=step, predictor=question.predictor, constants=question.constants))
    except ConfigError:
        return None


Outcome = tuple[float, str]
"""What an answer says of a choice, and the choice in a word."""
Outcomes = tuple[list[Outcome], list[float]]
"""All of a thing's, and what of them leaves the layout as it was taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """From the least to the most that an answer says of the choices of one thing.

    Attributes:
        least: With the choice that gives the least, what was taken included.
        most: Likewise.
        change: ln(most over least), which ranks.
        alike: What the answer says of each choice that leaves the layout as it was taken.
        common: What is told of a thing, whatever is asked for.
    """

    least: Outcome
    most: Outcome
    change: float
    alike: tuple[float, ...]
    common: dict[str, Any]


def habits(found: Told, other: Told, choice: Choice) -> str:
    """Return in words what of the layout follows from a choice, where that is not stated itself.

    Software has habits: naming it may also name what is recomputed, for instance.

    Args:
        found: The answer with the choice open.
        other: The answer with it stated.
        choice: A value of the thing.
    """
    layout, changed = found.question.step.layout, other.question.step.layout
    idle = changed.idle
    names = (name for name in HABITS if name not in idle and name not in choice.stated)
    new = {name: getattr(changed, name) for name in names}
    moved = {name: value for name, value in new.items() if value != getattr(layout, name)}
    return ", ".join(f"{name} {word_of(value)}" for name, value in moved.items())


def _span(what: str, choices: tuple[Choice, ...], told: Outcomes, taken: float, group: str) -> Span:
    outcomes, alike = told
    every = [*outcomes, (taken, "as taken")]
    # Of equal ones the first stands: a choice's own word comes before what was taken.
    least, most = min(every, key=itemgetter(0)), max(every, key=itemgetter(0))
    words = data_table("open_things.toml")
    change = math.log(most[0] / least[0])
    common = {
        "what": what,
        "says": str((words["fields"] | words[TIME] | words[group])[what]),
        "how": choices[0].how,
        "choices": len(outcomes),
        "change": change,
    }
    return Span(least=least, most=most, change=change, alike=tuple(alike), common=common)


def _spans(
    found: Told,
    ask: Ask,
    group: str,
    value: Callable[[Told], float],
    counts: Callable[[Told], bool],
) -> list[Span]:
    """Return the span of each open thing, the widest first.

    Args:
        found: The answer.
        ask: Gives the answer of a question.
        group: Table of ``open_things.toml`` with the facts to ask for.
        value: What is read of an answer.
        counts: Whether an answer's choice is one.
    """
    spans = []
    for what, choices in choices_of(found.question.step, found.software, group).items():
        outcomes, alike = [], []
        for choice in choices:
            one = asked_with(found.question, choice, ask)
            if one is None or not counts(one):
                continue
            own = habits(found, one, choice) if what in OF_SOFTWARE else ""
            outcomes.append((value(one), f"{choice.word} with {own}" if own else choice.word))
            alike += [] if own else [value(one)]
        if outcomes:
            spans.append(_span(what, choices, (outcomes, alike), value(found), group))
    wide = (one for one in spans if one.change > LEAST_CHANGE)
    return sorted(wide, key=lambda one: -one.change)


def _outside(found: Told, one: Span) -> int:
    """Return how many choices of the software an answer's interval leaves out."""
    low_s, high_s = found.step_time_low_s, found.step_time_high_s
    if low_s is None or high_s is None or one.common["what"] in STATED_OF_LAYOUT:
        return 0
    return sum(not low_s <= time_s <= high_s for time_s in one.alike)


def ranked(found: Told, ask: Ask) -> tuple[Unstated, ...]:
    """Return what a question leaves open, that which could change the answer most first.

    Args:
        found: The answer.
        ask: Gives the answer of a question: the one door.
    """
    spans = _spans(
        found,
        ask,
        TIME,
        lambda told: told.step_time_s,
        lambda told: told.fits or not found.fits,
    )
    return tuple(
        Unstated(
            low_s=one.least[0],
            high_s=one.most[0],
            fastest=one.least[1],
            slowest=one.most[1],
            outside=_outside(found, one),
            **one.common,
        )
        for one in spans
    )


def ranked_peaks(found: Told, ask: Ask) -> tuple[OpenPeak, ...]:
    """Return what a question leaves open, that which could change the peak most first.

    Args:
        found: The answer.
        ask: Gives the answer of a question: the one door.
    """
    spans = _spans(found, ask, MEMORY, lambda told: told.total_bytes, lambda _: True)
    return tuple(
        OpenPeak(
            low_bytes=one.least[0],
            high_bytes=one.most[0],
            leanest=one.least[1],
            fullest=one.most[1],
            **one.common,
        )
        for one in spans
    )
