"""What a launch script amounts to."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Command:
    """One command with its arguments expanded."""

    line: int
    words: list[str]


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
    """

    commands: list[Command] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    asks: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)


def before_redirection(words: list[str]) -> list[str]:
    """Return the words up to where output goes elsewhere or another command starts.

    Args:
        words: Of a text that was not cut into tokens.
    """
    for place, word in enumerate(words):
        if word in ("&>", ">", ">>", "|", "2>&1", "&&", ";"):
            return words[:place]
    return words
