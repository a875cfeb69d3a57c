"""What a script has come to while it is followed, and what its commands set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from steptime.inputs.errors import ConfigError
from steptime.readers.shell.expand import Expander
from steptime.readers.shell.marks import readable
from steptime.readers.shell.script import Script
from steptime.readers.shell.source import SourceOf
from steptime.readers.shell.undecided import changed, settle
from steptime.readers.shell.words import Token

MOST_STEPS = 60_000
"""Tokens that loops and calls may come over; real scripts take some hundreds."""
MOST_NESTED = 20
MOST_COPIED = 2_000_000
_MOST_SHOWN = 60
Kept = tuple[dict[str, str], dict[str, list[str]], dict[str, dict[str, str]]]
"""Texts, arrays and tables as they were."""
Former = tuple[Kept, bool, tuple[int, int]]
"""The same, whether arguments are closed, and the option to look at next."""
_KEYED = re.compile(r"\[([^\]]{1,200})\]=(.*)\Z", re.DOTALL)


@dataclass(slots=True)
class Block:
    """An ``if`` or a ``case`` that is open.

    Attributes:
        kind: ``if`` or ``case``.
        outer: Whether what it stands in runs.
        taken: Whether one of its branches was.
        subject: What a case asks for.
        line: Where it starts.
        former: What to go back to behind a branch of which nobody knows whether it is taken.
        waits: Whether it depends on arguments, whose defaults count until they are given.
        others: What such branches set.
    """

    kind: str
    outer: bool
    taken: bool = False
    subject: str = ""
    line: int = 0
    former: Former | None = None
    waits: bool = False
    others: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the script.

    Attributes:
        tokens: Its body.
        bodies: The here-documents of the text that it stands in.
        line: Where it is defined.
    """

    tokens: list[Token]
    bodies: list[tuple[str, bool]]
    line: int


