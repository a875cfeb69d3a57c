"""Expand a shell word: variables, defaults, arithmetic. Nothing is ever run."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping

from steptime.inputs.errors import ConfigError
from steptime.readers.shell_arithmetic import value_of

UNSET, COMMAND, CLOSE, GAP = "\ue000", "\ue001", "\ue002", "\ue003"
"""Marks round what stays unknown: a variable that the script never sets, a command's output.
`GAP` stands for a command's own spaces, at which a word is not cut."""

MOST_LETTERS = 2_000_000
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_BRACED_NAME = re.compile(r"[A-Za-z_]\w*|[0-9]{1,3}|[@*#?$!-]")
_OPERATOR = re.compile(r":?[-=+?]")


def is_known(text: str) -> bool:
    """Return whether nothing in ``text`` stayed unknown."""
    return UNSET not in text and COMMAND not in text


def readable(text: str) -> str:
    """Return ``text`` with its marks turned back into shell."""
    text = re.sub(f"{UNSET}([^{CLOSE}]*){CLOSE}", r"${\1}", text)
    return re.sub(f"{COMMAND}([^{CLOSE}]*){CLOSE}", r"$(\1)", text).replace(GAP, " ")


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
        for place, word in enumerate(self.scalars.pop("@", "").split()[:999], 1):
            self.scalars.setdefault(str(place), word)

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

    def document(self, body: str) -> str:
        """Return a here-document with its variables put in.

        Args:
            body: Its text.
        """
        # Quotes are plain letters there.
        kept = body.replace("\\", "\\\\").replace('"', '\\"').replace("'", "\\'")
        return self.text(kept)

    def arguments(self) -> list[str]:
        """Return the arguments of the script that are given, in order."""
        found: list[str] = []
        while (value := self.scalars.get(str(len(found) + 1))) is not None:
            found.append(value)
        return found

    def shift(self, count: str) -> None:
        """Drop the first arguments.

        Args:
            count: How many, as the script writes it.
        """
        by = int(count[:4]) if count.isdigit() else 1
        left = self.arguments()[by:]
        for place in [name for name in self.scalars if name.isdigit() and name != "0"]:
            del self.scalars[place]
        self.scalars.update({str(place): word for place, word in enumerate(left, 1)})

    def spend(self, text: str) -> str:
        """Return the text, and count its letters against the most that a script may make.

        Args:
            text: What a word became.

        Raises:
            ConfigError: If the script has made too many.
        """
        return self._spend(text)

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
        if name in ("@", "*"):
            return self._spend(" ".join(self.arguments()))
        return str(len(self.arguments())) if name == "#" else f"{UNSET}{name}{CLOSE}"

    def _braced(self, inner: str, depth: int) -> str | list[str]:
        """Return ``${...}``: a variable, an array, or a default."""
        name = _BRACED_NAME.match(inner)
        if name is None:
            return _output(inner)
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
            return _output(inner)
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
        return _output(" ".join(words))

    def _arithmetic(self, inner: str, depth: int) -> str:
        """Return the value of an expression, or the mark of an unknown."""
        text = self._joined(inner, depth + 1) if "$" in inner else inner
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
    return _output(readable(text))


def _output(command: str) -> str:
    """Return what stands for a command's output, as one word."""
    return f"{COMMAND}{GAP.join(command[:40].split())}{CLOSE}"


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
