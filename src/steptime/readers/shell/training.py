"""Which of a script's commands trains, and what else may start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.entries import Entry
from steptime.readers.shell.launchers import launch_options
from steptime.readers.shell.marks import readable
from steptime.readers.shell.program import MOST_WORDS, PAIR, flags
from steptime.readers.shell.script import Script, before_redirection


@dataclass(frozen=True, slots=True)
class Words:
    """The words of the command that trains, the program that they start, and its rivals.

    Attributes:
        words: Of the command.
        program: The words that start the program; empty where no command holds them.
        rivals: Places of other commands of the script that start a training too.
        line: Where it stands.
        unsure: The condition that decides whether it starts, where that is not known.
    """

    words: list[str]
    program: str
    rivals: frozenset[int] = frozenset()
    line: int = 0
    unsure: str = ""


def training_words(
    script: Script, wanted: frozenset[str], is_other: Callable[[str], bool] = lambda program: False
) -> Words:
    """Return the words of the command that has most wanted names; the later one of equals.

    One of which nobody knows whether it starts counts where no other has half as many.

    Args:
        script: What the script amounts to.
        wanted: Names of flags and keys that formats are recognised by.
        is_other: Whether a program trains nothing; such a command counts where no other is.
    """
    best: list[str] = []
    most, line, unsure = (False, 0), 0, ""
    ranks: list[tuple[bool, int]] = []
    for command in script.commands:
        number = _hits(command.words, wanted)
        trains = not is_other(" ".join(command.words[:40]))
        ranks.append((trains, number))
        rank = (trains, number - number // 2 if command.unsure else number)
        if number and rank >= most:
            best, most = command.words, rank
            line, unsure = command.line, command.unsure
    if best and not best[0].startswith("-"):
        # Half as many known names: another training, not a step that prepares it.
        near = {
            place for place, (trains, hits) in enumerate(ranks) if trains and 2 * hits > most[1]
        }
        rivals = frozenset(one for one in near if script.commands[one].words != best)
        program = readable(" ".join(best[:40]))
        return Words(best[:MOST_WORDS], program, rivals, line, unsure)
    loose: list[str] = []
    for value in script.variables.values():
        words = before_redirection(value.split())
        if "--" in value and _hits(words, wanted):
            loose.extend(words)
    for values in script.arrays.values():
        words = [word for value in values for word in value.split()]
        if _hits(words, wanted):
            loose.extend(words)
    # A plain file of arguments: each line looks like a command of its own.
    lines = [
        word
        for command in script.commands
        if command.words[0].startswith("--") or PAIR.match(command.words[0])
        for word in command.words
    ]
    return Words((loose or lines or best)[:MOST_WORDS], "")


def _hits(words: list[str], wanted: frozenset[str]) -> int:
    found = 0
    for word in words:
        name = word.partition("=")[0]
        if word[:1] == "-" or "=" in word:
            found += name.lstrip("-+~").replace("-", "_").lower() in wanted
    return found


def told_rivals(
    script: Script, found: Words, is_asked: Callable[[Entry], bool], name: str
) -> list[str]:
    """Return notes of another training that a script starts, and of one that it may not start.

    The first is left out where all agree.

    Args:
        script: What the script amounts to.
        found: The command that is read.
        is_asked: Whether a flag says something here.
        name: What to call the script in a refusal.

    Raises:
        ConfigError: If nobody knows which of several trainings starts.
    """

    def said(words: list[str]) -> set[tuple[str, str]]:
        told = {one.name: one for one in flags(words[:MOST_WORDS], "")}
        keys = {(name, str(one.value)) for name, one in told.items() if is_asked(one)}
        return keys | {(name, value) for name, _, value in launch_options(words)}

    own = said(found.words) if found.rivals else set()
    others = [script.commands[one] for one in sorted(found.rivals)[:99]]
    others = [one for one in others if said(one.words) != own]
    lines = sorted({one.line for one in others})
    notes: list[str] = []
    if found.unsure:
        open_ones = sorted({one.line for one in others if one.unsure} - {found.line})
        if open_ones:
            listed = ", ".join(str(line) for line in sorted({found.line, *open_ones[:8]}))
            raise ConfigError(
                f"{name}: which of the trainings on lines {listed} starts depends on "
                f"{found.unsure}, which is not known here; set its variables with --set "
                "NAME=VALUE, or give a script without the others"
            )
        notes.append(
            f"IT MAY NOT START: line {found.line} is read as if {found.unsure} led to it, which "
            "is not known here"
        )
    if not lines:
        return notes
    apart = ", ".join(str(line) for line in lines[:9] if line != found.line)
    what = f"what line {apart} starts" if apart else "what it starts at other times"
    return [
        *notes,
        f"MORE THAN ONE TRAINING: line {found.line} is read, and not {what}; for that, give a "
        "script without the others",
    ]