class State:
    """Where following a script stands.

    Args:
        name: What to call the script in a refusal.
        given: Variables that the user sets.
        source_of: What gives the text of a file that it reads in.
    """

    def __init__(self, name: str, given: Mapping[str, str], source_of: SourceOf) -> None:
        self.expander = Expander(given, name)
        self.name, self.given = name, set(given)
        # Whether whoever starts the script gives arguments; what cuts the words that are read.
        self.started, self.separators = bool(self.expander.arguments()), ""
        self.script = Script()
        self.blocks: list[Block] = []
        # Whether this part runs; how the last command ended, and whether that is only presumed.
        self.on = True
        self.truth: bool | None = None
        self.presumed = self.negated = False
        self.join = self.leaving = ""
        self.depth = self.texts = self.files = self.steps = self.nested = self.loops = self.left = 0
        # What decides, where nobody knows it, whether this part runs; the last such condition.
        self.unsure: list[str] = []
        self.condition, self.waits = "", False
        # What a command prints, and what the next one is given of it; None where it is not known.
        self.printed: str | None = None
        self.piped: str | None = None
        self.cut_at, self.copied, self.option = 0, 0, (1, 1)
        self.source_of = source_of
        # Lines that a loop reads; None where they are not known.
        self.lines: list[str] | None = None
        self.bodies: list[tuple[str, bool]] = []
        self.functions: dict[str, Function] = {}
        self.called: set[str] = set()
        self.frames: list[dict[str, tuple[str | None, list[str] | None]]] = []

    def run(self, tokens: list[Token]) -> None:
        """Follow all tokens."""
        raise NotImplementedError

    def note(self, line: int, what: str) -> None:
        """Note what is not, or not as a whole, followed."""
        if not self.unsure:
            self.script.notes.append(f"line {line}: {what}")

    def refused(self, line: int, why: str) -> ConfigError:
        """Return the refusal of what cannot be followed."""
        return ConfigError(f"{self.name}:{line}: {why}")

    def step(self, count: int, line: int) -> None:
        """Count tokens of loops and calls.

        Raises:
            ConfigError: If they are too many.
        """
        self.steps += count if self.nested else 0
        if self.steps > MOST_STEPS:
            why = f"its loops and calls go over {MOST_STEPS} words; set its variables with --set"
            raise self.refused(line, why)

    def skips(self) -> bool:
        """Return whether what stands behind ``&&`` or ``||`` is not reached.

        A command before the one that trains is taken to end well.
        """
        ends_well = self.truth is True or (self.truth is None and self.presumed)
        return (self.join == "&&" and not ends_well) or (
            self.join == "||" and self.truth is not False
        )

    def ended(self, truth: bool | None, *, presumed: bool = False) -> None:
        """Keep how a command ended; ``!`` before it turns that round."""
        self.truth = (not truth) if self.negated and truth is not None else truth
        self.presumed = presumed and not self.negated
        self.negated = False

    def undecided(self, words: list[str]) -> None:
        """Keep what a condition asks for that may stay undecided."""
        self.condition = readable(" ".join(words))[:_MOST_SHOWN].replace("\v", " ")

    def perhaps(self, line: int, condition: str) -> Former:
        """Follow what comes as what may run or not; return what to go back to behind it.

        Args:
            line: Where it stands.
            condition: What decides it.
        """
        former = self.kept(line), self.expander.closed, self.option
        self.unsure.append(condition or "what stands before it")
        return former

    def surely(self, former: Former) -> dict[str, str]:
        """End what may run or not: what it has set is as it was before; return that.

        Args:
            former: What to go back to.
        """
        self.unsure.pop()
        kept, self.expander.closed, self.option = former
        others = changed(self.expander.scalars, kept[0], self.given)
        self.go_back(kept)
        return others

    def close(self, block: Block) -> None:
        """End the branch of a block of which nobody knows whether it is taken, if it is one."""
        if block.former is not None:
            others = self.surely(block.former)
            block.others |= {} if block.waits else others
            block.former = None

    def leave(self, block: Block) -> None:
        """Go on behind a block: what its branches may have set is open."""
        settle(self.expander.scalars, block.others)

    def stays(self) -> None:
        """Stay where a jump stands in a branch that may not be taken."""
        # Asked behind every command: only where one jumps are the blocks, which may be many, seen.
        if self.leaving and any(block.former is not None for block in self.blocks):
            self.leaving, self.left = "", 0

    def apart(self, tokens: list[Token], line: int) -> None:
        """Follow the tokens of a body, whose blocks are its own.

        Args:
            tokens: The body.
            line: Where it is asked for.

        Raises:
            ConfigError: If bodies stand in each other too deep.
        """
        if self.nested >= MOST_NESTED:
            raise self.refused(line, f"nested over {MOST_NESTED} deep")
        outer = self.blocks, self.on, self.join
        self.blocks, self.on, self.join = [], True, ""
        self.nested += 1
        self.run(tokens)
        self.nested -= 1
        for block in reversed(self.blocks):
            self.close(block)
        self.blocks, self.on, self.join = outer

    def kept(self, line: int) -> Kept:
        """Return a copy of what is set, to go back to."""
        scalars, arrays, tables = self.expander.scalars, self.expander.arrays, self.expander.tables
        several = (*arrays.values(), *tables.values())
        self.copied += len(scalars) + sum(len(one) + 1 for one in several)
        if self.copied > MOST_COPIED:
            raise self.refused(line, f"its inner shells and loops keep over {MOST_COPIED} values")
        return (
            dict(scalars),
            {name: list(values) for name, values in arrays.items()},
            {name: dict(table) for name, table in tables.items()},
        )

    def go_back(self, former: Kept) -> None:
        """Give what is set the values that it had."""
        self.expander.scalars, self.expander.arrays, self.expander.tables = former

    def keep_local(self, name: str) -> None:
        """Keep what a name holds, to put it back where the function ends."""
        if self.frames:
            former = self.expander.scalars.get(name), self.expander.arrays.get(name)
            self.frames[-1].setdefault(name, former)

    def put_back(self) -> None:
        """Give the names that a function made its own what they held before."""
        for name, (text, values) in self.frames.pop().items():
            self.expander.scalars.pop(name, None)
            self.expander.arrays.pop(name, None)
            if text is not None:
                self.expander.scalars[name] = text
            if values is not None:
                self.expander.arrays[name] = values

    def assign(self, name: str, append: str, word: str) -> None:
        """Follow ``NAME=word`` or ``NAME+=word``."""
        value = self.expander.text(word)
        if append:
            value = self.expander.spend(self.expander.scalars.get(name, "") + value)
        # What the user sets stands for the environment and for the last word on it.
        if name not in self.given:
            self.expander.scalars[name] = value
            self.expander.arrays.pop(name, None)

    def unset(self, words: list[str]) -> None:
        """Follow ``unset``; what the user sets stays."""
        for name in [one for one in words if one not in self.given]:
            self.expander.scalars.pop(name, None)
            self.expander.arrays.pop(name, None)
            self.expander.tables.pop(name, None)

    def assign_at(self, name: str, key: str, word: str) -> None:
        """Follow ``NAME[key]=word``; a key that is no number makes a table."""
        text, value = self.expander.text(key), self.expander.text(word)
        if name in self.expander.arrays and text.isdigit():
            values = self.expander.arrays[name]
            values[int(text[:6]) : int(text[:6]) + 1] = [value]
        elif text == "0" and name not in self.expander.tables:
            self.expander.arrays[name] = [value]
        else:
            self.expander.tables.setdefault(name, {})[text] = value

    def assign_array(self, token: Token) -> None:
        """Follow ``NAME=(...)`` or ``NAME+=(...)``; words with keys make a table."""
        self.step(len(token.words), token.line)
        append = token.text.endswith("+=")
        name = token.text[: -2 if append else -1]
        keyed = [_KEYED.match(word) for word in token.words]
        if keyed and all(keyed):
            table = self.expander.tables.setdefault(name, {})
            for one in keyed:
                if one is not None:
                    table[self.expander.text(one[1])] = self.expander.text(one[2])
            return
        values = [value for word in token.words for value in self.expander.fields(word)]
        if append:
            self.expander.arrays.setdefault(name, []).extend(values)
        else:
            self.expander.arrays[name] = values
        self.expander.tables.pop(name, None)
        self.expander.scalars.pop(name, None)
