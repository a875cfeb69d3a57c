"""Follow the simple commands of a script: assignments, tests, and what a shell does itself."""

from __future__ import annotations

import re

from steptime.inputs.errors import ConfigError
from steptime.readers.shell.condition import finds, holds, waits_for
from steptime.readers.shell.launchers import nodes_of
from steptime.readers.shell.marks import is_known
from steptime.readers.shell.script import Command, before_redirection, filled
from steptime.readers.shell.setting import ASSIGNMENT, Setting
from steptime.readers.shell.source import MOST_SOURCED, SOURCES, text_behind
from steptime.readers.shell.words import Lexer, Token

_DECLARE = ("export", "declare", "local", "readonly", "typeset")
_LOCAL = ("declare", "local", "typeset")
_OUTPUT = re.compile(r"\$\((?!\()|`")
_BRACKETS = ("[", "[[", "]", "]]")
_TELLING = ("echo", "printf")
_TRUTHS = {"true": True, ":": True, "false": False}
_QUIET = ("-q", "-qE", "-Eq", "-qF", "-Fq", "-E", "-F", "-e", "--", "--quiet")
_JUMPS = ("break", "continue", "return")
_DEEPEST = 4
"""How many times the text of one command may hold another: eval, bash -c."""
_MOST_TEXTS = 200


class Commands(Setting):
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
        self.undecided([token.text])
        self.ended(None if value is None else value != 0)

    def command(self, tokens: list[Token]) -> None:
        """Follow assignments, tests and commands."""
        if not self.on or self._is_cut_off(tokens[0]) or self._is_passed():
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
                self.written(rest)
                break
            elif token.kind == "array" or (not words and ASSIGNMENT.match(token.text)):
                self.set_by(token, is_local=declares in _LOCAL)
            elif not words and token.text in _DECLARE:
                declares = token.text
            elif declares:
                self.declared(token, is_local=declares in _LOCAL)
            else:
                words.extend(self.expander.fields(token.text))
        self._ends_with(tokens, words, rest)

    def _ends_with(self, tokens: list[Token], words: list[str], rest: list[Token]) -> None:
        """Follow a command behind its assignments, and keep how it ends."""
        if not words:
            # An assignment ends well, but for what a command in it does.
            unsure = any(_OUTPUT.search(one.text) for one in tokens)
            self.ended(None if unsure else True, presumed=unsure)
        elif words[0] in ("[", "[[", "test"):
            self._wait_for(*words)
            self.undecided(words)
            words = self._told_set(words)
            start = int(words[0] == "test")
            self.ended(holds([word for word in words[start:] if word not in _BRACKETS])[0])
        else:
            self._simple(tokens[0].line, words, rest)

    def _told_set(self, words: list[str]) -> list[str]:
        """Return the words of a test with ``-v NAME`` told: -n of a word, or of none."""
        told = list(words)
        for place, word in enumerate(words[:-1]):
            name = words[place + 1]
            if word == "-v" and is_known(name) and not name.isdigit():
                told[place : place + 2] = ["-n", "set" if self.expander.has(name) else ""]
        return told

    def _wait_for(self, *words: str) -> None:
        """Keep the arguments of the script that a condition depends on."""
        found = waits_for(list(words))
        self.waits = bool(found)
        asks = [] if self.unsure else found
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

    def _is_passed(self) -> bool:
        """Return whether ``&&`` or ``||`` keeps a command from being reached."""
        return bool(self.join) and self.skips()

    def _simple(self, line: int, words: list[str], rest: list[Token]) -> None:
        """Follow a command that is neither an assignment nor a test."""
        name = words[0]
        if name in self.functions:
            self.call(line, words)
            self.ended(self.truth, presumed=True)
            return
        self.undecided(words)
        self.waits = False
        self.printed = " ".join(words[1:]) if name == "echo" else None
        truth = self._finds(words, rest) if name == "grep" else _TRUTHS.get(name)
        self.ended(truth, presumed=truth is None)
        if self.sets(words, rest):
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

    def _finds(self, words: list[str], rest: list[Token]) -> bool | None:
        """Return whether ``grep`` finds a plain pattern in a text that the script itself gives."""
        text = self.piped if self.piped is not None else self.taken_in(rest)
        plain = [word for word in words[1:] if word[:1] != "-"]
        behind = words[words.index("--") + 1 :] if "--" in words else plain
        if text is None or len(behind) != 1 or not is_known(text + behind[0]):
            return None
        quiet = all(word in _QUIET for word in words[1:] if word[:1] == "-" and word != behind[0])
        return finds(text, behind[0]) if quiet else None

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
        last = self.script.commands[-1] if self.script.commands else None
        if last is None or last.words != words:
            self.script.commands.append(Command(line, words, (self.unsure or [""])[0]))
        elif not self.unsure:
            last.line, last.unsure = line, ""

    def _exit(self, line: int) -> None:
        """Refuse a script that its arguments bring to its end."""
        if self.loops and self.started and not self.unsure:
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
            if words:
                self._reached(line, words)
