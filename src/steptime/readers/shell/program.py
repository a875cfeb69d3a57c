"""The command of a launch script: its program, its flags, and the devices that it starts on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.entries import Entry
from steptime.readers.keys.formats import several
from steptime.readers.keys.reading import COMMAND_LINE
from steptime.readers.shell.launchers import NODE_VARIABLES, launch_options, launcher_flags
from steptime.readers.shell.marks import is_known, readable
from steptime.readers.shell.script import Script, before_redirection

_FLAG = re.compile(r"--?[A-Za-z][\w.-]*\Z")
_PAIR = re.compile(r"[+~]{0,2}([A-Za-z_][\w.-]*)=(.*)\Z", re.DOTALL)
_SBATCH = re.compile(
    r"^#SBATCH\s+(?:--(nodes|gpus-per-node|ntasks-per-node|gres|ntasks|gpus)[=\s]|-(N)\s*)(\S+)",
    re.MULTILINE,
)
_NAMED = re.compile(r"--[A-Za-z][\w.-]*|(?<![\w.])[A-Za-z_][\w.-]*+(?==)")
"""A flag or a key; what stands before a key keeps a long word from being tried at each letter."""
_MOST_WORDS = 100_000


@dataclass(frozen=True, slots=True)
class Words:
    """The words of the command that trains, the program that they start, and its rivals.

    Attributes:
        words: Of the command.
        program: The words that start the program; empty where no command holds them.
        rivals: Places of other commands of the script that start a training too.
        line: Where it stands.
    """

    words: list[str]
    program: str
    rivals: frozenset[int] = frozenset()
    line: int = 0


def training_words(
    script: Script, wanted: frozenset[str], is_other: Callable[[str], bool] = lambda program: False
) -> Words:
    """Return the words of the command that has most wanted names; the later one of equals.

    Args:
        script: What the script amounts to.
        wanted: Names of flags and keys that formats are recognised by.
        is_other: Whether a program trains nothing; such a command counts where no other is.
    """
    best: list[str] = []
    most, line = (False, 0), 0
    ranks: list[tuple[bool, int]] = []
    for command in script.commands:
        number = _hits(command.words, wanted)
        rank = (not is_other(" ".join(command.words[:40])), number)
        ranks.append(rank)
        if number and rank >= most:
            best, most, line = command.words, rank, command.line
    if best and not best[0].startswith("-"):
        # Half as many known names: another training, not a step that prepares it.
        near = {
            place for place, (trains, hits) in enumerate(ranks) if trains and 2 * hits > most[1]
        }
        rivals = frozenset(one for one in near if script.commands[one].words != best)
        return Words(best[:_MOST_WORDS], readable(" ".join(best[:40])), rivals, line)
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
        if command.words[0].startswith("--") or _PAIR.match(command.words[0])
        for word in command.words
    ]
    return Words((loose or lines or best)[:_MOST_WORDS], "")


def _hits(words: list[str], wanted: frozenset[str]) -> int:
    found = 0
    for word in words:
        name = word.partition("=")[0]
        if word[:1] == "-" or "=" in word:
            found += name.lstrip("-+~").replace("-", "_").lower() in wanted
    return found


def flags(words: list[str], text: str) -> Iterator[Entry]:
    """Yield one entry for each flag or ``key=value``; a flag without a value is a switch.

    Args:
        words: Of the command.
        text: The script, for the lines.
    """
    lines, own = _lines_of_names(text), launcher_flags(words)
    spread = [piece for word in words for piece in (word.split() if word[:2] == "--" else [word])]
    for place, word in enumerate(spread):
        flag, equals, inline = word.partition("=")
        pair = _PAIR.match(word)
        if flag in own:
            continue
        if word[:2] == "--" and _FLAG.match(flag):
            name = flag.lstrip("-")
            value: object = inline if equals else True
            if not equals and place + 1 < len(spread) and not _is_flag(spread[place + 1]):
                value = spread[place + 1]
                if name.replace("-", "_").lower() in several():
                    value = _up_to_flag(spread, place + 1)
        elif pair is not None and place and spread[place - 1] not in ("-x", "--export", "env"):
            name, value, flag = pair[1], pair[2], pair[1]
        else:
            continue
        key = name.replace("-", "_").lower()
        line = lines.get(flag, 0)
        if value is True:
            yield Entry(key, True, line, flag, True, key)
        else:
            plain = str(value).strip("'\"")
            yield Entry(key, readable(plain), line, flag, is_known(plain), key)


def _up_to_flag(words: list[str], start: int) -> str:
    """Return the words of a flag that takes several, up to the next flag or pair, with blanks."""
    end = start
    while end < len(words) and not _is_flag(words[end]) and not _PAIR.match(words[end]):
        end += 1
    return " ".join(word.strip("'\"") for word in words[start:end])


def _is_flag(word: str) -> bool:
    return word[:2] == "--" and _FLAG.match(word.partition("=")[0]) is not None


def _lines_of_names(text: str) -> dict[str, int]:
    """Return the last line on which each flag or key stands outside a comment."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("#"):
            continue
        for match in _NAMED.finditer(line):
            found[match[0]] = number
    return found


