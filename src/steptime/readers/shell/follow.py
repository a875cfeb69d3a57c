"""Follow a launch script as a shell would, as far as its arguments need: nothing runs.

Assignments, arrays, defaults, functions, loops, ``if`` and ``case`` on known values are
followed. What depends on the machine stays unknown, and is asked for if it matters.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping

from steptime.readers.shell.blocks import ENDS, branch_end, closing, is_mark, statement_end
from steptime.readers.shell.condition import waits_for
from steptime.readers.shell.loops import Loops
from steptime.readers.shell.marks import is_known, readable
from steptime.readers.shell.script import Script
from steptime.readers.shell.setting import ASSIGNMENT
from steptime.readers.shell.source import SourceOf
from steptime.readers.shell.state import Block
from steptime.readers.shell.undecided import settle
from steptime.readers.shell.words import CUT, Lexer, Token


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
        ConfigError: If a quote or a bracket is never closed, variables grow without end, or a
            loop or a call that is given arguments cannot be followed.
    """
    runner = _Runner(name, given, source_of)
    lexer = Lexer(text, name)
    tokens = lexer.tokens()
    runner.bodies = lexer.bodies
    runner.run(tokens)
    script = runner.script
    script.variables = dict(runner.expander.scalars)
    script.arrays = runner.expander.arrays
    for function, found in runner.functions.items():
        launches = any(one.text[:2] == "--" for one in found.tokens)
        if function not in runner.called and launches:
            what = f"{function[:60]}() is never called, as far as is followed"
            script.uncalled.append(f"line {found.line}: {what}")
    return script


_BEFORE = ("!", "time", "then", "do", "else", "elif", "fi", "done", "esac", "}")
"""Words that stand before a command, or end what it stands in."""
_STARTS_NOTHING = ("exit", "return", "break", "continue", "echo", "printf", "true", ":", "false")


