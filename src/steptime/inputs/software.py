"""What software a step runs on: what is said of it, and the facts that follow."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from steptime.formulas.records import MemoryFacts, TimeFacts
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.assumed import Assumed, taken
from steptime.inputs.errors import ConfigError, check_choice, check_number
from steptime.inputs.fact import Fact, Value
from steptime.inputs.generation import STORED, generations, kernel_named
from steptime.inputs.model import ModelShape
from steptime.inputs.precision import precision_named
from steptime.inputs.stack import (
    FACT_NAMES,
    KERNEL,
    MEMORY_FACTS,
    TIME_FACTS,
    Stack,
    check_date,
    families,
    family_stack,
    stack_named,
    stack_names,
)

USUAL_FAMILY = "megatron"
USUAL_SHARDED = "fsdp"
"""The families that are assumed where nobody names the software: where weights stay whole, and
where data-parallel ranks share them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is said of the software.

    Attributes:
        stack: Exact name of a stack, or a family; None where nothing is said.
        date: Month when it was current, as ``2025-02``; None where it is not said.
        facts: Single facts, by name, in the order given: these come before all others.
        unstated: What of the layout nobody stated, of ``UNSTATED``.
    """

    stack: str | None = None
    date: str | None = None
    facts: tuple[tuple[str, Value], ...] = ()
    unstated: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.stack is not None:
            check_choice("stack", self.stack, (*stack_names(), *families()))
        if self.date is not None:
            check_date(self.date)
        for name, value in self.facts:
            check_choice("fact", name, FACT_NAMES)
            if isinstance(value, str) != (name == KERNEL):
                kind = "a word, such as flash-2" if name == KERNEL else "a number"
                raise ConfigError(f"fact {name} must be {kind}, got {value!r:.60}")

    @property
    def exact(self) -> bool:
        """Return whether the stack itself is named, not its family alone."""
        return self.stack in stack_names()


UNSTATED = ("recompute unstated",)
NOTHING_SAID = Said()


@dataclass(frozen=True, slots=True, kw_only=True)
class Software:
    """The software of a step as formulas take it.

    Attributes:
        stack: What it is, or is taken to be.
        known: Whether the stack itself was named.
        time: Facts for the time of a step; None on a device that the roofline model does not know.
        memory: Facts for the memory.
        lines: The line that gave each fact that has no default's value.
        assumed: What was taken for granted.
    """

    stack: Stack
    known: bool
    time: TimeFacts | None
    memory: MemoryFacts
    lines: Mapping[str, Fact]
    assumed: tuple[Assumed, ...]


def conditions_of(
    said: Said, device: Accelerator, model: ModelShape, precision: str
) -> tuple[str, ...]:
    """Return what is true of a step, as lines of facts ask for it.

    Args:
        said: Of the software, and what nobody stated.
        device: Gives the generation.
        model: The shape.
        precision: Of the products.
    """
    latent = ("latent attention",) if model.latent_attention else ()
    kind = "experts" if model.experts else "dense"
    return (kind, precision, device.generation, *latent, *said.unstated)


def _chosen(said: Said, sharded: bool) -> Stack:
    if said.stack is None:
        return family_stack(USUAL_SHARDED if sharded else USUAL_FAMILY, said.date)
    return stack_named(said.stack) if said.exact else family_stack(said.stack, said.date)


def _assumed(said: Said, stack: Stack, conditions: tuple[str, ...]) -> tuple[Assumed, ...]:
    found = []
    if said.stack is None:
        found.append(
            taken("stack", stack.name, "naming yours narrows the interval", "--stack NAME")
        )
    elif not said.exact:
        when = f"current in {said.date}" if said.date else "the newest"
        found.append(
            taken("stack", stack.name, f"{when} of {said.stack}", "--stack with an exact name")
        )
    if said.date is None and stack.dated(conditions):
        found.append(
            taken(
                "date",
                "today's software",
                "older software handles experts more slowly",
                "--date YYYY-MM",
            )
        )
    return tuple(found)


def _lines(
    said: Said, stack: Stack, model: ModelShape, precision: str, conditions: tuple[str, ...]
) -> dict[str, Fact]:
    """Return the line of each fact: of the stack, the precision, the model, then what is said."""
    lines = stack.values(conditions, said.date)
    lines |= {fact.name: fact for fact in precision_named(precision).facts}
    lines |= {fact.name: fact for fact in model.facts}
    lines |= {
        name: Fact(name=name, value=value, kind="stated", source="stated by who asks")
        for name, value in said.facts
    }
    return lines


def usual_zero_stage(said: Said, model: ModelShape, pp: int) -> tuple[int, str]:
    """Return what data parallelism shards where nobody says it, and why that is taken.

    Args:
        said: Of the software.
        model: Its own report may say what it was trained with.
        pp: Pipeline stages: some software shards less beside a pipeline.
    """
    stack = _chosen(said, sharded=False)
    if model.zero_stage is not None and model.zero_stage in stack.zero_stages:
        return model.zero_stage, "its own report"
    usual = stack.zero_in_pipeline if pp > 1 else stack.zero_stages[0]
    return usual, f"{stack.name}'s usual" if said.stack is not None else ""


def zero_stages(said: Said, tried: tuple[int, ...]) -> tuple[int, ...]:
    """Return which ways to shard the software has, of those that are tried; all its own if none.

    Args:
        said: Of the software; all are had where it is not named.
        tried: 0 to 3.
    """
    if said.stack is None:
        return tried
    known = _chosen(said, sharded=False).zero_stages
    return tuple(stage for stage in tried if stage in known) or tuple(sorted(known))


def usual_stack(said: Said) -> Stack:
    """Return the software whose habits fill in what nobody states of the layout.

    Args:
        said: Of the software.
    """
    return _chosen(said, sharded=False)


def usual_recompute(said: Said) -> str:
    """Return what is recomputed where nobody says it.

    Args:
        said: Of the software.

    Raises:
        ConfigError: If the software has no usual mode.
    """
    stack = usual_stack(said)
    if not stack.recompute:
        raise ConfigError(
            f"recompute is not stated beside {stack.title}: it moves the step by a third"
        )
    return stack.recompute


def check_zero_stage(said: Said, stage: int) -> None:
    """Refuse a way to shard that the software does not have.

    Args:
        said: Of the software; nothing is refused where it is not named.
        stage: 0 to 3.

    Raises:
        ConfigError: With the stages that it has.
    """
    if said.stack is None:
        return
    stack = _chosen(said, sharded=stage > 2)
    if stage not in stack.zero_stages:
        known = ", ".join(map(str, sorted(stack.zero_stages)))
        raise ConfigError(f"zero_stage={stage}: {stack.title} has no such sharding; use {known}")


def power_scale(device: Accelerator) -> float:
    """Return the rate of a part over that of its kin.

    A part that may draw less power than the one measured runs slower by the square root.

    Args:
        device: Of a known generation.

    References:
        derived here, book/roofline.md.
    """
    usual = generations()[device.generation].usual_watt
    power = min(1.0, (device.watt / usual) ** 0.5) if usual and device.watt else 1.0
    return power * device.product_scale


def knows(device: Accelerator) -> bool:
    """Return whether the roofline model knows a device: its generation and its matrix rate.

    Args:
        device: The accelerator.
    """
    return device.generation in generations() and device.matmul_flop_per_s > 0.0


def check_known(device: Accelerator) -> None:
    """Refuse a device that the roofline model does not know.

    Args:
        device: The accelerator.

    Raises:
        ConfigError: If it has no measured rate, or its generation has no row.
    """
    if not knows(device):
        raise ConfigError(
            f"{device.name}: the roofline model has no measured rate of matrix products for "
            f"it; it knows the generations {', '.join(generations())}; use --predictor baseline"
        )


# Formulas divide by these.
_ABOVE_ZERO = (
    "attention_flop_per_s",
    "sent_gradient_bytes",
    "bucket_bytes",
    "power_scale",
    "recompute_group",
)


def checked(values: Mapping[str, Any]) -> dict[str, float]:
    """Return facts as floats.

    Args:
        values: By name.

    Raises:
        ConfigError: If one is no number in range.
    """
    return {
        name: check_number(f"fact {name}", value, above=0.0 if name in _ABOVE_ZERO else -1e-300)
        for name, value in values.items()
    }


def _time_facts(lines: Mapping[str, Fact], device: Accelerator) -> TimeFacts | None:
    if not knows(device):
        return None
    kernel = str(lines[KERNEL].value)
    values: dict[str, Any] = {
        "flash": float(kernel != STORED),
        "attention_flop_per_s": kernel_named(generations()[device.generation], kernel).flop_per_s,
        "power_scale": power_scale(device),
    }
    values |= {name: line.value for name, line in lines.items() if name in TIME_FACTS}
    return TimeFacts(**checked(values))


def _memory_facts(lines: Mapping[str, Fact]) -> MemoryFacts:
    values: dict[str, Any] = {"flash": float(lines[KERNEL].value != STORED)}
    values |= {name: line.value for name, line in lines.items() if name in MEMORY_FACTS}
    return MemoryFacts(**checked(values))


@functools.lru_cache(maxsize=4096)
def software(
    said: Said, device: Accelerator, model: ModelShape, precision: str, sharded: bool
) -> Software:
    """Return the software of a step.

    Args:
        said: What is said of it.
        device: Gives the rates of kernels.
        model: Gives the facts that follow from it, and whether it has experts.
        precision: Of the products.
        sharded: Whether data-parallel ranks share the weights: then FSDP is assumed.

    Raises:
        ConfigError: If a fact is out of range or a kernel unknown on the device.
    """
    stack = _chosen(said, sharded)
    conditions = conditions_of(said, device, model, precision)
    lines = _lines(said, stack, model, precision, conditions)
    return Software(
        stack=stack,
        known=said.exact,
        time=_time_facts(lines, device),
        memory=_memory_facts(lines),
        lines=lines,
        assumed=_assumed(said, stack, conditions),
    )


def with_facts(one: Software, changes: Mapping[str, Value]) -> Software:
    """Return software with some of its facts changed: for those who study what one does.

    Args:
        one: The software.
        changes: Values by name; ``kernel`` cannot be changed here.

    Raises:
        ConfigError: If a name is unknown or a value out of range.
    """
    for name in changes:
        check_choice("fact", name, {*TIME_FACTS, *MEMORY_FACTS})
    values = checked(changes)
    time = {name: value for name, value in values.items() if name in TIME_FACTS}
    memory = {name: value for name, value in values.items() if name in MEMORY_FACTS}
    return replace(
        one,
        time=replace(one.time, **time) if one.time is not None else None,
        memory=replace(one.memory, **memory),
    )
