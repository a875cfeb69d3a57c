"""Follow the commands of a script that set variables, arguments and texts of files."""

from __future__ import annotations

import re

from steptime.readers.shell.builtins import next_option, read_into
from steptime.readers.shell.marks import is_known, readable
from steptime.readers.shell.state import State
from steptime.readers.shell.words import Token

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[([^\]]{1,200})\])?(\+?)=", re.ASCII)


class Setting(State):
    """Follows what sets something; other commands stand above."""

    def set_by(self, token: Token, *, is_local: bool) -> None:
        """Follow one assignment."""
        match = None if token.kind == "array" else ASSIGNMENT.match(token.text)
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

    def declared(self, token: Token, *, is_local: bool) -> None:
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

    def _body(self, number: str) -> str | None:
        if int(number) >= len(self.bodies):
            return None
        text, has_variables = self.bodies[int(number)]
        self.expander.spend(text)
        return self.expander.document(text) if has_variables else text

    def written(self, tokens: list[Token]) -> None:
        """Keep the text that a here-document writes into a file."""
        numbers = [one.words[0] for one in tokens if one.kind == "mark" and one.words]
        places = [at for at, one in enumerate(tokens) if one.text in (">", ">>")]
        if not numbers or not places or places[0] + 1 >= len(tokens) or self.depth:
            return
        name = self.expander.text(tokens[places[0] + 1].text)
        body = self._body(numbers[0])
        if body is not None:
            if self.unsure:
                self.script.files.setdefault(readable(name), body)
            else:
                self.script.files[readable(name)] = body

    def taken_in(self, tokens: list[Token]) -> str | None:
        """Return the text that a command is given: a here-document, a word or a file; else None."""
        for place, token in enumerate(tokens):
            if token.kind == "mark" and token.text in ("<<", "<<-") and token.words:
                return self._body(token.words[0])
            if token.kind == "mark" and token.text == "<<<" and place + 1 < len(tokens):
                return self.expander.text(tokens[place + 1].text)
            if token.kind == "mark" and token.text == "<" and place + 1 < len(tokens):
                name = self.expander.text(tokens[place + 1].text)
                return self.script.files.get(name, self.source_of(name))
        return None

    def sets(self, words: list[str], rest: list[Token]) -> bool:
        """Follow a command that sets variables or arguments; return whether it is one."""
        name = words[0]
        if name == "shift":
            self.ended(self.expander.shift(words[1] if len(words) > 1 else "1"))
        elif name == "set":
            if "--" in words:
                self.expander.bind(words[words.index("--") + 1 :])
                self.expander.closed = True
        elif name == "read":
            text = self.taken_in(rest)
            if text is None and self.lines is not None:
                # The next line of the file that the loop reads, as long as there is one.
                if not self.lines:
                    self.ended(False)
                    return True
                text = self.lines.pop(0)
            for sign in self.separators[:9]:
                # A blank cuts as each of the separators that are set for it does.
                text = None if text is None else text.replace(sign, " ")
            self.ended(read_into(self.expander, self.given, words[1:], text))
        elif name == "getopts" and len(words) > 2:
            found, self.option = next_option(self.expander, words[1], words[2], self.option)
            self.ended(found)
        elif name == "unset":
            self.unset(words[1:])
        elif name == "let":
            for one in words[1:9]:
                self.expander.sum(one)
        else:
            return False
        return True
