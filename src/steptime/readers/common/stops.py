"""Switches that a framework does not start with together, so that their file has no answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.inputs.fields import SIZES
from steptime.readers.keys.entries import Entries, is_auto
from steptime.readers.keys.formats import Format
from steptime.readers.keys.safe import shown

_OFF = ("", "false", "no", "off", "0", "none", "null")


def check_stops(entries: Entries, form: Format) -> None:
    """Refuse what the framework of a file stops at before it trains.

    Args:
        entries: The file's keys, their layout noted in the reading.
        form: The file's format, whose ``stops`` say what stops it: ``on`` are names that must all
            be on, each a switch, a size above 1, or ``name=word``; it stops where one ``beside``
            is on too, or where none ``without`` is.

    Raises:
        ConfigError: With the framework's reason.
    """
    for stop in form.stops:
        on = _words(stop, "on")
        if not all(_is_on(entries, name) for name in on):
            continue
        beside = [name for name in _words(stop, "beside") if _is_on(entries, name)]
        without = _words(stop, "without")
        # What is not known may be on.
        lacks = bool(without) and not any(_may_be_on(entries, name) for name in without)
        if beside or lacks:
            line, written = _written(entries, on[0])
            other = f" beside {_written(entries, beside[0])[1]}" if beside else ""
            raise ConfigError(
                f"{entries.reading.at(line)}: {written}{other}: "
                f"{entries.reading.title} stops there: {stop['why']}"
            )


def _words(stop: Mapping[str, Any], key: str) -> list[str]:
    return str(stop.get(key, "")).split()


def _is_on(entries: Entries, name: str) -> bool:
    """Return whether a name is known to be on."""
    key, equals, word = name.partition("=")
    if equals:
        return str(entries.reading.value(key, "")) == word or entries.word(key) == word
    if key in SIZES:
        return int(entries.reading.value(key, 1)) > 1
    found = entries.entry(key)
    if found is None or not found.known or is_auto(found.value):
        return False
    return str(found.value).strip().lower() not in _OFF


def _may_be_on(entries: Entries, name: str) -> bool:
    found = entries.entry(name.partition("=")[0])
    return _is_on(entries, name) or (found is not None and not found.known)


def _written(entries: Entries, name: str) -> tuple[int, str]:
    """Return where a name stands, and it as the file has it, with its value if it is no switch."""
    key = name.partition("=")[0]
    said = entries.reading.facts.get(key) or entries.entry(key)
    if said is None:
        return 0, key
    is_switch = str(said.value).strip().lower() in ("true", "1")
    written = said.written or key
    return said.line, written if is_switch else f"{written} = {shown(said.value)}"
