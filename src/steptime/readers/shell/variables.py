"""The variables of a script: texts, arrays, tables by name, and its arguments."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping

from steptime.inputs.errors import ConfigError
from steptime.readers.shell.marks import is_known, unset

MOST_LETTERS = 2_000_000
_MOST_CUT = 400
"""Letters of a value that a pattern is cut from; a longer one stays unknown."""

Value = str | list[str]


class Variables:
    """What a script has set.

    Args:
        given: Values that the user sets, as an environment would; they win over defaults.
        name: The script, for refusals.
    """

    def __init__(self, given: Mapping[str, str], name: str) -> None:
        self.scalars: dict[str, str] = dict(given)
        self.given = frozenset(given)
        self.arrays: dict[str, list[str]] = {}
        self.tables: dict[str, dict[str, str]] = {}
        self.name, self.letters, self.line = name, 0, 0
        # Whether arguments that are not there are empty, rather than not told yet.
        self.closed = False
        for place, word in enumerate(self.scalars.pop("@", "").split()[:999], 1):
            self.scalars.setdefault(str(place), word)

    def spend(self, text: str, pieces: int = 1) -> str:
        """Return the text, and count its letters against the most that a script may make.

        Args:
            text: What a word became.
            pieces: Of how many pieces it is.

        Raises:
            ConfigError: If the script has made too many.
        """
        self.letters += len(text) + pieces
        if self.letters > MOST_LETTERS:
            raise ConfigError(
                f"{self.name}:{self.line}: its variables expand to over {MOST_LETTERS} letters"
            )
        return text

    def spend_all(self, values: list[str]) -> list[str]:
        """Return a copy of the values, counted as one text each."""
        self.spend("".join(values), len(values) + 1)
        return list(values)

    def arguments(self) -> list[str]:
        """Return the arguments that are given, in order: of the script, or of a function."""
        found: list[str] = []
        while (value := self.scalars.get(str(len(found) + 1))) is not None:
            found.append(value)
        # Counting them takes as long as copying them.
        self.spend("", len(found))
        return found

    def bind(self, words: list[str]) -> list[str]:
        """Put other arguments in the place of those that stand, and return the former.

        Args:
            words: The arguments.
        """
        former = self.arguments()
        self.spend("", len(words) + len(self.scalars) // 8)
        for place in [name for name in self.scalars if name.isdigit() and name != "0"]:
            del self.scalars[place]
        self.scalars.update({str(place): word for place, word in enumerate(words, 1)})
        return former

    def shift(self, count: str) -> bool:
        """Drop the first arguments, and return whether there were as many.

        Args:
            count: How many, as the script writes it.
        """
        by = int(count[:4]) if count.isdigit() else 1
        words = self.arguments()
        if by <= len(words):
            # As a shell does: what cannot be dropped as a whole stays.
            self.closed = self.closed or bool(words)
            self.bind(words[by:])
        return by <= len(words)

    def plain(self, name: str) -> Value:
        """Return the value of a name; a mark if nothing sets it."""
        if name in self.scalars:
            return self.spend(self.scalars[name])
        if name in self.arrays:
            return self.spend(self.arrays[name][0] if self.arrays[name] else "")
        # All arguments of the script: without any, nothing.
        if name == "@":
            return self.spend_all(self.arguments())
        if name == "*":
            return self.spend(" ".join(self.arguments()))
        if name == "#":
            return str(len(self.arguments()))
        return "" if self.closed and name.isdigit() and name != "0" else unset(name)

    def all_of(self, name: str) -> list[str] | None:
        """Return all values of an array or a table; None where there is neither."""
        if name in ("@", "*"):
            return self.spend_all(self.arguments())
        values = self.arrays.get(name)
        if values is None and name in self.tables:
            values = list(self.tables[name].values())
        if values is None:
            return [self.scalars[name]] if name in self.scalars else None
        return self.spend_all(values)

    def has(self, word: str) -> bool:
        """Return whether the script has set ``NAME`` or ``NAME[key]``.

        Args:
            word: Either, with its key expanded.
        """
        name, _, key = word.partition("[")
        key = key.removesuffix("]").strip()
        if not key:
            return name in self.scalars or bool(self.arrays.get(name))
        if key in self.tables.get(name, {}):
            return True
        return key.isdigit() and int(key[:9]) < len(self.arrays.get(name, []))

    def one_of(self, name: str, key: str, place: int | None) -> str | None:
        """Return one value of an array or a table; None where it is not known.

        Args:
            name: The variable.
            key: What stands between the brackets.
            place: Its value as a number, if it has one.
        """
        if not is_known(key):
            return None
        if name in self.tables:
            return self.spend(self.tables[name].get(key, ""))
        values = self.arrays.get(name)
        if values is None and name in self.scalars:
            values = [self.scalars[name]]
        if values is None or place is None:
            return None
        return self.spend(values[place] if -len(values) <= place < len(values) else "")


def cut(value: str, operator: str, pattern: str) -> str | None:
    """Return a value less what a pattern fits at its front (``#``) or back (``%``).

    Args:
        value: What is cut.
        operator: A sign for the shortest fit, two for the longest.
        pattern: As a shell matches names.

    Returns:
        The rest; None if that is too long to tell.
    """
    if len(value) > _MOST_CUT or len(pattern) > 60:
        return None
    fits = re.compile(fnmatch.translate(pattern)).match
    size = len(value)
    lengths = range(size + 1) if len(operator) == 1 else range(size, -1, -1)
    for length in lengths:
        piece = value[:length] if operator[0] == "#" else value[size - length :]
        if fits(piece):
            return value[length:] if operator[0] == "#" else value[: size - length]
    return value


def replaced(value: str, operator: str, pattern: str, other: str) -> str | None:
    """Return a value with something else in place of what a pattern fits, the longest piece first.

    Args:
        value: What is changed.
        operator: ``/`` for the first place, ``//`` for all, ``/#`` for the front, ``/%`` the back.
        pattern: As a shell matches names.
        other: What comes in its place.

    Returns:
        The value; None if that is too long to tell.
    """
    is_long = len(value) > _MOST_CUT or len(pattern) > 60 or len(other) > _MOST_CUT
    if is_long or not is_known(pattern + other) or pattern.count("*") > 1:
        return None
    if not pattern:
        return value
    # Less what holds the end: a pattern may fit anywhere.
    body = fnmatch.translate(pattern)[:-2]
    front, back = ("\\A" if operator == "/#" else ""), ("\\Z" if operator == "/%" else "")
    found = re.compile(f"{front}{body}{back}")
    return found.sub(lambda one: other if one[0] else "", value, count=int(operator != "//"))
