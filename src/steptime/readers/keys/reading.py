"""What a file said: the facts with their lines, what was assumed, what is missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.inputs.model import ModelShape
from steptime.readers.keys.safe import shown

Value = int | str | bool | float
COMMAND_LINE = -1
"""In place of a line: what the user sets when asking."""
DEFAULT = -2
"""In place of a line: what the software takes where the file is silent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing that a file states.

    Attributes:
        name: Our name for it, as in `ModelShape`, `Layout` or `Batch`.
        value: What the file gives.
        line: Where, counted from 1; 0 where a line means nothing; or `COMMAND_LINE`.
        written: The name that the file uses.
    """

    name: str
    value: Value
    line: int = 0
    written: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """One thing that a file leaves open and the reader had to fill in.

    Attributes:
        name: Our name for it.
        value: What was taken.
        why: Where that value comes from.
    """

    name: str
    value: Value
    why: str


@dataclass(slots=True, kw_only=True)
class Reading:
    """Everything understood from one file.

    Attributes:
        path: The file.
        kind: The format: huggingface, or a key of ``data/formats``.
        model: The shape, or None where the file does not describe one.
        facts: What it states, by our name.
        assumptions: What was filled in.
        missing: What must still be asked for.
        notes: Things in the file that the model leaves out, what matters most first.
        software: The family of software that runs it; empty for a model alone.
        title: What to call the format.
        software_facts: What it says of its software, by the names of `steptime facts`.
        held_back: Notes for who names the model that the file lacks.
        ruled_out: Causes of a gap, of ``data/causes.toml``, that it rules out.
    """

    path: str
    kind: str
    model: ModelShape | None = None
    facts: dict[str, Fact] = field(default_factory=dict)
    assumptions: list[Assumption] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    software: str = ""
    title: str = ""
    software_facts: list[Fact] = field(default_factory=list)
    held_back: list[str] = field(default_factory=list)
    ruled_out: set[str] = field(default_factory=set)

    def at(self, line: int) -> str:
        """Return where a line stands, for the head of a message."""
        if line in (DEFAULT, 0):
            return self.path
        return "command line" if line == COMMAND_LINE else f"{self.path}:{line}"

    def state(self, name: str, value: Value, *, line: int = 0, written: str = "") -> None:
        """Record a fact; a second, different value for it is refused.

        Args:
            name: Our name for it.
            value: What the file gives.
            line: Where.
            written: The name that the file uses.

        Raises:
            ConfigError: If the file already gave another value.
        """
        old = self.facts.get(name)
        if old is not None and old.value != value:
            raise ConfigError(
                f"{self.at(line)}: {written or name} = {shown(value)}, but {where(old.line)} "
                f"gives {old.written or name} = {shown(old.value)}; make them agree"
            )
        if old is None:
            self.facts[name] = Fact(name=name, value=value, line=line, written=written)

    def assume(self, name: str, value: Value, why: str) -> None:
        """Record a value that the file does not give."""
        self.assumptions.append(Assumption(name=name, value=value, why=why))

    def value(self, name: str, default: Value | None = None) -> Any:
        """Return a stated or assumed value, or ``default``."""
        if name in self.facts:
            return self.facts[name].value
        for assumption in self.assumptions:
            if assumption.name == name:
                return assumption.value
        return default


def where(line: int) -> str:
    """Return where a value stands, for the middle of a sentence.

    Args:
        line: Of a `Fact` or an entry.
    """
    if line == DEFAULT:
        return "the software's default"
    if line == 0:
        return "a line that is not known"
    return "the command line" if line == COMMAND_LINE else f"line {line}"
