"""Expand a shell word: variables, defaults, arithmetic. Nothing is ever run."""

from __future__ import annotations

import re

from steptime.inputs.errors import ConfigError
from steptime.readers.shell.marks import is_known, output_of, unset
from steptime.readers.shell.outputs import document_of, hosts, numbers
from steptime.readers.shell.sums import Sums
from steptime.readers.shell.variables import Value, cut, replaced
from steptime.readers.shell.words import closing_place

_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_BRACED_NAME = re.compile(r"[A-Za-z_]\w*|[0-9]{1,3}|[@*#?$!-]")
_INDEX = re.compile(r"\[([^\]]{1,200})\]")
_OPERATOR = re.compile(r":?[-=+?]")
_REPLACED = re.compile(r"/[/#%]?")
_CUT = re.compile(r"##?|%%?")
_SLICE = re.compile(r":\s*(\d{1,4})(?::\s*(\d{1,4}))?\Z")
_JOINED = re.compile(r"[|;&<>]")


class Expander(Sums):
    """How words expand that use the variables of a script."""

    def fields(self, word: str) -> list[str]:
        """Return what a word becomes: none, one or many arguments."""
        if not any(letter in word for letter in "$'\"\\`\v"):
            return [word]
        parts = self._parts(word, 0)
        out: list[str] = []
        current, has, void = "", False, False
        for text, quoted in parts:
            if quoted:
                pieces = text if isinstance(text, list) else [text]
                if isinstance(text, list) and not text:
                    # An array without values is no word, also in quotes.
                    void = True
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
        if current or (has and not void):
            out.append(current)
        return out

    def text(self, word: str) -> str:
        """Return what a word becomes as one text, as on the right of ``=``."""
        parts = self._parts(word, 0)
        return "".join(" ".join(t) if isinstance(t, list) else t for t, _ in parts)

    def document(self, body: str, depth: int = 0) -> str:
        """Return a here-document with its variables put in.

        Args:
            body: Its text.
            depth: How deep it stands in other words.
        """
        # Quotes are plain letters there.
        kept = body.replace("\\", "\\\\").replace('"', '\\"').replace("'", "\\'")
        return self.joined(kept, depth)

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
                parts.append((self.spend(word[at + 1 : end]), True))
                at = end + 1
            elif letter == "\\":
                parts.append((word[at + 1 : at + 2], True))
                at += 2
            elif letter == "`":
                end = word.find("`", at + 1)
                end = len(word) if end < 0 else end
                parts.append((self._command(word[at + 1 : end], depth), quoted))
                at = end + 1
            elif letter == "$":
                value, at = self._dollar(word, at, depth)
                parts.append((value, quoted))
            else:
                end = at + 1
                while end < len(word) and word[end] not in "\"'\\`$":
                    end += 1
                parts.append((self.spend(word[at:end].replace("\v", " ")), quoted))
                at = end
        return parts

    def _dollar(self, word: str, at: int, depth: int) -> tuple[Value, int]:
        """Return the value of what starts with ``$`` at ``at``, and where it ends."""
        if word.startswith("$((", at):
            end = closing_place(word, at + 1, "(", ")")
            return self.spend(self.arithmetic(word[at + 3 : end - 1], depth)), end + 1
        if word.startswith("$(", at):
            end = closing_place(word, at + 1, "(", ")")
            return self._command(word[at + 2 : end], depth), end + 1
        if word.startswith("${", at):
            end = closing_place(word, at + 1, "{", "}")
            return self._braced(word[at + 2 : end], depth), end + 1
        name = _NAME.match(word, at + 1)
        if name is None:
            return "$", at + 1
        return self.plain(name[0]), name.end()

    def _braced(self, inner: str, depth: int) -> Value:
        """Return ``${...}``: a variable, an array, a default, or a part of one."""
        counts = inner[:1] in ("#", "!") and len(inner) > 1 and inner[1] not in ":-=+?"
        name = _BRACED_NAME.match(inner, int(counts))
        if name is None:
            return output_of(inner)
        if counts:
            return self._counted(inner, name[0], inner[name.end() :])
        rest = inner[name.end() :]
        index = _INDEX.match(rest)
        value = self._value(name[0], index[1] if index else "", depth)
        rest = rest[index.end() :] if index else rest
        if not rest:
            if value is None:
                is_all = index is not None and index[1] in ("@", "*")
                return [] if is_all else output_of(inner) if index else self.plain(name[0])
            return value if index else self.plain(name[0])
        operator = _OPERATOR.match(rest)
        if operator is None:
            return self._part(value, inner, rest, depth)
        is_set = value is not None and (not index or self._has_one(name[0], index[1], depth))
        present = is_set and (bool(value) or operator[0][0] != ":")
        other = rest[operator.end() :]
        if operator[0][-1] == "+":
            if present and isinstance(value, list) and "[@]" in other:
                return value
            return self.joined(other, depth) if present else ""
        if present and value is not None:
            return value
        if operator[0][-1] == "?":
            return unset(name[0])
        default = self.joined(other, depth)
        if operator[0][-1] == "=":
            self.scalars[name[0]] = default
        return default

    def _value(self, name: str, index: str, depth: int) -> Value | None:
        """Return what a name holds, or an array at an index; None if nothing is known."""
        if index in ("@", "*"):
            values = self.all_of(name)
            return " ".join(values) if index == "*" and values is not None else values
        if index:
            key = self.joined(index, depth)
            return self.one_of(name, key.strip(), self.sum(key))
        if name in ("@", "*"):
            return self.plain(name)
        value = self.scalars.get(name)
        if value is None and self.arrays.get(name):
            value = self.arrays[name][0]
        return None if value is None else self.spend(value)

    def _has_one(self, name: str, index: str, depth: int) -> bool:
        """Return whether an array or a table has something at an index that is known."""
        return index in ("@", "*") or self.has(f"{name}[{self.joined(index, depth)}]")

    def _counted(self, inner: str, name: str, rest: str) -> Value:
        """Return ``${#...}``, how long a text or an array is, or ``${!...}``, what a name names."""
        is_all = rest in ("[@]", "[*]")
        if inner[0] == "!":
            if is_all and name in self.tables:
                return self.spend_all(list(self.tables[name]))
            return output_of(inner) if rest else self.plain(self.scalars.get(name, name))
        values = self.all_of(name) if is_all or name in ("@", "*") else None
        if values is not None and all(is_known(one) for one in values):
            return str(len(values))
        text = self.scalars.get(name)
        is_told = not rest and text is not None and is_known(text)
        return str(len(text)) if is_told and text is not None else output_of(inner)

    def _part(self, value: Value | None, inner: str, rest: str, depth: int) -> Value:
        """Return a part of a value: from a place on, or less what a pattern fits."""
        values = value if isinstance(value, list) else [value or ""]
        if value is None or not all(is_known(one) for one in values):
            return output_of(inner)
        if (slices := _SLICE.match(rest)) is not None:
            first, length = int(slices[1]), slices[2]
            if isinstance(value, list):
                # Arguments count from 1, places of an array from 0.
                first -= int(inner[0] == "@" and first > 0)
            return value[first : first + int(length) if length else None]
        if (changed := _REPLACED.match(rest)) is not None:
            pattern, _, other = rest[changed.end() :].partition("/")
            pattern, other = self.joined(pattern, depth), self.joined(other, depth)
            left = [replaced(one, changed[0], pattern, other) for one in values[:999]]
        elif (operator := _CUT.match(rest)) is not None:
            pattern = self.joined(rest[operator.end() :], depth)
            left = [cut(one, operator[0], pattern) for one in values[:999]]
        else:
            return output_of(inner)
        told = [one for one in left if one is not None]
        if len(told) < len(values):
            return output_of(inner)
        return told if isinstance(value, list) else told[0]

    def joined(self, word: str, depth: int) -> str:
        """Return what a word becomes as one text, so deep in other words."""
        parts = self._parts(word, depth + 1)
        return "".join(" ".join(t) if isinstance(t, list) else t for t, _ in parts)

    def _command(self, inner: str, depth: int) -> str:
        """Return a command's output, known where the script itself holds it."""
        document = document_of(inner)
        if document is not None:
            body = self.spend(document[0])
            return (self.document(body, depth) if document[1] else body).rstrip("\n")
        words = inner.replace("\v", " ").split()
        if words[:1] == ["expr"]:
            value = self.arithmetic(" ".join(words[1:]).replace("\\", ""), depth)
            return self.spend(value)
        told = None
        if words[:1] == ["seq"]:
            listed = numbers(self.joined(" ".join(words[1:]), depth).split())
            told = None if listed is None else " ".join(listed)
        elif words[:1] == ["echo"] and not _JOINED.search(inner) and words[1:2] != ["-e"]:
            told = " ".join(self.joined(" ".join(words[1:]), depth).split())
        elif words[:1] == ["scontrol"]:
            told = hosts(" ".join(words), self.scalars)
        return output_of(" ".join(words)) if told is None else self.spend(told)