def launcher(script: Script, rivals: frozenset[int] = frozenset()) -> Iterator[Entry]:
    """Yield nodes and devices from torchrun, deepspeed, accelerate, mpirun or srun.

    Args:
        script: What the script amounts to.
        rivals: Commands by their place that start a training that is not the one that is read.
    """
    for place, command in enumerate(script.commands):
        if place not in rivals:
            for name, flag, value in launch_options(command.words):
                yield Entry(name, readable(value), command.line, flag, is_known(value))


_VARIABLES = {
    "slurm_nodes": NODE_VARIABLES,
    "slurm_gpus_per_node": ("SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"),
}
"""What a batch system sets in the environment of what its header asks for."""


def batch_system(text: str, given: Mapping[str, str]) -> Iterator[Entry]:
    """Yield nodes and devices from a batch system's header; its user's variables come first.

    Args:
        text: The script.
        given: What its user sets: a variable of the batch system stands for the header's line.

    Raises:
        ConfigError: If its user sets two variables of one number to different values.
    """
    found: dict[str, tuple[int, int]] = {}
    for match in _SBATCH.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        number = match[3].rsplit(":", 1)[-1].rsplit("=", 1)[-1]
        if number.isdigit():
            found[match[1] or "nodes"] = (int(number), line)
    each = next((found[name] for name in ("gpus-per-node", "gres") if name in found), None)
    # A task a device is how a script without either starts.
    tasks = found.get("ntasks-per-node")
    if each is None and tasks is not None and tasks[0] > 1:
        each = tasks
    header = (
        ("slurm_nodes", found.get("nodes"), "nodes"),
        ("slurm_gpus_per_node", each, "GPUs a node"),
    )
    for name, stated, what in header:
        if stated is not None:
            told = Entry(name, str(stated[0]), stated[1], f"#SBATCH {what}")
            yield _set_variable(name, given) or told


def _set_variable(name: str, given: Mapping[str, str]) -> Entry | None:
    """Return what a user sets for a line of the header; None where nothing is set."""
    own = [one for one in _VARIABLES[name] if one in given]
    if not own:
        return None
    if len({given[one] for one in own}) > 1:
        both = " and ".join(f"--set {one}={given[one][:20]}" for one in own)
        raise ConfigError(f"{both} are one number; make them agree")
    return Entry(name, given[own[0]], COMMAND_LINE, f"--set {own[0]}")


def batch_variables(text: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return what a batch system sets in the environment, as far as the header tells it.

    Args:
        text: The script.
        given: What its user sets.
    """
    found = {entry.key: str(entry.value) for entry in batch_system(text, given)}
    return {
        one: found[name] for name, names in _VARIABLES.items() if name in found for one in names
    }


ARGUMENTS = "arguments"
"""What is asked for where branches of a script wait for what it is started with."""


def asked_for(script: Script) -> str:
    """Return a question for the arguments that the script's branches wait for; empty for none.

    Args:
        script: What the script amounts to.
    """
    several = ", ".join(script.asks)
    return several and (
        f"{ARGUMENTS}: branches depend on {several}; give all that the script is started with, "
        f"behind --, or single ones as --set {script.asks[0]}=VALUE"
    )


def told_rivals(script: Script, found: Words, is_asked: Callable[[Entry], bool]) -> list[str]:
    """Return the note that a script starts another training; empty where all agree.

    Args:
        script: What the script amounts to.
        found: The command that is read.
        is_asked: Whether a flag says something here.
    """

    def said(words: list[str]) -> set[tuple[str, str]]:
        told = {one.name: one for one in flags(words[:_MOST_WORDS], "")}
        keys = {(name, str(one.value)) for name, one in told.items() if is_asked(one)}
        return keys | {(name, value) for name, _, value in launch_options(words)}

    own = said(found.words) if found.rivals else set()
    others = [script.commands[one] for one in sorted(found.rivals)[:99]]
    lines = sorted({one.line for one in others if said(one.words) != own})
    if not lines:
        return []
    apart = ", ".join(str(line) for line in lines[:9] if line != found.line)
    what = f"what line {apart} starts" if apart else "what it starts at other times"
    return [
        f"MORE THAN ONE TRAINING: line {found.line} is read, and not {what}; for that, give a "
        "script without the others"
    ]
