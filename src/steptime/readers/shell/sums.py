"""Sums of a script: what stands in ``(( ))``, which may set variables too."""

from __future__ import annotations

import re

from steptime.readers.shell.arithmetic import value_of
from steptime.readers.shell.marks import CLOSE, is_known, output_of, readable
from steptime.readers.shell.variables import Variables

_CHANGE = re.compile(r"\s*([A-Za-z_]\w*)\s*([-+*/%]?)=(?!=)(.*)\Z", re.DOTALL)
_COUNT = re.compile(r"\s*(?:(\+\+|--)\s*([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*(\+\+|--))\s*\Z")


class Sums(Variables):
    """How sums come out that use the variables of a script."""

    def joined(self, word: str, depth: int) -> str:
        """Return what a word becomes as one text; how stands below."""
        raise NotImplementedError

    def sum(self, inner: str) -> int | None:
        """Return the value of an expression, which may set variables; None if it is not known.

        Args:
            inner: What stands in ``(( ))``.
        """
        value: int | None = None
        for part in inner.replace("\v", " ").split(",")[:99]:
            value = self._changed(part)
        return value

    def _changed(self, part: str) -> int | None:
        """Return the value of one expression, and set what it sets."""
        counted, change = _COUNT.match(part), _CHANGE.match(part)
        if counted is None and change is None:
            return self._told(part)
        if counted is not None:
            name = counted[2] or counted[3]
            sign = (counted[1] or counted[4])[0]
            former, value = self._told(name), self._told(f"{name} {sign} 1")
            shown = value if counted[1] else former
        else:
            assert change is not None
            name = change[1]
            text = f"{name} {change[2]} ({change[3]})" if change[2] else change[3]
            shown = value = self._told(text)
        # What the user sets stands for the last word on it.
        if name not in self.given:
            self.scalars[name] = output_of(part) if value is None else str(value)
        return shown

    def _told(self, text: str) -> int | None:
        expanded = self.joined(text, 1) if "$" in text else text
        names = re.findall(r"(?<![\w$])[A-Za-z_]\w*", expanded)
        if not is_known(expanded) or any(one not in self.scalars for one in names):
            return None
        try:
            return value_of(expanded.strip().strip('"'), self._number)
        except (ArithmeticError, IndexError, ValueError, RecursionError):
            return None

    def arithmetic(self, inner: str, depth: int) -> str:
        """Return the value of an expression, or the mark of an unknown."""
        if _COUNT.match(inner) or _CHANGE.match(inner):
            value = self._changed(inner)
            return _unknown(inner) if value is None else str(value)
        text = self.joined(inner, depth + 1) if "$" in inner else inner
        if not is_known(text):
            return text if text.count(CLOSE) == 1 and text.endswith(CLOSE) else _unknown(text)
        try:
            return str(value_of(text.replace("\v", " ").strip(), self._number))
        except (ArithmeticError, IndexError, ValueError, RecursionError):
            return _unknown(text)

    def _number(self, name: str) -> int:
        """Return what a variable's name stands for in arithmetic: 0 where it is not set."""
        value = self.scalars.get(name, "0" if name not in self.arrays else "x")
        return int(value[:20] or "0")


def _unknown(text: str) -> str:
    return output_of(readable(text))
