"""Expand a shell word: variables, defaults, arithmetic. Nothing is ever run."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping

from steptime.inputs.errors import ConfigError

UNSET, COMMAND, CLOSE = "\ue000", "\ue001", "\ue002"
"""Marks round what stays unknown: a variable that the script never sets, a command's output."""

MOST_LETTERS = 2_000_000
MOST_INTEGER = 10**15
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_NUMBER = re.compile(r"\s*(\d+|[A-Za-z_]\w*|\*\*|<<|>>|[-+*/%()])")
_OPERATOR = re.compile(r":?[-=+?]")


def is_known(text: str) -> bool:
    """Return whether nothing in ``text`` stayed unknown."""
    return UNSET not in text and COMMAND not in text


def readable(text: str) -> str:
    """Return ``text`` with its marks turned back into shell."""
    text = re.sub(f"{UNSET}([^{CLOSE}]*){CLOSE}", r"${\1}", text)
    return re.sub(f"{COMMAND}([^{CLOSE}]*){CLOSE}", r"$(\1)", text)


class Expander:
    """The variables of a script, and how words that use them expand.

    Args:
        given: Values that the user sets, as an environment would; they win over defaults.
        name: The script, for refusals.
    """

    def __init__(self, given: Mapping[str, str], name: str) -> None:
        self.scalars: MutableMapping[str, str] = dict(given)
        self.arrays: dict[str, list[str]] = {}
        self.name, self.letters, self.line = name, 0, 0

    def fields(self, word: str) -> list[str]:
        """Return what a word becomes: none, one or many arguments."""
        if not any(letter in word for letter in "$'\"\\`\v"):
            return [word]
        parts = self._parts(word, 0)
        out: list[str] = []
        current, has = "", False
        for text, quoted in parts:
            if quoted:
                pieces = text if isinstance(text, list) else [text]
                if isinstance(text, list) and not text:
                    continue
                current, has = current + pieces[0], True
                for piece in pieces[1:]:
                    out.append(current)
                    current = piece
                continue
            joined = " ".join(text) if isinstance(text, list) else text
            split = joined.split()
            if joined[:1].isspace() and (current or has):
                out.append(current)
                current, has = "", False
            for index, piece in enumerate(split):
                if index:
                    out.append(current)
                current, has = (piece if index else current + piece), True
            if split and joined[-1:].isspace():
                out.append(current)
                current, has = "", False
        if current or has:
            out.append(current)
        return out

    def text(self, word: str) -> str:
        """Return what a word becomes as one text, as on the right of ``=``."""
        parts = self._parts(word, 0)
        return "".join(" ".join(t) if isinstance(t, list) else t for t, _ in parts)

    def _spend(self, text: str) -> str:
        self.letters += len(text) + 1
        if self.letters > MOST_LETTERS:
            raise ConfigError(
                f"{self.name}:{self.line}: its variables expand to over {MOST_LETTERS} letters"
            )
        return text

    def _parts(self, word: str, depth: int) -> list[tuple[str | list[str], bool]]:
        """Return pieces of text, each with whether quotes keep it whole."""
        if depth > 30:
            raise ConfigError(f"{self.name}:{self.line}: nested over 30 deep")
        parts: list[tuple[str | list[str], bool]] = []
        at, quoted = 0, False
        while at < len(word):
            letter = word[at]
            if letter == '"':
                quoted, at = not quoted, at + 1
                parts.append(("", True))
            elif letter == "'" and not quoted:
                end = word.find("'", at + 1)
                end = len(word) if end < 0 else end
                parts.append((self._spend(word[at + 1 : end]), True))
                at = end + 1
            elif letter == "\\":
                parts.append((word[at + 1 : at + 2], True))
                at += 2
            elif letter == "`":
                end = word.find("`", at + 1)
                end = len(word) if end < 0 else end
                parts.append((self._command(word[at + 1 : end]), quoted))
                at = end + 1
            elif letter == "$":
                value, at = self._dollar(word, at, depth)
                parts.append((value, quoted))
            else:
                end = at + 1
                while end < len(word) and word[end] not in "\"'\\`$":
                    end += 1
                parts.append((self._spend(word[at:end].replace("\v", " ")), quoted))
                at = end
        return parts

    def _dollar(self, word: str, at: int, depth: int) -> tuple[str | list[str], int]:
        """Return the value of what starts with ``$`` at ``at``, and where it ends."""
        if word.startswith("$((", at):
            end = _closing(word, at + 1, "(", ")")
            return self._spend(self._arithmetic(word[at + 3 : end - 1], depth)), end + 1
        if word.startswith("$(", at):
            end = _closing(word, at + 1, "(", ")")
            return self._command(word[at + 2 : end]), end + 1
        if word.startswith("${", at):
            end = _closing(word, at + 1, "{", "}")
            return self._braced(word[at + 2 : end], depth), end + 1
        name = _NAME.match(word, at + 1)
        if name is None:
            return "$", at + 1
        return self._variable(name[0]), name.end()

    def _variable(self, name: str) -> str:
        if name in self.scalars:
            return self._spend(self.scalars[name])
        if name in self.arrays:
            return self._spend(self.arrays[name][0] if self.arrays[name] else "")
        # All arguments of the script: without any, nothing.
        return "" if name in ("@", "*") else f"{UNSET}{name}{CLOSE}"

    def _braced(self, inner: str, depth: int) -> str | list[str]:
        """Return ``${...}``: a variable, an array, or a default."""
        name = _NAME.match(inner)
        if name is None:
            return f"{COMMAND}{inner[:40]}{CLOSE}"
        rest = inner[name.end() :]
        if rest in ("[@]", "[*]"):
            values = self.arrays.get(name[0])
            if values is None:
                return [self.scalars[name[0]]] if name[0] in self.scalars else []
            self._spend("".join(values))
            return list(values)
        if not rest:
            return self._variable(name[0])
        operator = _OPERATOR.match(rest)
        if operator is None:
            return f"{COMMAND}{inner[:40]}{CLOSE}"
        value = self.scalars.get(name[0])
        present = value is not None and (value != "" or operator[0][0] != ":")
        if operator[0][-1] == "+":
            return self._joined(rest[operator.end() :], depth) if present else ""
        if present and value is not None:
            return self._spend(value)
        if operator[0][-1] == "?":
            return f"{UNSET}{name[0]}{CLOSE}"
        default = self._joined(rest[operator.end() :], depth)
        if operator[0][-1] == "=":
            self.scalars[name[0]] = default
        return default

    def _joined(self, word: str, depth: int) -> str:
        parts = self._parts(word, depth + 1)
        return "".join(" ".join(t) if isinstance(t, list) else t for t, _ in parts)

    def _command(self, inner: str) -> str:
        """Return a command's output: known only for ``expr`` and ``echo``."""
        words = inner.replace("\v", " ").split()
        if words[:1] == ["expr"]:
            value = self._arithmetic(" ".join(words[1:]).replace("\\", ""), 20)
            return self._spend(value)
        return f"{COMMAND}{' '.join(words)[:40]}{CLOSE}"

    def _arithmetic(self, inner: str, depth: int) -> str:
        """Return the value of an expression, or the mark of an unknown."""
        text = self._joined(inner, depth + 1) if "$" in inner else inner
        if not is_known(text):
            return text if text.count(CLOSE) == 1 and text.endswith(CLOSE) else _unknown(text)
        symbols: list[str] = []
        at = 0
        text = text.replace("\v", " ").strip()
        while at < len(text):
            match = _NUMBER.match(text, at)
            if match is None or len(symbols) > 200:
                return _unknown(text)
            symbols.append(match[1])
            at = match.end()
        try:
            value, rest = _sum([self._symbol(symbol) for symbol in symbols], 0)
        except (ArithmeticError, IndexError, ValueError, RecursionError):
            return _unknown(text)
        return _unknown(text) if rest != len(symbols) else str(value)

    def _symbol(self, symbol: str) -> int | str:
        if symbol[0].isdigit():
            return _bounded(int(symbol[:20]))
        if symbol[0].isalpha() or symbol[0] == "_":
            value = self.scalars.get(symbol, "0" if symbol not in self.arrays else "x")
            return _bounded(int(value[:20] or "0"))
        return symbol


