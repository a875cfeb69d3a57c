"""What a file said: the facts with their lines, what was assumed, what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.readers.safe import shown

Value = int | str | bool
COMMAND_LINE = -1
"""In place of a line: what the user sets when asking."""


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
        kind: huggingface, megatron, torchtitan or nemo.
        model: The shape, or None where the file does not describe one.
        facts: What it states, by our name.
        assumptions: What was filled in.
        missing: What must still be asked for.
        notes: Things in the file that the model leaves out.
    """

    path: str
    kind: str
    model: ModelShape | None = None
    facts: dict[str, Fact] = field(default_factory=dict)
    assumptions: list[Assumption] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def at(self, line: int) -> str:
        """Return where a line stands, for the head of a message."""
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
    return "the command line" if line == COMMAND_LINE else f"line {line}"


LAYOUT_FIELDS = ("tp", "cp", "pp", "vpp", "ep", "etp")
CHOICES = ("sequence_parallel", "zero_stage", "recompute", "precision", "schedule")


def completed(reading: Reading, given: Mapping[str, Value]) -> tuple[Layout, Batch]:
    """Return the layout and the batch of a reading, with the gaps filled from ``given``.

    Args:
        reading: What the file said.
        given: What its user adds: num_gpus, global_batch_size, seq_length...

    Raises:
        ConfigError: If something is still missing, or the numbers contradict each other.
    """
    whole = _Numbers(reading, given)
    sizes = {name: whole.need(name, 1) for name in LAYOUT_FIELDS}
    each = reading.value("layers_per_stage")
    if each is not None and reading.model is not None:
        sizes["vpp"] = max(1, -(-reading.model.num_layers // (sizes["pp"] * int(each))))
    micro = whole.need("micro_batch_size", 1)
    dp = _replicas(whole, sizes)
    accumulation = reading.value("gradient_accumulation")
    if whole.get("global_batch_size") is None and accumulation is not None:
        total = micro * dp * int(accumulation)
    else:
        total = whole.need("global_batch_size")
    choices = {name: given.get(name, reading.value(name)) for name in CHOICES}
    choices = {name: value for name, value in choices.items() if value is not None}
    layout = Layout(**sizes, dp=dp, **choices)  # type: ignore[arg-type]
    length = whole.need("seq_length")
    batch = Batch(global_batch_size=total, micro_batch_size=micro, seq_length=length)
    return layout, batch


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Whole numbers of a reading; what its user adds comes first."""

    reading: Reading
    given: Mapping[str, Value]

    def get(self, name: str, default: int | None = None) -> Any:
        return self.given.get(name, self.reading.value(name, default))

    def need(self, name: str, default: int | None = None) -> int:
        value = self.get(name, default)
        if value is None:
            path = self.reading.path
            raise ConfigError(f"{path} does not give {name}; add it on the command line")
        return int(value)


def _replicas(whole: _Numbers, sizes: Mapping[str, int]) -> int:
    """Return the data-parallel size: given, or what the GPUs leave."""
    path = whole.reading.path
    group = sizes["tp"] * sizes["cp"] * sizes["pp"]
    if group < 1:
        raise ConfigError(f"{path}: tp x cp x pp = {group} must be >= 1")
    said = whole.get("dp")
    if whole.get("num_gpus") is None:
        return whole.need("num_gpus") if said is None else int(said)
    gpus = whole.need("num_gpus")
    if gpus % group:
        raise ConfigError(
            f"{path}: {gpus} GPUs do not divide into groups of tp x cp x pp = "
            f"{sizes['tp']} x {sizes['cp']} x {sizes['pp']} = {group}; "
            f"the nearest number is {max(group, round(gpus / group) * group)}"
        )
    dp = gpus // group
    if said is not None and int(said) != dp:
        raise ConfigError(f"{path}: dp = {said} but {gpus} GPUs / {group} leave dp = {dp}")
    return dp
