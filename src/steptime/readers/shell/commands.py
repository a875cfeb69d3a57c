"""Follow the simple commands of a script: assignments, tests, and what a shell does itself."""

from __future__ import annotations

import re

from steptime.inputs.errors import ConfigError
from steptime.readers.shell.builtins import next_option, read_into
from steptime.readers.shell.condition import holds, waits_for
from steptime.readers.shell.launchers import nodes_of
from steptime.readers.shell.marks import is_known, readable
from steptime.readers.shell.script import Command, before_redirection, filled
from steptime.readers.shell.source import MOST_SOURCED, SOURCES, text_behind
from steptime.readers.shell.state import State
from steptime.readers.shell.words import Lexer, Token

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[([^\]]{1,200})\])?(\+?)=", re.ASCII)
_DECLARE = ("export", "declare", "local", "readonly", "typeset")
_LOCAL = ("declare", "local", "typeset")
_OUTPUT = re.compile(r"\$\((?!\()|`")
_BRACKETS = ("[", "[[", "]", "]]")
_TELLING = ("echo", "printf")
_TRUTHS = {"true": True, ":": True, "false": False}
_JUMPS = ("break", "continue", "return")
_DEEPEST = 4
"""How many times the text of one command may hold another: eval, bash -c."""
_MOST_TEXTS = 200


