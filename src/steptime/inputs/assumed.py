"""What was taken where nothing was said: one record a thing."""

from __future__ import annotations

from dataclasses import dataclass

_LONGEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """One thing that was not given, or not in words that are known.

    Attributes:
        what: Its name: a column, an option, a fact.
        value: What was taken for it.
        why: The rest of the sentence, with the value.
        how: How to state it.
        word: What stood there instead, where it was not understood; else empty.
    """

    what: str
    value: str
    why: str
    how: str = ""
    word: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


def not_stated(what: str, value: object, *, whose: str = "assumed", how: str = "") -> Assumed:
    """Return the record of a thing that is not stated.

    Args:
        what: Its name.
        value: What was taken.
        whose: Where that is from.
        how: How to state it; the column of that name if empty.
    """
    why = f"not stated, {value} {whose}"
    return Assumed(what=what, value=str(value), why=why, how=how or f"column {what}")


def not_understood(what: str, word: str, value: object, *, how: str = "") -> Assumed:
    """Return the record of a thing that is stated in a word nobody knows.

    Args:
        what: Its name.
        word: The word.
        value: What was taken.
        how: How to state it; the words that the column takes if empty.
    """
    short = word if len(word) <= _LONGEST else word[:_LONGEST] + "..."
    return Assumed(
        what=what,
        value=str(value),
        why=f"{short!r} not understood, {value} assumed",
        how=how or f"a word of column {what}",
        word=word,
    )


def taken(what: str, value: object, reason: str = "", how: str = "") -> Assumed:
    """Return the record of a value that was taken where none was given.

    Args:
        what: Its name.
        value: What was taken.
        reason: Where that comes from; empty where the value says it all.
        how: How to state it.
    """
    why = f"{value} ({reason})" if reason else str(value)
    return Assumed(what=what, value=str(value), why=why, how=how)
