"""What a question leaves open of its memory, ranked by what each could change of the peak.

As `steptime.answer.unstated` does for time: each choice is asked in full. What does not fit is a
choice too, for whether it does is the question.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from steptime.answer.choices import Choice, choices_of
from steptime.answer.unstated import LEAST_CHANGE, Ask, Told, asked_with
from steptime.inputs.datafiles import data_table

FACTS = "memory"
"""Table of ``open_things.toml`` with the facts that are asked for."""


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


def _size(outcome: tuple[float, str]) -> float:
    return outcome[0]


def _one(found: Told, what: str, choices: tuple[Choice, ...], ask: Ask) -> OpenPeak | None:
    told = ((asked_with(found.question, choice, ask), choice.word) for choice in choices)
    outcomes = [(one.total_bytes, word) for one, word in told if one is not None]
    if not outcomes:
        return None
    every = [*outcomes, (found.total_bytes, "as taken")]
    low, leanest = min(every, key=_size)
    high, fullest = max(every, key=_size)
    change = math.log(high / low)
    if change <= LEAST_CHANGE:
        return None
    words = data_table("open_things.toml")
    return OpenPeak(
        what=what,
        says=str((words["fields"] | words["facts"] | words[FACTS])[what]),
        how=choices[0].how,
        low_bytes=low,
        high_bytes=high,
        leanest=leanest,
        fullest=fullest,
        choices=len(outcomes),
        change=change,
    )


def ranked_peaks(found: Told, ask: Ask) -> tuple[OpenPeak, ...]:
    """Return what a question leaves open, that which could change the peak most first.

    Args:
        found: The answer.
        ask: Gives the answer of a question: the one door.
    """
    kinds = choices_of(found.question.step, found.software, FACTS)
    told = (_one(found, what, choices, ask) for what, choices in kinds.items())
    return tuple(sorted((one for one in told if one is not None), key=lambda one: -one.change))
