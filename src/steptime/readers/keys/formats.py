"""The formats of launch files that are read: their signatures, and what their keys mean."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from steptime.inputs.datafiles import data_table

FOLDER = "formats"
AS_SET = "as a function of its library sets it: "
"""How the value of a field starts that one of `setters` may set or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format, as its file in ``data/formats`` describes it.

    A name is a path of keys with dots, in small letters and underscores; ``*.`` before it stands
    for any keys in front, and in a signature ``flag.`` for a flag of a command.

    Attributes:
        kind: Its key.
        title: What to call it.
        software: The family of software that reads it.
        signature: Sets of names; a file that has all names of a set is of this format.
        sections: Sections whose keys keep their own, last name; ``*`` for all but ``aside``.
        over: Keys that count in a section alone where a file has that section.
        aside: Sections whose keys may share a name with a layout's but mean something else.
        keys: Our names for the file's names.
        values: What a word stands for, by our name; a word that is not here is refused.
        defaults: What the software takes where the file is silent, by our name.
        harmless: Names that change nothing in the answer; ``*`` stands for anything.
        told: Names that change the answer and are not modelled, and what is taken instead.
        refused: Names that change the answer too much, and why.
        tells: Names that only files of what is not modelled have, whatever their value, and why.
        refused_words: Words of a key, by our name, that change the answer too much, and why.
        programs: Programs that train something else, and what.
        facts: By our name, what each of its words says of the software: facts by name.
        unsaid: The word of such a name that counts where the file is silent.
        rules_out: By our name, what each of its words rules out of ``data/causes.toml``;
            ``unsaid`` is the word for a file that is silent.
        widths: Bytes of a value, by the word for its type, of the optimizer's moments.
        stops: What its software does not start with together, as `check_stops` reads it; a fork
            or a library around it may start.
        until: The month in which its software last read such files; empty where it still does.
    """

    kind: str
    title: str
    software: str
    signature: tuple[tuple[str, ...], ...] = ()
    sections: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    over: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    harmless: tuple[str, ...] = ()
    told: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    tells: Mapping[str, str] = field(default_factory=dict)
    refused_words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    programs: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    unsaid: Mapping[str, str] = field(default_factory=dict)
    rules_out: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    widths: Mapping[str, float] = field(default_factory=dict)
    stops: tuple[Mapping[str, str], ...] = ()
    until: str = ""

    def our_name(self, parts: list[str]) -> str | None:
        """Return our name for a path of keys; None if it means nothing here.

        Args:
            parts: The keys, from the outermost in.
        """
        for at in range(max(0, len(parts) - 4), len(parts)):
            name = ("*." if at else "") + ".".join(parts[at:])
            if name in self.keys:
                return self.keys[name]
        whole = "*." + ".".join(parts)
        if len(parts) <= 4 and whole in self.keys:
            return self.keys[whole]
        if "*" in self.sections:
            return None if any(part in self.aside for part in parts[:-1]) else parts[-1]
        return parts[-1] if ".".join(parts[:-1]) in self.sections else None


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(value.split()) if isinstance(value, str) else tuple(value)


def _format(kind: str) -> Format:
    table = data_table(f"{FOLDER}/{kind}.toml")
    base = _format(table["like"]) if "like" in table else None
    merged: dict[str, Any] = {}
    for name in (
        "values",
        "defaults",
        "told",
        "refused",
        "programs",
        "over",
        "facts",
        "widths",
        "refused_words",
        "tells",
    ):
        merged[name] = {**(getattr(base, name) if base else {}), **table.get(name, {})}
    # What a library takes no notice of is not refused for its base: an empty reason says so.
    merged["refused"] = {name: why for name, why in merged["refused"].items() if why}
    keys = dict(base.keys) if base else {}
    for ours, theirs in table.get("keys", {}).items():
        keys |= dict.fromkeys(_strings(theirs), ours)
    for name in ("harmless", "aside", "sections"):
        merged[name] = (*(getattr(base, name) if base else ()), *_strings(table.get(name, ())))
    if "sections_only" in table:
        merged["sections"] = _strings(table["sections_only"])
    return Format(
        kind=kind,
        title=table["title"],
        software=table["software"],
        signature=tuple(_strings(names) for names in table.get("signature", ())),
        keys=keys,
        # What one software does where nobody says it is not what its forks do.
        unsaid=dict(table.get("unsaid", {})),
        stops=tuple(table.get("stops", ())),
        rules_out=dict(table.get("rules_out", {})),
        until=table.get("until", ""),
        **merged,
    )


@functools.cache
def formats() -> tuple[Format, ...]:
    """Return every format, in the order in which their signatures are tried."""
    return tuple(_format(kind) for kind in data_table(f"{FOLDER}/order.toml")["order"])


@functools.cache
def wrappers() -> frozenset[str]:
    """Return the names under which another program keeps a framework's keys."""
    return frozenset(data_table(f"{FOLDER}/order.toml")["wrappers"])


