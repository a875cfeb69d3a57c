"""What a launch script amounts to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TO_FILL_IN = re.compile(
    r"<(?=[^<>\n]{0,120}[ A-Z]|path/)([A-Za-z][^<>\n&|;$]{0,120}[A-Za-z0-9.])>"
)
"""<PATH TO vocab>, <path/to/vocab>: what a user puts in; a redirection has a blank first."""
_COUNTED = re.compile(r"`[^`\n]{0,200}<<<[^`\n]{0,200}`")
"""A sum that another program does."""


def filled(text: str) -> str:
    """Return a script with a word in place of what its user fills in, and of what others count.

    Args:
        text: The script; its lines stay where they are.
    """
    named = _TO_FILL_IN.sub(lambda found: "_".join(found.group(1).split()), text)
    return _COUNTED.sub("counted", named)


@dataclass(slots=True)
class Command:
    """One command with its arguments expanded.

    Attributes:
        line: Where it stands.
        words: The command.
        unsure: The condition that decides whether it is reached, where that is not known.
    """

    line: int
    words: list[str]
    unsure: str = ""


@dataclass(slots=True)
class Script:
    """What a script amounts to.

    Attributes:
        commands: Every command that is reached.
        variables: Every scalar at the end.
        arrays: Every array at the end.
        notes: Branches that could not be decided.
        asks: Names that those branches depend on, which the script's user gives.
        files: Texts that the script writes, by the name of their file.
        uncalled: Notes of functions that hold flags and are never called.
    """

    commands: list[Command] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    asks: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    uncalled: list[str] = field(default_factory=list)


def before_redirection(words: list[str]) -> list[str]:
    """Return the words up to where output goes elsewhere or another command starts.

    Args:
        words: Of a text that was not cut into tokens.
    """
    for place, word in enumerate(words):
        if word in ("&>", ">", ">>", "|", "2>&1", "&&", ";"):
            return words[:place]
    return words
