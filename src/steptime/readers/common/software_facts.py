"""What a launch file says of its software: facts by the words that its format has for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.entries import Entries, Entry, is_auto
from steptime.readers.keys.formats import Format
from steptime.readers.keys.reading import DEFAULT, Fact
from steptime.readers.keys.safe import shown

_SOURCE = "source"
_TYPES = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}
"""How Python names the types of numbers."""

_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0", "none", "null")


def software_facts(entries: Entries, form: Format) -> None:
    """Note the facts of the software that a file's switches and words stand for.

    What a file leaves out says something too where the format says what its software then does.

    Args:
        entries: The file's keys.
        form: Its format, with ``facts`` (words of a key, and the facts that they mean),
            ``unsaid`` (the word that counts where the file is silent) and ``widths``.

    Raises:
        ConfigError: If a word is not understood.
    """
    for key, words in form.facts.items():
        entry = entries.entry(key)
        if entry is not None and (not entry.known or is_auto(entry.value)):
            if not entry.known:
                entries.asked.discard(key)
            continue
        if entry is not None:
            _note(entries, entry, words)
        elif key in form.unsaid and not entries.by_key.get("recipe_name"):
            why = f"{form.title}'s default: {key} = {form.unsaid[key]}"
            _note(entries, Entry(key, form.unsaid[key], DEFAULT, why), words)
    if form.widths:
        _moments(entries, form.widths)
    _rule_out(entries, form)


def _rule_out(entries: Entries, form: Format) -> None:
    """Note which causes of a gap a file rules out, without taking its keys for read."""
    asked = set(entries.asked)
    for key, words in form.rules_out.items():
        entry = entries.entry(key)
        if entry is not None and not entry.known:
            continue
        for word in ["unsaid"] if entry is None else _words(entry):
            entries.reading.ruled_out.update(words.get(word, ()))
    entries.asked.clear()
    entries.asked.update(asked)


def _note(entries: Entries, entry: Entry, words: Mapping[str, Any]) -> None:
    """Add the facts of each word of an entry to the reading."""
    reading = entries.reading
    noted: dict[str, Any] = {}
    for word in _words(entry):
        facts = words.get(word, words.get(_type(word)))
        if facts is None:
            known = ", ".join(name for name in words if name != _SOURCE)
            raise ConfigError(
                f"{reading.at(entry.line)}: {entry.written} = {shown(entry.value)} is not "
                f"understood; known: {known}"
            )
        for name, value in facts.items():
            if noted.setdefault(name, value) != value:
                raise ConfigError(
                    f"{reading.at(entry.line)}: {entry.written} = {shown(entry.value)} gives "
                    f"{name} = {noted[name]} and {value}; layers that differ in it are not modelled"
                )
            note_fact(entries, name, value, entry)


def note_fact(entries: Entries, name: str, value: Any, entry: Entry) -> None:
    """Add a fact to the reading, in place of one of the same name.

    Args:
        entries: The file's keys.
        name: Of the fact.
        value: Of the fact.
        entry: What tells it.
    """
    reading = entries.reading
    reading.software_facts = [
        *(one for one in reading.software_facts if one.name != name),
        Fact(name=name, value=value, line=entry.line, written=entry.written),
    ]


def _moments(entries: Entries, widths: Mapping[str, float]) -> None:
    """Note the bytes of both moments where a file gives the width of one of them."""
    found = [entries.entry(name) for name in ("exp_avg_dtype", "exp_avg_sq_dtype")]
    named = [one for one in found if one is not None and one.known]
    if not named:
        return
    words = [_type(str(one.value).strip().lower()) for one in named]
    for word, entry in zip(words, named, strict=True):
        if word not in widths:
            raise ConfigError(
                f"{entries.reading.at(entry.line)}: {entry.written} = {shown(entry.value)} is not "
                f"understood; known: {', '.join(widths)}"
            )
    # The moment that is not named keeps its 32 bits.
    total = sum(widths[word] for word in words) + 4.0 * (2 - len(words))
    note_fact(entries, "moment_bytes", total, named[0])


def _type(word: str) -> str:
    """Return a type of numbers under Megatron-LM's name."""
    plain = word.removeprefix("torch.")
    return _TYPES.get(plain, plain)


def _words(entry: Entry) -> list[str]:
    """Return the words of an entry: one, or those of a list; a bare switch says true."""
    items = entry.value if isinstance(entry.value, list) else [entry.value]
    found = []
    for item in items[:20]:
        for text in re.split(r"[,\s\[\]'\"\\]+", str(item).strip().lower())[:20]:
            if text:
                found.append("true" if text in _TRUE else "false" if text in _FALSE else text)
    return found