def _unknown(text: str) -> str:
    return f"{COMMAND}{readable(text)[:40]}{CLOSE}"


def _bounded(value: int) -> int:
    if abs(value) > MOST_INTEGER:
        raise OverflowError
    return value


def _closing(word: str, at: int, opened: str, closed: str) -> int:
    """Return where the bracket at ``at`` closes; the end of the word if nowhere."""
    level = 0
    for place in range(at, len(word)):
        if word[place] == opened:
            level += 1
        elif word[place] == closed:
            level -= 1
            if level == 0:
                return place
    return len(word)


def _sum(symbols: list[int | str], at: int) -> tuple[int, int]:
    value, at = _product(symbols, at)
    while at < len(symbols) and symbols[at] in ("+", "-"):
        other, end = _product(symbols, at + 1)
        value = _bounded(value + other if symbols[at] == "+" else value - other)
        at = end
    return value, at


def _product(symbols: list[int | str], at: int) -> tuple[int, int]:
    value, at = _factor(symbols, at)
    while at < len(symbols) and symbols[at] in ("*", "/", "%"):
        other, end = _factor(symbols, at + 1)
        if symbols[at] == "*":
            value = _bounded(value * other)
        else:
            # The shell cuts towards zero, Python rounds down.
            quotient = abs(value) // abs(other) * (1 if (value < 0) == (other < 0) else -1)
            value = quotient if symbols[at] == "/" else value - quotient * other
        at = end
    return value, at


def _factor(symbols: list[int | str], at: int) -> tuple[int, int]:
    symbol = symbols[at]
    if symbol == "(":
        value, at = _sum(symbols, at + 1)
        if symbols[at] != ")":
            raise ValueError
        return value, at + 1
    if symbol in ("-", "+"):
        value, at = _factor(symbols, at + 1)
        return (-value if symbol == "-" else value), at
    if not isinstance(symbol, int):
        raise ValueError
    return symbol, at + 1
