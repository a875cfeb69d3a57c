"""Keys and values of a launch file, whatever its format, with their lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.reading import COMMAND_LINE, DEFAULT, Reading, where
from steptime.readers.keys.safe import shown

LARGEST = 10**9
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*\}")
_NOTHING = ("", "null", "none", "~")


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a file.

    Attributes:
        key: Its name, with underscores.
        value: Text, number, bool, None, or a list of these.
        line: Where it stands, or `COMMAND_LINE`; `DEFAULT` for what the software takes.
        written: The name as the file has it, with its section.
        known: False if the value depends on what the file does not set.
        name: Path of keys in small letters, by which the format classes it.
        is_meant: Whether the value is what a word of the format stands for.
    """

    key: str
    value: object
    line: int
    written: str
    known: bool = True
    name: str = ""
    is_meant: bool = False


class Entries:
    """All entries of one file, asked for by any of their names.

    Args:
        reading: Where facts and gaps are noted.
        found: The entries in the order of the file.
        last_wins: Whether a later entry replaces an earlier one, as on a command line.
        values: What words stand for, by key; other words for those keys are refused.
        refused: Words that are refused later, with a reason.
    """

    def __init__(
        self,
        reading: Reading,
        found: Iterable[Entry],
        *,
        last_wins: bool,
        values: Mapping[str, Mapping[str, Any]] | None = None,
        refused: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.reading = reading
        self.last_wins = last_wins
        self.values = values or {}
        self.refused = refused or {}
        self.by_key: dict[str, list[Entry]] = {}
        self.asked: set[str] = set()
        self.files: Mapping[str, str] = {}
        for entry in found:
            self.by_key.setdefault(entry.key, []).append(self._meant(entry))

    def _meant(self, entry: Entry) -> Entry:
        """Return an entry with its word replaced by what the word stands for."""
        words = self.values.get(entry.key)
        word = str(entry.value).strip().lower()
        if words is None or not entry.known or is_auto(word):
            return entry
        if forms(entry.value) & self.refused.get(entry.key, {}).keys():
            return entry
        if entry.value is None and word not in words:
            return entry
        if word in _NOTHING and word not in words:
            return entry
        for form in forms(entry.value) & words.keys():
            return replace(entry, value=words[form], is_meant=True)
        known = ", ".join(sorted(words))
        raise ConfigError(
            f"{self.reading.at(entry.line)}: {entry.written} = {shown(entry.value)} is not "
            f"understood; known: {known}"
        )

    def put(self, key: str, value: object, why: str, line: int = DEFAULT) -> None:
        """Add what follows from the software or from other keys, where the file is silent.

        Args:
            key: Our name for it.
            value: Its value.
            why: Where it comes from.
            line: Of another key that says it, if one does.
        """
        entry = Entry(key, value, line, why, is_meant=key in self.values)
        self.by_key.setdefault(key, []).append(entry)

    def entry(self, *keys: str) -> Entry | None:
        """Return the entry that counts among those with one of the names; None if none is set.

        Args:
            keys: Names that mean the same, the usual one first.

        Raises:
            ConfigError: If two of them contradict each other.
        """
        self.asked.update(keys)
        found = [
            entry
            for key in keys
            for entry in self.by_key.get(key, [])
            if entry.is_meant
            or not (entry.value is None or str(entry.value).strip().lower() in _NOTHING)
        ]
        if not found:
            return None
        # What the user sets comes before every line of the file, and that before a default.
        for chosen in (
            [one for one in found if one.line == COMMAND_LINE],
            [one for one in found if one.line != DEFAULT],
        ):
            if chosen:
                return self._agreed(chosen)
        return found[0]

    def _agreed(self, found: list[Entry]) -> Entry:
        """Return the last entry where later ones win, else the one that all agree with."""
        if self.last_wins:
            last = max(found, key=lambda entry: entry.line)
            return found[-1] if last.line == found[-1].line else last
        known = [entry for entry in found if entry.known] or found
        for other in known[1:]:
            if not same(other.value, known[0].value):
                raise ConfigError(
                    f"{self.reading.at(other.line)}: {other.written} = {shown(other.value)}, "
                    f"but {where(known[0].line)} gives {known[0].written} = "
                    f"{shown(known[0].value)}; make them agree"
                )
        return known[0]

    def count(self, name: str, *keys: str, least: int = 1) -> int | None:
        """Return a whole number and note it as a fact; None if it is not set or not known.

        Args:
            name: Our name for it.
            keys: The file's names for it.
            least: Smallest value allowed.

        Raises:
            ConfigError: If it is set to something else.
        """
        entry = self.entry(*keys)
        if entry is None:
            return None
        if not entry.known:
            self.ask(name, f"{entry.written} = {shown(entry.value)} on {where(entry.line)}")
            return None
        if is_auto(entry.value):
            return None
        if entry.value is True:
            raise ConfigError(
                f"{self.reading.at(entry.line)}: {entry.written} is empty; it needs a whole number"
            )
        number = _whole(entry)
        if number is None:
            raise ConfigError(
                f"{self.reading.at(entry.line)}: {entry.written} must be a whole number, "
                f"got {shown(entry.value)}"
            )
        if not least <= number <= LARGEST:
            bound = f">= {least}" if number < least else f"<= {LARGEST}"
            raise ConfigError(
                f"{self.reading.at(entry.line)}: {entry.written} must be {bound}, "
                f"got {shown(number)}"
            )
        if entry.line == DEFAULT:
            self.reading.assume(name, number, entry.written)
        else:
            self.reading.state(name, number, line=entry.line, written=entry.written)
        return number

    def flag(self, *keys: str) -> bool:
        """Return whether a switch is on; a bare flag of a command line is.

        Args:
            keys: The file's names for it.

        Raises:
            ConfigError: If it is set to neither true nor false.
        """
        entry = self.entry(*keys)
        if entry is None or is_auto(entry.value):
            return False
        if self.last_wins and not entry.known and _VARIABLE.fullmatch(str(entry.value)):
            # A shell puts nothing in place of a variable that nobody sets: the switch is bare.
            return True
        if not self._known(entry):
            return False
        text = str(entry.value).strip().lower()
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        raise ConfigError(
            f"{self.reading.at(entry.line)}: {entry.written} must be true or false, "
            f"got {shown(entry.value)}"
        )

    def word(self, *keys: str) -> str:
        """Return a text in lower case; empty if it is not set or not known."""
        entry = self.entry(*keys)
        if entry is None or isinstance(entry.value, list) or not self._known(entry):
            return ""
        return str(entry.value).strip().lower()

    def _known(self, entry: Entry) -> bool:
        """Return whether a value is known; ask for it where it is not."""
        if not entry.known:
            self.ask(entry.key, f"{entry.written} = {shown(entry.value)} on {where(entry.line)}")
        return entry.known

    def line(self, *keys: str) -> int:
        """Return the line of the entry that counts, 0 if there is none."""
        entry = self.entry(*keys)
        return entry.line if entry else 0

    def unused(self) -> list[Entry]:
        """Return what the file sets and nobody has asked for."""
        left = [found[-1] for key, found in self.by_key.items() if found and key not in self.asked]
        # A word that the format has a meaning for was understood, whatever came of it. What only
        # follows from other keys has no name of its own.
        named = [entry for entry in left if entry.line != DEFAULT or entry.name]
        return [entry for entry in named if not entry.is_meant]

    def ask(self, name: str, why: str = "") -> None:
        """Note that something is missing."""
        text = f"{name}: {why}" if why else name
        if not any(item.split(":")[0] == name for item in self.reading.missing):
            self.reading.missing.append(text)


def forms(value: object) -> set[str]:
    """Return the words that a value may stand for: itself, or a member of an enumeration.

    Args:
        value: As the file has it; a member is written behind the enumeration's name.
    """
    word = str(value).strip().lower()
    return {word, word.rpartition(".")[2]} if "." in word[:200] else {word}


def same(one: object, other: object) -> bool:
    """Return whether two values mean the same.

    Args:
        one: A value.
        other: Another.
    """
    return str(one).strip().lower() == str(other).strip().lower()


def is_auto(value: object) -> bool:
    """Return whether a value is left to the software.

    Args:
        value: As the file has it.
    """
    return str(value)[:9].strip().lower() == "auto"


def _whole(entry: Entry) -> int | None:
    """Return the whole number that an entry gives; None if it is none."""
    if isinstance(entry.value, (bool, list)):
        return None
    text = str(entry.value).strip().replace("_", "")[:40]
    try:
        return int(text)
    except ValueError:
        pass
    if entry.line == COMMAND_LINE:
        return None
    try:
        # Files also write 4096.0 and 1e6.
        return int(float(text)) if float(text).is_integer() else None
    except (ValueError, OverflowError):
        return None
