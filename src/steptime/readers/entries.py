"""Keys and values of a launch file, whatever its format, with their lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from steptime.inputs.errors import ConfigError
from steptime.readers.reading import COMMAND_LINE, Reading, where
from steptime.readers.safe import shown

LARGEST = 10**9
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")
_NOTHING = ("", "null", "none", "~")


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a file.

    Attributes:
        key: Its name, with underscores.
        value: Text, number, bool, None, or a list of these.
        line: Where it stands, or `COMMAND_LINE`.
        written: The name as the file has it, with its section.
        known: False if the value depends on what the file does not set.
    """

    key: str
    value: object
    line: int
    written: str
    known: bool = True


class Entries:
    """All entries of one file, asked for by any of their names.

    Args:
        reading: Where facts and gaps are noted.
        found: The entries in the order of the file.
        last_wins: Whether a later entry replaces an earlier one, as on a command line.
    """

    def __init__(self, reading: Reading, found: Iterable[Entry], *, last_wins: bool) -> None:
        self.reading = reading
        self.last_wins = last_wins
        self.by_key: dict[str, list[Entry]] = {}
        self.asked: set[str] = set()
        for entry in found:
            self.by_key.setdefault(entry.key, []).append(entry)

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
            if not (entry.value is None or str(entry.value).strip().lower() in _NOTHING)
        ]
        if not found:
            return None
        if self.last_wins:
            # What the user sets comes after every line of the file.
            last = max(found, key=lambda entry: (entry.line == COMMAND_LINE, entry.line))
            return found[-1] if last.line == found[-1].line else last
        known = [entry for entry in found if entry.known] or found
        for other in known[1:]:
            if str(other.value).strip().lower() != str(known[0].value).strip().lower():
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
        if entry is None or not entry.known:
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
        if entry is None or not entry.known or isinstance(entry.value, list):
            return ""
        return str(entry.value).strip().lower()

    def line(self, *keys: str) -> int:
        """Return the line of the entry that counts, 0 if there is none."""
        entry = self.entry(*keys)
        return entry.line if entry else 0

    def unused(self) -> list[str]:
        """Return what the file sets and nobody has asked for, as it is written there."""
        left = [found[0] for key, found in self.by_key.items() if key not in self.asked]
        return [entry.written for entry in left]

    def ask(self, name: str, why: str = "") -> None:
        """Note that something is missing."""
        text = f"{name}: {why}" if why else name
        if not any(item.split(":")[0] == name for item in self.reading.missing):
            self.reading.missing.append(text)


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
