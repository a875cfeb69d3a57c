"""Follow a launch script as a shell would, as far as its arguments need: nothing runs.

Assignments, arrays, defaults, ``if`` and ``case`` on known values are followed. What
depends on the machine stays unknown, and is asked for if it matters.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass

from steptime.inputs.errors import ConfigError
from steptime.readers.shell_expand import Expander, is_known, readable
from steptime.readers.shell_script import Command, Script, before_redirection, filled
from steptime.readers.shell_source import MOST_SOURCED, SOURCES, SourceOf, text_behind
from steptime.readers.shell_test import holds
from steptime.readers.shell_words import Lexer, Token

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=", re.ASCII)
_DECLARE = ("export", "declare", "local", "readonly", "typeset")
_ENDS = ("\n", ";", "&&", "||", "|", "&", ";;")
_BRACKETS = ("[", "[[", "]", "]]")
_TELLING = ("echo", "printf")
_DEEPEST = 4
"""How many times the text of one command may hold another: eval, bash -c."""
_MOST_TEXTS = 200


@dataclass(slots=True)
class _Block:
    """An ``if``, ``case``, ``for`` or ``while`` that is open."""

    kind: str
    outer: bool
    taken: bool = False
    subject: str = ""
    line: int = 0


def followed(
    text: str, name: str, given: Mapping[str, str], source_of: SourceOf = lambda word: None
) -> Script:
    """Return what a script amounts to.

    Args:
        text: The script.
        name: What to call it in a refusal.
        given: Variables that the user sets; a number names an argument by its position, and
            ``@`` all of them.
        source_of: What gives the text of a file that it reads in.

    Raises:
        ConfigError: If a quote or a bracket is never closed, or variables grow without end.
    """
    runner = _Runner(name, given, source_of)
    lexer = Lexer(text, name)
    tokens = lexer.tokens()
    runner.bodies = lexer.bodies
    runner.run(tokens)
    script = runner.script
    script.variables = dict(runner.expander.scalars)
    script.arrays = runner.expander.arrays
    return script


class _Runner:
    """Walks over the tokens; ``blocks`` holds what is open, ``on`` whether this part runs."""

    def __init__(self, name: str, given: Mapping[str, str], source_of: SourceOf) -> None:
        self.expander = Expander(given, name)
        self.given = set(given)
        self.script = Script()
        self.blocks: list[_Block] = []
        self.on = True
        self.truth: bool | None = None
        self.join = ""
        self.depth = self.texts = self.files = 0
        self.source_of = source_of
        self.bodies: list[str] = []

    def run(self, tokens: list[Token]) -> None:
        """Follow all tokens."""
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.kind == "mark":
                self._mark(token)
                at += 1
                continue
            end = at
            while end < len(tokens) and not (
                tokens[end].kind == "mark" and tokens[end].text in (*_ENDS, "(", ")")
            ):
                end += 1
            end = self._statement(tokens, at, end)
            at = max(end, at + 1)

    def _mark(self, token: Token) -> None:
        if token.text == ";;" and self.blocks and self.blocks[-1].kind == "case":
            self.on = False
        self.join = token.text if token.text in ("&&", "||") else ""

    def _statement(self, tokens: list[Token], at: int, end: int) -> int:
        """Follow one command or keyword; return where to go on."""
        word = tokens[at].text if tokens[at].kind == "word" else ""
        block = self.blocks[-1] if self.blocks else None
        if block and block.kind == "case" and not self.on and word != "esac":
            return self._pattern(tokens, at, block)
        if word in ("if", "while", "until"):
            self.blocks.append(_Block(word, self.on, line=tokens[at].line))
            self.truth, self.join = None, ""
            return at + 1
        if word == "elif" and block:
            self.on, self.truth, self.join = block.outer and not block.taken, None, ""
            return at + 1
        if word in ("then", "do") and block:
            self._open(block)
            return at + 1
        if word == "else" and block:
            self.on = block.outer and not block.taken
            return at + 1
        if word in ("fi", "done", "esac") and block:
            self.on = self.blocks.pop().outer
            return at + 1
        if word == "for":
            return self._for(tokens, at, end)
        if word == "case" and at + 1 < len(tokens):
            subject = self.expander.text(tokens[at + 1].text)
            self.blocks.append(_Block("case", self.on, subject=subject, line=tokens[at].line))
            self.on = False
            return min(at + 3, len(tokens))
        if word in ("{", "}", "!", "time", "function"):
            return at + 1
        self._command(tokens[at:end])
        return end

    def _open(self, block: _Block) -> None:
        """Enter the body of an ``if`` or a loop, if its condition allows."""
        if block.kind == "if":
            if self.truth is None and self.on:
                self.script.notes.append(f"line {block.line}: a branch was not followed")
            self.on = self.on and self.truth is True
            block.taken = block.taken or self.on
        elif block.kind in ("while", "until"):
            self.on = False

    def _for(self, tokens: list[Token], at: int, end: int) -> int:
        """Enter a loop's body once, with its first value."""
        words = [token.text for token in tokens[at + 1 : end] if token.kind == "word"]
        self.blocks.append(_Block("for", self.on, line=tokens[at].line))
        if self.on and len(words) > 2 and words[1] == "in":
            values = self.expander.fields(words[2])
            self.expander.scalars[words[0]] = values[0] if values else ""
            if len(words) > 3 or len(values) > 1:
                self.script.notes.append(f"line {tokens[at].line}: a loop's first value was taken")
        return end

    def _pattern(self, tokens: list[Token], at: int, block: _Block) -> int:
        """Enter a case's branch if its pattern fits; else go to its end."""
        patterns = []
        while at < len(tokens) and not (tokens[at].kind == "mark" and tokens[at].text == ")"):
            if tokens[at].kind == "word":
                patterns.append(self.expander.text(tokens[at].text))
            at += 1
        fits = is_known(block.subject) and any(
            fnmatch.fnmatchcase(block.subject[:200], pattern[:60]) for pattern in patterns
        )
        if fits and block.outer and not block.taken:
            block.taken = self.on = True
            return at + 1
        while at < len(tokens) and tokens[at].text not in (";;", "esac"):
            at += 1
        return at

    def _command(self, tokens: list[Token]) -> None:
        """Follow assignments, tests and commands."""
        skip = (self.join == "&&" and self.truth is not True) or (
            self.join == "||" and self.truth is not False
        )
        if not self.on or (skip and self.join):
            return
        words: list[str] = []
        declares = False
        self.expander.line = tokens[0].line
        for place, token in enumerate(tokens):
            if token.kind == "array":
                self._array(token)
                continue
            if token.kind == "mark":
                # A redirection's target is no argument.
                self._written(tokens[place:])
                break
            if not words and token.text in _DECLARE:
                declares = True
                continue
            match = _ASSIGNMENT.match(token.text)
            if match and not words:
                self._assign(match[1], match[2], token.text[match.end() :])
                continue
            if declares or (place == 0 and token.text == "set"):
                continue
            words.extend(self.expander.fields(token.text))
        if not words:
            return
        if words[0] in ("[", "[[", "test"):
            self.truth, asks = holds([word for word in words if word not in _BRACKETS])
            self.script.asks += [name for name in asks if name not in self.script.asks]
        else:
            self.truth = {"true": True, "false": False}.get(words[0])
            self._simple(tokens[0].line, words)

    def _written(self, tokens: list[Token]) -> None:
        """Keep the text that a here-document writes into a file."""
        numbers = [one.words[0] for one in tokens if one.kind == "mark" and one.words]
        places = [at for at, one in enumerate(tokens) if one.text in (">", ">>")]
        if not numbers or not places or places[0] + 1 >= len(tokens) or self.depth:
            return
        name = self.expander.text(tokens[places[0] + 1].text)
        if int(numbers[0]) < len(self.bodies):
            body = self.expander.spend(self.bodies[int(numbers[0])])
            self.script.files[readable(name)] = self.expander.document(body)

    def _simple(self, line: int, words: list[str]) -> None:
        """Follow a command that is neither an assignment nor a test."""
        if words[0] == "shift":
            self.expander.shift(words[1] if len(words) > 1 else "1")
        elif words[0] == "eval":
            self._within(line, " ".join(words[1:]))
        elif words[0] in SOURCES and len(words) > 1:
            self._source(line, words[1])
        elif (place := text_behind(words)) is not None:
            self._within(line, words[place])
        elif words[0] not in _TELLING:
            self.script.commands.append(Command(line, words))

    def _source(self, line: int, word: str) -> None:
        """Follow a file that the script reads in, if it is here, on the line that says so."""
        self.files += 1
        few = self.files <= MOST_SOURCED and self.depth < _DEEPEST
        text = self.source_of(word) if few else None
        lexer = Lexer(self.expander.spend(filled(text or "")), self.expander.name)
        try:
            tokens = lexer.tokens()
        except ConfigError:
            return
        bodies, self.bodies = self.bodies, lexer.bodies
        self._inside(line, tokens)
        self.bodies = bodies

    def _within(self, line: int, text: str) -> None:
        """Follow the command that a text holds, on the line where the text is used."""
        self.texts += 1
        if self.depth >= _DEEPEST or self.texts > _MOST_TEXTS:
            return
        try:
            found = Lexer(self.expander.spend(text), self.expander.name).tokens()
        except ConfigError:
            # What stayed unknown may have cut a quote or a bracket: its words are all there is,
            # less the backslashes that a second reading takes away.
            words = before_redirection(text.replace("\\", "").split())
            self.script.commands += [Command(line, words)] if words else []
            return
        self._inside(line, found)

    def _inside(self, line: int, found: list[Token]) -> None:
        """Follow tokens of another text, on the line where it is used."""
        self.depth += 1
        tokens = [Token(one.kind, one.text, line, one.words) for one in found]
        outer = self.blocks, self.on, self.truth, self.join
        self.blocks, self.join = [], ""
        self.run(tokens)
        self.blocks, self.on, self.truth, self.join = outer
        self.depth -= 1

    def _assign(self, name: str, append: str, word: str) -> None:
        value = self.expander.text(word)
        if append:
            value = self.expander.scalars.get(name, "") + value
        # What the user sets stands for the environment and for the last word on it.
        if name not in self.given:
            self.expander.scalars[name] = value
            self.expander.arrays.pop(name, None)

    def _array(self, token: Token) -> None:
        append = token.text.endswith("+=")
        name = token.text[: -2 if append else -1]
        values = [value for word in token.words for value in self.expander.fields(word)]
        self.expander.arrays[name] = (
            [*self.expander.arrays.get(name, []), *values] if append else values
        )
        self.expander.scalars.pop(name, None)