class _Runner(Loops):
    """Walks over the tokens; ``blocks`` holds what is open, ``on`` whether this part runs."""

    def run(self, tokens: list[Token]) -> None:
        """Follow all tokens, up to where a body is left."""
        at = 0
        while at < len(tokens) and not self.leaving:
            start, token = at, tokens[at]
            if self._is_open(token):
                at = self._perhaps(tokens, at)
            elif token.kind == "mark" and token.text == "(" and self.on:
                at = self._shell_within(tokens, at)
            elif token.kind == "mark":
                self._mark(token)
                at += 1
            elif token.text == "[[":
                at = self._test(tokens, at)
            else:
                at = max(self._statement(tokens, at), at + 1)
                # What turns or times a command stands between it and what joins it.
                self.join = self.join if token.text in ("!", "time") else ""
            self.stays()
            self.step(min(at, len(tokens)) - start, token.line)

    def _is_open(self, token: Token) -> bool:
        """Return whether nobody knows if ``&&`` or ``||`` leads to what stands here."""
        if not (self.on and self.join and self.truth is None) or token.text in _BEFORE:
            return False
        if token.kind == "mark" and token.text != "(":
            return False
        # What is set behind a command that is taken to end well stays open all the same.
        is_set = token.kind == "array" or ASSIGNMENT.match(token.text) is not None
        return not (self.presumed and self.join == "&&" and not is_set)

    def _perhaps(self, tokens: list[Token], at: int) -> int:
        """Follow what may run or not, and leave no trace but of what it starts."""
        end, join = statement_end(tokens, at), self.join
        found, line = tokens[at:end], tokens[at].line
        self.join = ""
        if any(one.kind == "array" or ASSIGNMENT.match(one.text) for one in found):
            self.note(line, f"what stands behind {join} was not followed")
        if found[0].text not in _STARTS_NOTHING:
            condition, presumed = self.condition, self.presumed
            waits, former = self.waits, self.perhaps(line, condition)
            self.apart(found, line)
            others = self.surely(former)
            settle(self.expander.scalars, {} if waits else others)
            self.waits = waits
            self.leaving, self.left, self.truth, self.negated = "", 0, None, False
            self.condition, self.presumed = condition, presumed
        return end

    def _shell_within(self, tokens: list[Token], at: int) -> int:
        """Follow ``( ... )``, which leaves what is set as it was; return where to go on."""
        end = closing(tokens, at, "(", ")")
        if not (self.join and self.skips()):
            former = self.kept(tokens[at].line)
            self.apart(tokens[at + 1 : end], tokens[at].line)
            self.leaving = ""
            self.go_back(former)
        self.join = ""
        return end + 1

    def _test(self, tokens: list[Token], at: int) -> int:
        """Follow ``[[ ... ]]``, in which operators join words; return where to go on."""
        end = at
        while end < len(tokens) and not (tokens[end].kind == "word" and tokens[end].text == "]]"):
            end += 1
        self.command(tokens[at : end + 1])
        self.join = ""
        return end + 1

    def _mark(self, token: Token) -> None:
        if token.text == ";;" and self.blocks and self.blocks[-1].kind == "case":
            self.close(self.blocks[-1])
            self.on = False
        if token.words == CUT:
            self.cut_at = token.line
        self.piped, self.printed = (self.printed if token.text == "|" else None), None
        # A line may end behind what joins two commands.
        if token.text != "\n" or not self.join:
            self.join = token.text if token.text in ("&&", "||") else ""

    def _statement(self, tokens: list[Token], at: int) -> int:
        """Follow one command or keyword; return where to go on."""
        word = tokens[at].text if tokens[at].kind == "word" else ""
        block = self.blocks[-1] if self.blocks else None
        if block and block.kind == "case" and not self.on and word != "esac":
            return self._pattern(tokens, at, block)
        if word in ("for", "while", "until", "select"):
            return self.repeat(tokens, at)
        if word in ("if", "elif", "then", "else", "fi", "esac"):
            return self._branch(word, tokens, at)
        if word == "case" and at + 1 < len(tokens):
            self.expander.line = tokens[at].line
            subject = self.expander.text(tokens[at + 1].text) if self.on else ""
            self.blocks.append(Block("case", self.on, subject=subject, line=tokens[at].line))
            self.on = False
            return min(at + 3, len(tokens))
        if word == "{" and self.on and self.join and self.skips():
            return closing(tokens, at, "{", "}") + 1
        if word in ("{", "}", "!", "time", "do", "done"):
            self.negated = self.negated != (word == "!")
            return at + 1
        if word and (place := self.define(tokens, at)) is not None:
            return place
        if tokens[at].kind == "sum":
            self.sum(tokens[at])
            return at + 1
        end = at
        while end < len(tokens) and not is_mark(tokens, end, *ENDS, "(", ")"):
            end += 1
        self.command(tokens[at:end])
        return end

    def _branch(self, word: str, tokens: list[Token], at: int) -> int:
        """Open, change or close an ``if``, or close a ``case``."""
        block = self.blocks[-1] if self.blocks else None
        if word == "if":
            self.blocks.append(Block(word, self.on, line=tokens[at].line))
            self.truth, self.join = None, ""
        elif block is None:
            return at + 1
        elif word != "then":
            self.close(block)
        if block is None or word == "if":
            return at + 1
        if word == "elif":
            self.on, self.truth, self.join = block.outer and not block.taken, None, ""
        elif word == "then" and block.kind == "if":
            is_taken = self.on and self.truth is True
            if self.truth is None and self.on:
                self.note(block.line, "a branch was not followed")
                block.former = self.perhaps(block.line, self.condition)
                block.waits = self.waits
            else:
                self.on = is_taken
            block.taken = block.taken or is_taken
        elif word == "else":
            self.on = block.outer and not block.taken
        elif word in ("fi", "esac"):
            self.leave(block)
            self.on = self.blocks.pop().outer
        return at + 1

    def _pattern(self, tokens: list[Token], at: int, block: Block) -> int:
        """Enter a case's branch if its pattern fits; else go to its end."""
        patterns = []
        while at < len(tokens) and not is_mark(tokens, at, ")"):
            if tokens[at].kind == "word" and block.outer:
                patterns.append(self.expander.text(tokens[at].text))
            at += 1
        fits = is_known(block.subject) and any(
            fnmatch.fnmatchcase(block.subject[:200], pattern[:60]) for pattern in patterns
        )
        if fits and block.outer and not block.taken:
            block.taken = self.on = True
            return at + 1
        if block.outer and not block.taken and not is_known(block.subject):
            block.former = self.perhaps(block.line, readable(block.subject)[:60])
            block.waits = bool(waits_for([block.subject]))
            self.on = True
            return at + 1
        return branch_end(tokens, at)
