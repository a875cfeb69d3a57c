"""The keys of a ``config.json``, read with their lines and checked as whole numbers."""

from __future__ import annotations

from typing import Any

from steptime.inputs.errors import ConfigError, check_count
from steptime.readers.keys.reading import Reading
from steptime.readers.keys.safe import line_of, short, shown

LARGEST_SIZE = 10**8


class ConfigKeys:
    """The keys of one file, read with their lines and checked as whole numbers."""

    def __init__(
        self, reading: Reading, text: str, keys: dict[str, Any], defaults: dict[str, int]
    ) -> None:
        self.reading, self.text, self.keys, self.defaults = reading, text, keys, defaults

    def at(self, key: str) -> str:
        """Return ``file:line`` of a key."""
        return f"{self.reading.path}:{line_of(self.text, key)}"

    def count(self, name: str, keys: tuple[str, ...], *, least: int = 1) -> int | None:
        """Return the first of ``keys`` that is present and not null, or None."""
        for key in keys:
            value = self.keys.get(key)
            if value is None:
                continue
            if isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_SIZE:
                value = int(value)
            number = self.checked(key, value, least=least)
            self.reading.state(name, number, line=line_of(self.text, key), written=key)
            return number
        return None

    def need(self, name: str, keys: tuple[str, ...]) -> int:
        """Return the first of ``keys`` present, or the family's default; else refuse the file."""
        number = self.count(name, keys)
        if number is None and name in self.defaults:
            self.reading.assume(name, self.defaults[name], "the default of the architecture")
            return self.defaults[name]
        if number is None:
            raise ConfigError(f"{self.reading.path} lacks {' or '.join(keys)}")
        return number

    def checked(self, key: str, value: object, *, least: int = 1, most: int = LARGEST_SIZE) -> int:
        """Return what a key says, a count; what is none is refused with the key's line."""
        try:
            return check_count(key, value, least=least, most=most)
        except ConfigError as error:
            raise ConfigError(f"{self.at(key)}: {short(str(error), most=160)}") from None

    def flag(self, key: str) -> bool | None:
        """Return a boolean key, or None where it is absent."""
        value = self.keys.get(key)
        if value is None or isinstance(value, bool):
            return value
        raise ConfigError(f"{self.at(key)}: {key} must be true or false, got {shown(value)}")
