"""What a file sets and nothing here has used: refused, told or left out, by its class."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase, translate

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.entries import Entries, Entry, forms
from steptime.readers.keys.formats import (
    AS_SET,
    Format,
    counts_experts,
    formats,
    of_model,
    pattern,
    weighty,
)
from steptime.readers.keys.predict_line import predict_line
from steptime.readers.keys.reading import COMMAND_LINE, DEFAULT
from steptime.readers.keys.safe import short, shown

_OFF = ("", "false", "none", "null", "0", "no", "off", "[]", "0.0", "-1", "disabled")
_ONE_IS_OFF = ("parallel", "partition")
"""Parts of names whose number 1 means that nothing is cut."""

_TOLD = 12
_MOST = 300
"""Keys of a file that are told apart; no real file leaves more unused."""
_NEAR = 0.88
"""How alike a misspelt name is to the one that is meant, as difflib counts."""
_LONGEST = 120


def refuse_by_name(entries: Entries, form: Format) -> None:
    """Refuse a file with a key that changes the answer too much to leave it out.

    Args:
        entries: The file's keys.
        form: Its format.

    Raises:
        ConfigError: With the key.
    """
    for key, words in form.refused_words.items():
        for entry in entries.by_key.get(key, []):
            why = next((words[one] for one in forms(entry.value) if one in words), None)
            if why is not None:
                raise ConfigError(
                    f"{entries.reading.at(entry.line)}: {entry.written} = {shown(entry.value)}: "
                    f"{why}; without it, ask: {predict_line()}"
                )
    tells = dict(form.tells)
    named = [one for one in entries.unused() if _class_of(one, tells)] if tells else []
    for entry in (*named, *_on(entries)):
        why = _class_of(entry, tells | dict(form.refused))
        if why is not None and str(entry.value).startswith(AS_SET):
            # A function of the library may set it or not, by a value that is not known.
            entries.asked.add(entry.key)
            entries.ask(entry.key, f"{entry.written} is {entry.value}, and {why}")
        elif why is not None:
            raise ConfigError(
                f"{entries.reading.at(entry.line)}: {entry.written} = {shown(entry.value)}: {why}; "
                f"without it, ask: {predict_line()}"
            )


def tell_unused(entries: Entries, form: Format) -> None:
    """Note what was not used: what changes the answer first, then what is not known here.

    Args:
        entries: The file's keys.
        form: Its format.
    """
    told: dict[str, list[str]] = {}
    unknown: list[str] = []
    names = _names(entries, form)
    # What a file only adds to is the software's own, and others' to read.
    for entry in [one for one in _on(entries) if one.line != DEFAULT][:_MOST]:
        why = _class_of(entry, dict(form.told))
        if why is not None:
            told.setdefault(why, []).append(short(entry.written))
            continue
        near = _near(entry, names) if len(unknown) < _TOLD else ""
        if near:
            unknown.append(f"{short(entry.written)} (did you mean {near}?)")
        elif not pattern(form.harmless).match(entry.name[-_LONGEST:]):
            unknown.append(short(entry.written))
    notes = [f"{', '.join(_few(names))}: {why}" for why, names in told.items()]
    # What is worded once for many keys is of the software; what names one key is of the model.
    notes.sort(key=lambda note: "software" in note)
    heavy = [one for one in unknown if pattern(weighty()).match(one.lower().lstrip("-"))]
    light = [one for one in unknown if one not in heavy]
    told_first = f"NOT UNDERSTOOD, may change the answer: {', '.join(_few(heavy))}"
    if entries.reading.model is None and entries.reading.missing:
        # Without all sizes of a model, its other keys were not asked for: who names one is told
        # of those that are not a model's.
        others = [one for one in heavy if not pattern(of_model()).match(one.lower().lstrip("-"))]
        told_first = f"NOT UNDERSTOOD, may change the answer: {', '.join(_few(others))}"
        entries.reading.held_back.extend([told_first] if others else [])
    else:
        notes[:0] = [told_first] if heavy else []
        notes.extend([f"not used: {', '.join(_few(light))}"] if light else [])
    entries.reading.notes.extend(notes)


def told_notes(entries: Entries, form: Format) -> list[str]:
    """Return what changes the answer a little and is not modelled, with what is taken instead.

    Args:
        entries: The file's keys.
        form: Its format.
    """
    whys = [(entry, _class_of(entry, dict(form.told))) for entry in _on(entries)[:_MOST]]
    found = {why: short(entry.written) for entry, why in reversed(whys) if why is not None}
    return [f"{written}: {why}" for why, written in found.items()]


def refuse_experts(entries: Entries) -> None:
    """Refuse a dense answer for a file that counts experts under a name that is not read.

    Args:
        entries: The file's keys, the model read.

    Raises:
        ConfigError: With the key.
    """
    model = entries.reading.model
    for entry in _on(entries) if model is not None and model.experts is None else ():
        count = str(entry.value).strip()
        named = pattern(counts_experts()).match(entry.name[-_LONGEST:])
        if named and count.isdigit() and int(count[:9]) > 1:
            raise ConfigError(
                f"{entries.reading.at(entry.line)}: {entry.written} = {shown(entry.value)}: "
                f"{entries.reading.title} is read without experts under this name; name the model "
                "with --model"
            )


def _names(entries: Entries, form: Format) -> Mapping[str, list[str]]:
    """Return the names that are read, by the section where they stand."""
    found: dict[str, list[str]] = {}
    flat = entries.asked if "*" in form.sections else ()
    for name in dict.fromkeys((*form.keys, *sorted(flat))):
        section, _, last = name.removeprefix("*.").rpartition(".")
        there = entries.by_key.get(form.keys.get(name, last), [])
        if all(one.line == DEFAULT for one in there):
            found.setdefault(section, []).append(last)
    return found


def _near(entry: Entry, names: Mapping[str, list[str]]) -> str:
    """Return a name that is read, that the file lacks, and that this one may be meant for."""
    section, _, last = entry.name.rpartition(".")
    known = names.get(section) or names.get(section.rpartition(".")[2]) or names.get("") or []
    if entry.name.startswith("?") or not 5 <= len(last) <= 60:
        return ""
    found = difflib.get_close_matches(last, known, n=1, cutoff=_NEAR)
    if found and _is_kin(last, found[0]):
        return ""
    return ".".join(filter(None, (section, found[0]))) if found else ""


def _is_kin(one: str, other: str) -> bool:
    """Return whether two names are meant to differ: one holds the other, or a number parts them."""
    numbers = {ord(digit): None for digit in "0123456789"}
    shorter, longer = sorted((one, other), key=len)
    # A word more, as in v_head_dim, not a letter more.
    is_part = shorter in longer and "_" in longer.replace(shorter, "", 1)
    return is_part or one.translate(numbers) == other.translate(numbers)


def refuse_program(program: str, form: Format, name: str) -> None:
    """Refuse a command whose program trains something else.

    Args:
        program: The words that start it.
        form: The format of its arguments.
        name: The file.

    Raises:
        ConfigError: With the program.
    """
    found = _other(program, form.programs)
    if found is not None:
        word, what = found
        raise ConfigError(
            f"{name}: {short(word)} runs {what}, which is not modelled: the training of decoders is"
        )


def is_other_program(program: str) -> bool:
    """Return whether the words that start a program say that it trains no decoder.

    Args:
        program: The words.
    """
    return any(map(_every_program().match, _words(program)))


@functools.cache
def _every_program() -> re.Pattern[str]:
    """Return what matches the names of all programs of all formats that train no decoder."""
    wild = dict.fromkeys(one for form in formats() for one in form.programs)
    return re.compile("|".join(map(translate, wild)))


def _words(program: str) -> list[str]:
    return [word[:200] for word in program.lower().split() if "=" not in word]


def _other(program: str, programs: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the word that names another program, and what that does; None if none does."""
    words = _words(program)
    for wild, what in programs.items():
        for word in words:
            if fnmatchcase(word, wild):
                return word, what
    return None


def _few(names: list[str]) -> list[str]:
    more = [f"and {len(names) - _TOLD} more"] if len(names) > _TOLD else []
    return names[:_TOLD] + more


def _on(entries: Entries) -> list[Entry]:
    """Return the entries that nothing has used and that are not switched off."""
    return [
        entry
        for entry in entries.unused()
        if entry.line != COMMAND_LINE and entry.name and not _is_off(entry)
    ]


def _is_off(entry: Entry) -> bool:
    word = str(entry.value).strip().lower()[:20]
    one = word == "1" and any(part in entry.name for part in _ONE_IS_OFF)
    return one or word in _OFF or entry.value == []


def _class_of(entry: Entry, classes: dict[str, str]) -> str | None:
    """Return the reason of the first name that fits; None if none does."""
    name = entry.name[-_LONGEST:]
    if not pattern(tuple(classes)).match(name):
        return None
    return next(why for one, why in classes.items() if pattern((one,)).match(name))
