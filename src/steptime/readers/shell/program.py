"""The flags of a script's command, and the devices that its launchers start it on."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.entries import Entry
from steptime.readers.keys.formats import device_programs, device_variables, several
from steptime.readers.keys.reading import COMMAND_LINE
from steptime.readers.shell.launchers import NODE_VARIABLES, launch_options, launcher_flags
from steptime.readers.shell.marks import CLOSE, COMMAND, UNSET, is_known, readable
from steptime.readers.shell.script import Command, Script

_FLAG = re.compile(r"--?[A-Za-z][\w.-]*\Z")
PAIR = re.compile(r"[+~]{0,2}([A-Za-z_][\w.-]*)=(.*)\Z", re.DOTALL)
_SBATCH = re.compile(
    r"^#SBATCH\s+(?:--(nodes|gpus-per-node|ntasks-per-node|gres|ntasks|gpus)[=\s]|-(N)\s*)(\S+)",
    re.MULTILINE,
)
_NAMED = re.compile(r"--[A-Za-z][\w.-]*|(?<![\w.])[A-Za-z_][\w.-]*+(?==)")
"""A flag or a key; what stands before a key keeps a long word from being tried at each letter."""
MOST_WORDS = 100_000
_HOLDS_MORE = re.compile(f"({COMMAND}[^{CLOSE}]*{CLOSE})+")
"""A command's output alone: words that nobody knows."""
_NEVER_SET = re.compile(f"{UNSET}[A-Za-z_][^{CLOSE}]*{CLOSE}")
"""A variable alone, which a shell leaves out where nobody sets it."""


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
        pair = PAIR.match(word)
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


def unread_notes(words: list[str]) -> list[str]:
    """Return a note of each word that stands for words of its own that nobody knows.

    Flags may be among them: a file that a command prints, a variable that the script never sets.
    What is the value of a flag is left out.

    Args:
        words: Of the command that trains.
    """
    found = []
    for place, word in enumerate(words):
        whole = word.strip("\"'")
        if place and _is_flag(words[place - 1]) and "=" not in words[place - 1]:
            continue
        if _HOLDS_MORE.fullmatch(whole):
            found.append(f"NOT READ: {readable(whole)[:80]}: flags in it may change the answer")
        elif _NEVER_SET.fullmatch(whole):
            found.append(f"taken as empty: {readable(whole)[:80]}, which the script never sets")
    return list(dict.fromkeys(found))


def _up_to_flag(words: list[str], start: int) -> str:
    """Return the words of a flag that takes several, up to the next flag or pair, with blanks."""
    end = start
    while end < len(words) and not _is_flag(words[end]) and not PAIR.match(words[end]):
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


def launcher(
    script: Script, read: Collection[str], rivals: frozenset[int] = frozenset()
) -> Iterator[Entry]:
    """Yield nodes and devices from torchrun, deepspeed, accelerate, mpirun or srun.

    What is no number is not known.

    Args:
        script: What the script amounts to.
        read: The words of the command that trains.
        rivals: Commands by their place that start a training that is not the one that is read.
    """
    for place, command in enumerate(script.commands):
        if place not in rivals:
            trains = command.words == read
            for name, flag, value in launch_options(command.words, trains=trains):
                yield Entry(name, readable(value), command.line, flag, value.isdigit())
            yield from _of_variables(command, script.variables)


def _of_variables(command: Command, variables: Mapping[str, str]) -> Iterator[Entry]:
    """Yield devices that a program's own launcher is told of by variables."""
    program = " ".join(word.rpartition("/")[2] for word in command.words[:2])
    if program in device_programs():
        for variable, name in device_variables().items():
            value = variables.get(variable, "")
            if value:
                known = value.isdigit()
                yield Entry(name, readable(value), command.line, variable, known)


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
