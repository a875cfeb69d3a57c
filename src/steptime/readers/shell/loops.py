"""Follow loops and functions of a script, as often as a constant allows."""

from __future__ import annotations

import re

from steptime.readers.shell.blocks import ENDS, definition, is_mark, loop
from steptime.readers.shell.commands import Commands
from steptime.readers.shell.marks import is_known
from steptime.readers.shell.outputs import spaced
from steptime.readers.shell.state import MOST_NESTED, Function
from steptime.readers.shell.words import Token

_MOST_ROUNDS = 256
MOST_LINES = 1000
_SPACED = re.compile(r"\{(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?\}\Z")
_CHOICE = re.compile(r"([\w.-]{0,60})\{([\w.-]{0,60}(?:,[\w.-]{0,60}){1,60})\}([\w.-]{0,60})\Z")
_ARGUMENTS = re.compile(r"\$\{?[1-9#@*]|shift\Z|getopts\Z")
"""What reads arguments of a script, or of a function."""


class Loops(Commands):
    """Follows loops and calls; what stands in them is followed below."""

    def define(self, tokens: list[Token], at: int) -> int | None:
        """Keep a function that is defined here and return where to go on; None for none."""
        found = definition(tokens, at)
        if found is None:
            return None
        name, start, end = found
        if self.on:
            self.functions[name] = Function(tokens[start:end], self.bodies, tokens[at].line)
        return end + 1

    def call(self, line: int, words: list[str]) -> None:
        """Follow a function of the script with the words that it is called with.

        Raises:
            ConfigError: If functions call each other too deep.
        """
        function = self.functions[words[0]]
        self.called.add(words[0])
        if len(self.frames) >= MOST_NESTED // 2:
            raise self.refused(line, f"{words[0]}() calls itself, which is not followed")
        outer = self.bodies, self.loops, self.expander.closed, self.option
        former = self.expander.bind(words[1:])
        self.bodies, self.expander.closed, self.option = function.bodies, True, (1, 1)
        self.frames.append({})
        self.truth = True
        self.apart(function.tokens, line)
        self.put_back()
        self.leaving = "" if self.leaving == "return" else self.leaving
        self.bodies, self.loops, self.expander.closed, self.option = outer
        self.expander.bind(former)

    def repeat(self, tokens: list[Token], at: int) -> int:
        """Follow a loop, and return where to go on."""
        do, done = loop(tokens, at)
        if not self.on or (self.join and self.skips()):
            self.step(done - at, tokens[at].line)
            return done + 1
        kind, line = tokens[at].text, tokens[at].line
        head, body = tokens[at + 1 : do], tokens[do + 1 : done]
        self.join = ""
        self.loops += 1
        if kind in ("while", "until"):
            outer, self.lines = self.lines, self._lines_for(head, tokens, done + 1)
            self._while(head, body, line, until=kind == "until")
            self.lines = outer
        elif head and head[0].kind == "sum":
            self._counting(head[0].text.split(";"), body, line)
        else:
            self._each(head, body, line)
        self.loops -= 1
        return done + 1

    def _lines_for(self, head: list[Token], tokens: list[Token], at: int) -> list[str] | None:
        """Return the lines that a loop over ``read`` is given behind its end; None if not known."""
        end = at
        while end < len(tokens) and not is_mark(tokens, end, *ENDS):
            end += 1
        is_read = any(one.text == "read" for one in head)
        text = self.taken_in(tokens[at:end]) if is_read and end > at else None
        return text.splitlines()[:MOST_LINES] if text and is_known(text) else None

    def _round(self, body: list[Token], line: int) -> tuple[bool, bool]:
        """Follow a loop's body once; return whether it ends the loop, and whether it launches."""
        before = len(self.script.commands)
        self.apart(body, line)
        ends = self.leaving == "return" or self.left > 0
        if self.leaving == "break":
            # What leaves, or goes on with, a loop further out.
            self.left -= 1
            self.leaving = "break" if self.left > 0 else ""
        elif self.leaving == "continue":
            self.left -= 1
            ends = self.left > 0
            self.leaving = "continue" if ends else ""
        reached = self.script.commands[before:]
        sure = (word for one in reached if not one.unsure for word in one.words)
        launches = any(word[:2] == "--" or "=" in word for word in sure)
        return ends, launches

    def _perhaps_round(self, body: list[Token], line: int) -> None:
        """Follow once the body of a loop of which nobody knows whether it is entered."""
        former = self.perhaps(line, self.condition)
        self._round(body, line)
        self.leaving, self.left = "", 0
        self.surely(former)

    def _each(self, head: list[Token], body: list[Token], line: int) -> None:
        """Follow a loop over words; one that launches, with its first value alone."""
        words = [token.text for token in head if token.kind == "word"]
        if not words:
            return
        self.expander.line = line
        values: list[str] = []
        for word in words[2:]:
            values += _listed(word) or self.expander.fields(word)
            if len(values) > _MOST_ROUNDS:
                break
        if words[1:2] != ["in"]:
            values = self.expander.arguments()
        if words[0] in self.given:
            values = [self.expander.scalars[words[0]]]
        for place, value in enumerate(values[:_MOST_ROUNDS]):
            self.expander.scalars[words[0]] = self.expander.spend(value)
            ends, launches = self._round(body, line)
            if launches and place == 0 and len(values) > 1:
                self.note(line, "a loop's first value was taken")
            if ends or launches:
                return
        if len(values) > _MOST_ROUNDS:
            self.note(line, f"a loop's first {_MOST_ROUNDS} values were taken")

    def _counting(self, parts: list[str], body: list[Token], line: int) -> None:
        """Follow ``for ((start; condition; step))``."""
        if len(parts) != 3:
            return
        self.expander.sum(parts[0])
        for place in range(_MOST_ROUNDS):
            value = self.expander.sum(parts[1]) if parts[1].strip() else 1
            if not value:
                if value is None:
                    self.note(line, "a loop was not followed")
                return
            ends, launches = self._round(body, line)
            if launches and not ends:
                self.note(line, "a loop's first value was taken" if not place else "a loop was cut")
            if ends or launches:
                return
            self.expander.sum(parts[2])
        self.note(line, f"a loop was followed for {_MOST_ROUNDS} rounds")

    def _while(self, head: list[Token], body: list[Token], line: int, *, until: bool) -> None:
        """Follow a loop for as long as its condition is known to hold."""
        reads = any(_ARGUMENTS.search(one.text) for one in (*head, *body))
        has_words = self.started or any(is_known(one) for one in self.expander.arguments())
        former = self.kept(line)
        for place in range(_MOST_ROUNDS):
            self.truth = None
            self.apart(head, line)
            if self.truth is None:
                if not place:
                    self._perhaps_round(body, line)
                break
            if self.truth is until:
                if reads and not (has_words or place):
                    self.note(line, "a loop reads the script's arguments; none are given")
                return
            ends, launches = self._round(body, line)
            if launches and self.lines:
                self.note(line, "a loop's first line that starts something was taken")
            if ends or launches:
                return
        if reads and has_words and not self.unsure:
            raise self.refused(
                line,
                "arguments given are not used because the loop there is not followed; "
                "set what it would with --set NAME=VALUE",
            )
        # Left as it was: how often it goes round is not known.
        self.go_back(former)
        self.note(line, "a loop was not followed")


def _listed(word: str) -> list[str] | None:
    """Return the words of ``{1..8}`` or ``a{b,c}``; None for another word."""
    choice = _CHOICE.match(word)
    if choice is not None:
        return [f"{choice[1]}{one}{choice[3]}" for one in choice[2].split(",")]
    found = _SPACED.match(word)
    if found is None:
        return None
    first, last = int(found[1]), int(found[2])
    step = abs(int(found[3] or 1))
    listed = spaced(first, last, step if last >= first else -step)
    # A zero in front keeps numbers as wide as they are written.
    is_wide = any(one.lstrip("-")[:1] == "0" and one.strip("-0") for one in (found[1], found[2]))
    width = max(len(found[1]), len(found[2])) if is_wide else 0
    return listed and [one.zfill(width) for one in listed]