class Commands(State):
    """Follows commands; blocks and loops stand above."""

    def call(self, line: int, words: list[str]) -> None:
        """Follow a function of the script."""
        raise NotImplementedError

    def sum(self, token: Token) -> None:
        """Follow ``((...))``."""
        if not self.on or (self.join and self.skips()):
            return
        self.expander.line = token.line
        self._wait_for(self.expander.text(token.text) if "$" in token.text else "")
        value = self.expander.sum(token.text)
        self._ended(None if value is None else value != 0)

    def command(self, tokens: list[Token]) -> None:
        """Follow assignments, tests and commands."""
        if not self.on or self._is_cut_off(tokens[0]) or self._is_passed(tokens):
            return
        words: list[str] = []
        self.separators = ""
        declares, rest = "", tokens[:0]
        self.expander.line = tokens[0].line
        self.step(sum(len(one.text) for one in tokens) // 64 if self.nested else 0, tokens[0].line)
        for place, token in enumerate(tokens):
            if token.kind == "mark" and tokens[0].text == "[[":
                words.append(token.text)
            elif token.kind == "mark":
                # A redirection's target is no argument.
                rest = tokens[place:]
                self._written(rest)
                break
            elif token.kind == "array" or (not words and _ASSIGNMENT.match(token.text)):
                self._set(token, is_local=declares in _LOCAL)
            elif not words and token.text in _DECLARE:
                declares = token.text
            elif declares:
                self._declared(token, is_local=declares in _LOCAL)
            else:
                words.extend(self.expander.fields(token.text))
        self._ends_with(tokens, words, rest)

    def _ends_with(self, tokens: list[Token], words: list[str], rest: list[Token]) -> None:
        """Follow a command behind its assignments, and keep how it ends."""
        if not words:
            # An assignment ends well, but for what a command in it does.
            unsure = any(_OUTPUT.search(one.text) for one in tokens)
            self._ended(None if unsure else True, presumed=unsure)
        elif words[0] in ("[", "[[", "test"):
            self._wait_for(*words)
            start = int(words[0] == "test")
            self._ended(holds([word for word in words[start:] if word not in _BRACKETS])[0])
        else:
            self._simple(tokens[0].line, words, rest)

    def _set(self, token: Token, *, is_local: bool) -> None:
        """Follow one assignment."""
        match = None if token.kind == "array" else _ASSIGNMENT.match(token.text)
        name = token.text.rstrip("+=") if match is None else match[1]
        if is_local:
            self.keep_local(name)
        if name == "IFS":
            self.separators = self.expander.text(token.text[4:]).strip()
        elif token.kind == "array":
            self.assign_array(token)
        elif match is not None and match[2] is not None:
            self.assign_at(name, match[2], token.text[match.end() :])
        elif match is not None:
            self.assign(name, match[3], token.text[match.end() :])

    def _declared(self, token: Token, *, is_local: bool) -> None:
        """Follow a word of ``export`` or ``local`` that is no assignment before it expands."""
        if token.text[:1] == "-":
            return
        for word in self.expander.fields(token.text) if "$" in token.text else [token.text]:
            name, equals, value = word.partition("=")
            if is_local:
                self.keep_local(name)
            if equals and not is_known(name):
                self.note(token.line, f"{readable(name)[:60]} is set, whatever that names")
            elif equals and name.isidentifier() and name not in self.given:
                self.expander.scalars[name] = value

    def _ended(self, truth: bool | None, *, presumed: bool = False) -> None:
        """Keep how a command ended; ``!`` before it turns that round."""
        self.truth = (not truth) if self.negated and truth is not None else truth
        self.presumed = presumed and not self.negated
        self.negated = False

    def _wait_for(self, *words: str) -> None:
        """Keep the arguments of the script that a condition depends on."""
        asks = waits_for(list(words))
        self.script.asks += [name for name in asks if name not in self.script.asks]

    def _is_cut_off(self, first: Token) -> bool:
        """Return whether a comment cuts flags off from the command that they are meant for."""
        commands = self.script.commands
        if not self.cut_at or first.text[:1] != "-" or not commands or commands[-1].words[0] == "-":
            self.cut_at = 0
            return False
        self.note(
            self.cut_at,
            f"a comment ends the command there, as a shell reads it; {first.text[:40]} and what "
            f"follows on line {first.line} is not part of it",
        )
        return True

    def _is_passed(self, tokens: list[Token]) -> bool:
        """Return whether ``&&`` or ``||`` keeps a command from being reached."""
        if not self.join or not self.skips():
            return False
        sets = tokens[0].kind == "array" or _ASSIGNMENT.match(tokens[0].text) is not None
        if self.truth is None and self.presumed and self.join == "&&" and not sets:
            # A command before the one that trains is taken to end well.
            return False
        if self.truth is None and (sets or any(one.text[:2] == "--" for one in tokens)):
            self.note(tokens[0].line, f"what stands behind {self.join} was not followed")
        return True

    def _body(self, number: str) -> str | None:
        if int(number) >= len(self.bodies):
            return None
        text, has_variables = self.bodies[int(number)]
        self.expander.spend(text)
        return self.expander.document(text) if has_variables else text

    def _written(self, tokens: list[Token]) -> None:
        """Keep the text that a here-document writes into a file."""
        numbers = [one.words[0] for one in tokens if one.kind == "mark" and one.words]
        places = [at for at, one in enumerate(tokens) if one.text in (">", ">>")]
        if not numbers or not places or places[0] + 1 >= len(tokens) or self.depth:
            return
        name = self.expander.text(tokens[places[0] + 1].text)
        body = self._body(numbers[0])
        if body is not None:
            self.script.files[readable(name)] = body

    def _taken_in(self, tokens: list[Token]) -> str | None:
        """Return the text that a command is given: a here-document, or a word; None for none."""
        for place, token in enumerate(tokens):
            if token.kind == "mark" and token.text in ("<<", "<<-") and token.words:
                return self._body(token.words[0])
            if token.kind == "mark" and token.text == "<<<" and place + 1 < len(tokens):
                return self.expander.text(tokens[place + 1].text)
        return None

    def _simple(self, line: int, words: list[str], rest: list[Token]) -> None:
        """Follow a command that is neither an assignment nor a test."""
        name = words[0]
        if name in self.functions:
            self.call(line, words)
            self._ended(self.truth, presumed=True)
            return
        self._ended(_TRUTHS.get(name), presumed=name not in _TRUTHS)
        if self._sets(words, rest):
            return
        if name in _JUMPS:
            self._jump(words)
        elif name == "exit":
            self._exit(line)
        elif name == "eval":
            self._within(line, " ".join(words[1:]))
        elif name in SOURCES and len(words) > 1:
            self._source(line, words[1])
        elif (place := text_behind(words)) is not None:
            self._started(line, words, place)
        elif name not in _TELLING:
            self._reached(line, words)

    def _sets(self, words: list[str], rest: list[Token]) -> bool:
        """Follow a command that sets variables or arguments; return whether it is one."""
        name = words[0]
        if name == "shift":
            self._ended(self.expander.shift(words[1] if len(words) > 1 else "1"))
        elif name == "set":
            if "--" in words:
                self.expander.bind(words[words.index("--") + 1 :])
                self.expander.closed = True
        elif name == "read":
            text = self._taken_in(rest)
            for sign in self.separators[:9]:
                # A blank cuts as each of the separators that are set for it does.
                text = None if text is None else text.replace(sign, " ")
            self._ended(read_into(self.expander, self.given, words[1:], text))
        elif name == "getopts" and len(words) > 2:
            found, self.option = next_option(self.expander, words[1], words[2], self.option)
            self._ended(found)
        elif name == "unset":
            self.unset(words[1:])
        elif name == "let":
            for one in words[1:9]:
                self.expander.sum(one)
        else:
            return False
        return True

    def _jump(self, words: list[str]) -> None:
        """Leave a loop or a function, or go on with a loop's next round."""
        name = words[0]
        is_within = self.frames or self.depth if name == "return" else self.loops
        self.leaving = name if is_within else ""
        code = words[1] if len(words) > 1 else ""
        if name == "return":
            self.truth = (int(code[:6]) == 0) if code.isdigit() else self.truth
        else:
            self.left = max(1, min(self.loops, int(code[:3]))) if code.isdigit() else 1

    def _reached(self, line: int, words: list[str]) -> None:
        if not self.script.commands or self.script.commands[-1].words != words:
            self.script.commands.append(Command(line, words))

    def _exit(self, line: int) -> None:
        """Refuse a script that its arguments bring to its end."""
        if self.loops and self.started:
            raise self.refused(line, "with the arguments given the script stops here")

    def _started(self, line: int, words: list[str], place: int) -> None:
        """Follow the text that another shell is started with, on the nodes that start it."""
        self._reached(line, words[:place])
        if self.texts >= _MOST_TEXTS:
            return
        if place + 1 < len(words) and words[place + 1][:1] == "-":
            # As a shell does: "${NAME[@]}" in quotes is many words, and the first is the text.
            self.note(line, "the text for the inner shell ends at the first word of an array")
        outer = self.kept(line)
        self.expander.scalars.update(nodes_of(words[:place]))
        if place + 2 < len(words):
            self.expander.bind(words[place + 2 :])
        self._within(line, words[place])
        self.go_back(outer)

    def _source(self, line: int, word: str) -> None:
        """Follow a file that the script reads in, if it is here, on the line that says so."""
        self.files += 1
        few = self.files <= MOST_SOURCED and self.depth < _DEEPEST
        text = self.source_of(word) if few else None
        self._lexed(line, filled(text or ""))

    def _lexed(self, line: int, text: str) -> bool:
        """Follow a text, on the line where it is used; return whether it is a shell's."""
        lexer = Lexer(self.expander.spend(text), self.expander.name)
        try:
            found = lexer.tokens()
        except ConfigError:
            return False
        tokens = [Token(one.kind, one.text, line, one.words) for one in found]
        bodies, self.bodies = self.bodies, lexer.bodies
        truth = self.truth
        self.depth += 1
        self.apart(tokens, line)
        self.depth -= 1
        self.leaving = "" if self.leaving == "return" and not self.frames else self.leaving
        self.bodies, self.truth = bodies, truth
        return True

    def _within(self, line: int, text: str) -> None:
        """Follow the command that a text holds, on the line where the text is used."""
        self.texts += 1
        if self.depth >= _DEEPEST or self.texts > _MOST_TEXTS:
            return
        if not self._lexed(line, text):
            # What stayed unknown may have cut a quote or a bracket: its words are all there is,
            # less the backslashes that a second reading takes away.
            words = before_redirection(text.replace("\\", "").split())
            self.script.commands += [Command(line, words)] if words else []
