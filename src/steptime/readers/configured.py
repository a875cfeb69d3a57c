"""A command whose program reads a file of keys: that file, below what the command itself sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.readers.frameworks.primus import unwrapped
from steptime.readers.keys.entries import Entry
from steptime.readers.keys.formats import Format, config_flags, recognised
from steptime.readers.keys.leaves import file_leaves, plain_name, tree_entries, unwrapped_keys
from steptime.readers.keys.safe import short
from steptime.readers.shell.marks import is_known

SYNTAX = {".json": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}
"""What files of keys end in, and how they are written."""

_MOST_TRIED = 8


@dataclass(frozen=True, slots=True)
class Configured:
    """What the file of a command says.

    Attributes:
        form: Its format.
        entries: Its keys under our names, each with the file's name.
    """

    form: Format
    entries: list[Entry]


def configured(
    words: list[str], text_of: Callable[[str], str | None], given: Mapping[str, str]
) -> Configured | None:
    """Return what the file that a command names says; None if it names none that is here.

    Args:
        words: Of the command.
        text_of: What gives the text of a file by its name; None if it is not here.
        given: What its user sets.

    Raises:
        ConfigError: If a file of Primus is of a framework that is not read.
    """
    taken = data_table("formats/order.toml")["takes_flags"]
    for name in list(dict.fromkeys(_named(words)))[:_MOST_TRIED]:
        text = text_of(name)
        if text is None:
            continue
        try:
            found = file_leaves(text, SYNTAX[Path(name).suffix.lower()], short(name))
        except ConfigError:
            # A template that the script fills in, say: no file that a program reads.
            continue
        leaves = unwrapped_keys(found)
        form = recognised(plain_name(leaf.path) for leaf in leaves)
        if form is None or form.kind not in taken:
            continue
        if form.kind == "primus":
            form, leaves = unwrapped(leaves, short(name), text_of, given)
        last = Path(name).name[-40:]
        told = [one if one.file else replace(one, line=0, file=last) for one in leaves]
        return Configured(form, list(tree_entries(told, form, given, short(name))))
    return None


def _named(words: list[str]) -> Iterator[str]:
    """Yield the files of keys that a command names, as a word of its own or behind a flag."""
    flags = config_flags()
    before = ""
    for word in words:
        flag, equals, value = word.partition("=")
        name = value if equals and flag.startswith("-") else word
        asks = (flag if equals else before).lstrip("-").replace("-", "_")
        is_free = not before.startswith("-") and not word.startswith("-")
        if (is_free or asks in flags) and Path(name[-60:]).suffix.lower() in SYNTAX:
            yield name[:300]
        before = word


def of_variables(words: list[str], variables: Mapping[str, str]) -> list[str]:
    """Return the flags that variables of a script stand for to the program that a command starts.

    Args:
        words: Of the command.
        variables: Every variable of the script.
    """
    found: list[str] = []
    for variable, programs in data_table("formats/order.toml")["config_variables"].items():
        reads = any(fnmatchcase(word, one) for word in words[:_MOST_TRIED] for one in programs)
        if reads and variables.get(variable):
            found.extend([f"--{variable.lower()}", variables[variable]])
    return found


def check_whole(words: list[str], sized: bool, name: str) -> None:
    """Refuse a command that only changes a file that is not here.

    Args:
        words: Of the command.
        sized: Whether the command itself gives sizes of a model.
        name: The script.

    Raises:
        ConfigError: With the file.
    """
    flags = config_flags()
    for flag, file in pairwise(words):
        asks = flag.startswith("-") and flag.lstrip("-").replace("-", "_") in flags
        if asks and not sized and Path(file[-60:]).suffix.lower() in SYNTAX:
            where = short(file) if is_known(file) else "its file"
            raise ConfigError(
                f"{name}: {flag} = {where} says most of what is trained and is not beside the "
                "script: explain that file, with --set for what the script changes"
            )
