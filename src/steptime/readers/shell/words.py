"""Cut a shell script into tokens, without running anything."""

from __future__ import annotations

import re
from dataclasses import dataclass

from steptime.inputs.errors import ConfigError

_ARRAY = re.compile(r"[A-Za-z_]\w*\+?=\Z")
_CLOSING = {"(": ")", "{": "}"}
DEEPEST = 40
CUT = ("cut",)
_MOST_SUM, _MOST_UNCLOSED = 400, 200
"""Letters of a sum, and how often what looks like one may be none."""


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of a script.

    Attributes:
        kind: word, array (``NAME=(...)``), sum (``((...))``) or mark (an operator or a line's end).
        text: The word with its quotes, the array's ``NAME=``, the sum, or the operator.
        line: Where it starts.
        words: What an array holds; for a here-document, its number; CUT where a comment ends
            a line that a backslash would go on with.
    """

    kind: str
    text: str
    line: int
    words: tuple[str, ...] = ()


class Lexer:
    """Reads a script once, from front to back.

    Args:
        text: The script.
        name: What to call it in a refusal.
    """

    def __init__(self, text: str, name: str) -> None:
        # A backslash at a line's end joins lines; the mark keeps the count of lines.
        self.text = text.replace("\r\n", "\n").replace("\\\n", "\v")
        self.name, self.at, self.line = name, 0, 1
        self.unclosed = 0
        self.heredocs: list[str] = []
        # Each with whether its variables are put in.
        self.bodies: list[tuple[str, bool]] = []

    def tokens(self) -> list[Token]:
        """Return all tokens of the script."""
        found: list[Token] = []
        while (token := self._next()) is not None:
            found.append(token)
        return found

    def _step(self, count: int = 1) -> None:
        piece = self.text[self.at : self.at + count]
        self.line += piece.count("\n") + piece.count("\v")
        self.at += count

    def _next(self) -> Token | None:
        """Return the next token, or None at the end."""
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter in " \t\v":
                self._step()
            elif letter == "#":
                if self._comment():
                    self._skip_heredocs()
                    return Token("mark", "\n", self.line - 1, CUT)
            elif letter == "\n":
                line = self.line
                self._step()
                self._skip_heredocs()
                return Token("mark", "\n", line)
            elif letter in ";&|()<>":
                return self._operator()
            else:
                word = self._word()
                # The 2 of 2>&1 names a stream, it is no argument.
                if word.text.isdigit() and self.text[self.at : self.at + 1] in ("<", ">"):
                    continue
                return word
        return None

    def _comment(self) -> bool:
        """Step over a comment; return whether its line ends in a backslash, which joins nothing."""
        ends = [self.text.find(sign, self.at) for sign in "\n\v"]
        end = min((place for place in ends if place >= 0), default=len(self.text))
        self._step(end - self.at)
        is_joined = self.text[self.at : self.at + 1] == "\v"
        self._step(int(is_joined))
        return is_joined

    def _operator(self) -> Token:
        line = self.line
        if self.unclosed < _MOST_UNCLOSED and self.text.startswith("((", self.at):
            end = closing_place(self.text[self.at : self.at + _MOST_SUM], 0, "(", ")") + self.at
            if self.text[end - 1 : end + 1] == "))":
                inner = self.text[self.at + 2 : end - 1]
                self._step(end + 1 - self.at)
                return Token("sum", inner, line)
            self.unclosed += 1
        for text in ("<<<", "<<-", ";;", "&&", "||", "<<", ">>", ">&", "<&", "&>"):
            if self.text.startswith(text, self.at):
                self._step(len(text))
                if text in ("<<", "<<-"):
                    place = (str(len(self.bodies) + len(self.heredocs)),)
                    self._step(len(self.text[self.at :]) - len(self.text[self.at :].lstrip(" \t")))
                    word = self._word().text
                    self.heredocs.append(word)
                    return Token("mark", text, line, place)
                return Token("mark", text, line)
        text = self.text[self.at]
        self._step()
        return Token("mark", text, line)

    def _skip_heredocs(self) -> None:
        """Keep the bodies of here-documents that this line opened, and go on behind them."""
        for end in self.heredocs:
            start = self.at
            while self.at < len(self.text):
                stop = self.text.find("\n", self.at)
                stop = len(self.text) if stop < 0 else stop
                body = self.text[self.at : stop]
                self._step(stop - self.at + 1)
                if body.strip() == end.strip("'\"\\"):
                    break
            body = self.text[start : self.at].rpartition(end.strip("'\"\\"))[0]
            self.bodies.append((body, end[:1] not in ("'", '"', "\\")))
        self.heredocs.clear()

    def _word(self) -> Token:
        """Return the word that starts here; ``NAME=(`` starts an array."""
        start, line = self.at, self.line
        while self.at < len(self.text) and self.text[self.at] not in " \t\n\v;&|<>":
            letter = self.text[self.at]
            if letter == "(":
                if _ARRAY.match(self.text, start, self.at) and self.text[self.at - 1] == "=":
                    return self._array(self.text[start : self.at], line)
                break
            if letter == ")":
                break
            self._piece(0)
        if self.at == start:
            self._step()
        return Token("word", self.text[start : self.at], line)

    def _array(self, name: str, line: int) -> Token:
        """Return an array; its words may stand on many lines, with comments between."""
        self._step()
        words: list[str] = []
        while (token := self._next()) is not None:
            if token.kind == "mark" and token.text == ")":
                return Token("array", name, line, tuple(words))
            if token.kind == "word":
                words.append(token.text)
        raise ConfigError(f"{self.name}:{line}: {name[:40]}( is never closed")

    def _piece(self, depth: int) -> None:
        """Step over one letter, or over one quoted or bracketed piece."""
        if depth > DEEPEST:
            raise ConfigError(f"{self.name}:{self.line}: nested over {DEEPEST} deep")
        letter = self.text[self.at]
        if letter == "\\":
            self._step(2)
        elif letter == "'":
            self._until("'", depth, plain=True)
        elif letter in '"`':
            self._until(letter, depth, plain=False)
        elif letter == "$" and self.text[self.at + 1 : self.at + 2] in _CLOSING:
            opened = self.text[self.at + 1]
            self._step()
            self._until(_CLOSING[opened], depth, plain=False, opened=opened)
        else:
            self._step()

    def _until(self, end: str, depth: int, *, plain: bool, opened: str = "") -> None:
        """Step to behind ``end``, over quotes and brackets within."""
        line = self.line
        self._step()
        level = 0
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter == end and level == 0:
                self._step()
                return
            if plain:
                stop = self.text.find(end, self.at)
                if stop < 0:
                    break
                self._step(stop - self.at)
            elif opened and letter in (opened, end):
                level += 1 if letter == opened else -1
                self._step()
            elif end == '"' and letter == "'":
                self._step()
            else:
                self._piece(depth + 1)
        raise ConfigError(f"{self.name}:{line}: {opened or end} is never closed")


def closing_place(word: str, at: int, opened: str, closed: str) -> int:
    """Return where a bracket closes; the end of the word if nowhere.

    Args:
        word: The text.
        at: Where it opens.
        opened: Its sign.
        closed: The sign that closes it.
    """
    level = 0
    for place in range(at, len(word)):
        if word[place] == opened:
            level += 1
        elif word[place] == closed:
            level -= 1
            if level == 0:
                return place
    return len(word)