@functools.cache
def several() -> frozenset[str]:
    """Return the flags of a command that take every word up to the next flag."""
    return frozenset(data_table(f"{FOLDER}/order.toml")["several"])


@functools.cache
def device_programs() -> frozenset[str]:
    """Return the programs whose own launcher is told of devices by variables."""
    return frozenset(data_table(f"{FOLDER}/order.toml")["device_programs"])


@functools.cache
def device_variables() -> Mapping[str, str]:
    """Return those variables, with the launcher's option that each stands for."""
    return dict(data_table(f"{FOLDER}/order.toml")["device_variables"])


def format_named(kind: str) -> Format:
    """Return a format by its key.

    Args:
        kind: The key.
    """
    return next(one for one in formats() if one.kind == kind)


@functools.cache
def kept_calls() -> frozenset[str]:
    """Return the functions of Python recipes whose arguments say all."""
    return frozenset(data_table(f"{FOLDER}/order.toml")["kept_calls"])


@functools.cache
def recipe_calls() -> frozenset[str]:
    """Return the names under which a library keeps its own recipe of each model."""
    return frozenset(data_table(f"{FOLDER}/order.toml")["recipe_calls"])


@functools.cache
def setters() -> Mapping[str, Any]:
    """Return the functions of libraries that set many fields of a recipe, by their last names."""
    tables = (data_table(f"{FOLDER}/{one.kind}.toml") for one in python_formats())
    return {name: one for table in tables for name, one in table.get("setters", {}).items()}


@functools.cache
def program_options() -> Mapping[str, Any]:
    """Return the functions by which programs read their options, with the options' defaults."""
    tables = (data_table(f"{FOLDER}/{one.kind}.toml") for one in python_formats())
    return {name: one for table in tables for name, one in table.get("options", {}).items()}


@functools.cache
def row_functions() -> Mapping[str, Any]:
    """Return the functions of libraries that take a row of a table beside them."""
    tables = (data_table(f"{FOLDER}/{one.kind}.toml") for one in python_formats())
    return {name: one for table in tables for name, one in table.get("rows", {}).items()}


@functools.cache
def config_flags() -> frozenset[str]:
    """Return the flags by which a command names the file of keys that it starts from."""
    return frozenset(data_table(f"{FOLDER}/order.toml")["config_flags"])


@functools.cache
def weighty() -> tuple[str, ...]:
    """Return the names that say something of the answer where nothing reads them."""
    return tuple(data_table(f"{FOLDER}/order.toml")["weighty"])


@functools.cache
def of_model() -> tuple[str, ...]:
    """Return those of these names that say something of a model alone."""
    return tuple(data_table(f"{FOLDER}/order.toml")["of_model"])


@functools.cache
def counts_experts() -> tuple[str, ...]:
    """Return the names by which files count the experts of a layer."""
    return tuple(data_table(f"{FOLDER}/order.toml")["counts_experts"])


@functools.cache
def python_formats() -> tuple[Format, ...]:
    """Return the formats whose recipes are written in Python."""
    return tuple(map(format_named, data_table(f"{FOLDER}/order.toml")["python"]))


def recognised(names: Iterable[str], among: Iterable[Format] | None = None) -> Format | None:
    """Return the format whose signature fits; None if none does.

    Args:
        names: Every name of the file.
        among: The formats that it may be of; any if None.
    """
    found = _forms(names)
    for one in formats() if among is None else among:
        if any(found.issuperset(names) for names in one.signature):
            return one
    return None


def unread(names: Iterable[str]) -> str | None:
    """Return the program that a file is known to be of, and that is not read; None for others.

    Args:
        names: Every name of the file.
    """
    found = _forms(names)
    for program, signature in data_table(f"{FOLDER}/order.toml")["unread"].items():
        if any(found.issuperset(names) for names in signature):
            return str(program)
    return None


def _forms(names: Iterable[str]) -> set[str]:
    """Return the names as signatures write them: whole, without what stands in front, or behind."""
    found: set[str] = set()
    for name in names:
        parts = name.split(".")
        found.add(name)
        found |= {"*." + ".".join(parts[at:]) for at in range(max(0, len(parts) - 2), len(parts))}
        found |= {".".join(parts[:at]) + ".*" for at in (1, 2) if at < len(parts)}
    return found


@functools.cache
def pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return one pattern that fits any of the names, whole or behind other keys.

    Args:
        names: With ``*`` for anything.
    """
    parts = [fnmatch.translate(name).removesuffix(r"\Z").removesuffix(r"\z") for name in names]
    return re.compile(r"(?:.*\.)?(?:" + "|".join(parts or ["(?!)"]) + r")\Z")


def titles() -> str:
    """Return the titles of all formats, for a sentence."""
    return ", ".join(dict.fromkeys(one.title for one in formats()))
