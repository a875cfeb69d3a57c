"""What a question leaves open, ranked by what each could change: each choice is asked in full.

A choice is what compared runs are known to have had (``data/reach.toml``) or what software of
their families does (``data/stacks.toml``). Choices that would not fit in memory are none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from steptime.answer.choices import Choice, choices_of
from steptime.answer.question import Question
from steptime.inputs.again import asked_again
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.software import Software

LEAST_CHANGE = 1e-9
"""Things that move the step by less than rounding are not listed."""


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


def _outcomes(found: Told, choices: Iterable[Choice], ask: Ask) -> Iterator[tuple[float, str]]:
    for choice in choices:
        told = asked_with(found.question, choice, ask)
        if told is not None and (told.fits or not found.fits):
            yield told.step_time_s, choice.word


def _seconds(outcome: tuple[float, str]) -> float:
    return outcome[0]


def _ranked_one(found: Told, what: str, choices: tuple[Choice, ...], ask: Ask) -> Unstated | None:
    outcomes = list(_outcomes(found, choices, ask))
    if not outcomes:
        return None
    every = [*outcomes, (found.step_time_s, "as taken")]
    # Of equal times the first stands: a choice's own word comes before what was taken.
    low_s, fastest = min(every, key=_seconds)
    high_s, slowest = max(every, key=_seconds)
    change = math.log(high_s / low_s)
    if change <= LEAST_CHANGE:
        return None
    words = data_table("open_things.toml")
    return Unstated(
        what=what,
        says=str((words["fields"] | words["facts"])[what]),
        how=choices[0].how,
        low_s=low_s,
        high_s=high_s,
        fastest=fastest,
        slowest=slowest,
        choices=len(outcomes),
        change=change,
    )


def ranked(found: Told, ask: Ask) -> tuple[Unstated, ...]:
    """Return what a question leaves open, that which could change the answer most first.

    Args:
        found: The answer.
        ask: Gives the answer of a question: the one door.
    """
    kinds = choices_of(found.question.step, found.software)
    told = (_ranked_one(found, what, choices, ask) for what, choices in kinds.items())
    return tuple(sorted((one for one in told if one is not None), key=lambda one: -one.change))
