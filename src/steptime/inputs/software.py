"""What software a step runs on, and the facts that follow from it."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from steptime.formulas.records import MemoryFacts, TimeFacts
from steptime.inputs.ability import check_starts
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.assumed import Assumed
from steptime.inputs.context_kind import context_facts
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.fact import Fact, Value
from steptime.inputs.fact_kinds import LAYERS, check_fact, fact_kinds
from steptime.inputs.generation import ANY, STORED, generations, kernel_named
from steptime.inputs.habits import check_bits, check_date_of, chosen_stack
from steptime.inputs.model import ModelShape
from steptime.inputs.precision import precision_named
from steptime.inputs.said import Said, in_its_time
from steptime.inputs.software_taken import as_trained, assumed_of, kernels_taken
from steptime.inputs.stack import (
    HIDING,
    KERNEL,
    MEMORY_FACTS,
    TIME_FACTS,
    Stack,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Software:
    """The software of a step as formulas take it.

    Attributes:
        stack: What it is, or is taken to be.
        known: Whether the stack itself was named.
        knowledge: How much that says, of ``KNOWLEDGE``: what an interval goes by.
        time: Facts for the time of a step; None on a device that the roofline model does not know.
        unhidden: The same with nothing hidden of which nobody says that it is.
        memory: Facts for the memory.
        lines: The line that gave each fact that has no default's value.
        assumed: What was taken for granted.
    """

    stack: Stack
    known: bool
    knowledge: str
    time: TimeFacts | None
    unhidden: TimeFacts | None
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
    bits = "8 bits and below" if precision_named(precision).fp8 else "16 bits"
    undated = ("undated",) if said.date is None else ()
    generation = generations().get(device.generation)
    counted = ("kernels counted",) if generation and ANY in generation.kernels else ()
    named = (kind, precision, bits, device.generation)
    return (*named, *latent, *undated, *counted, *said.unstated)


def _lines(
    said: Said, stack: Stack, model: ModelShape, precision: str, conditions: tuple[str, ...]
) -> dict[str, Fact]:
    """Return the line of each fact: of the stack, the precision, the model, then what is said."""
    stated = {
        name: Fact(name=name, value=value, kind="stated", source="stated by who asks")
        for name, value in said.facts
    }
    lines = stack.values(conditions, said.date)
    lines = context_facts(lines) | lines | context_facts(stated)
    lines |= as_trained(said, model, conditions)
    lines |= {fact.name: fact for fact in precision_named(precision).facts}
    lines |= {fact.name: fact for fact in model.facts}
    return lines | stated


def power_scale(device: Accelerator) -> float:
    """Return the rate of a part over that of its kin.

    A part that may draw less power for each FLOP of its products than the one measured runs
    slower by the square root.

    Args:
        device: Of a known generation.

    References:
        derived here, book/roofline.md.
    """
    usual = generations()[device.generation].usual_watt
    if not usual or not device.watt:
        return device.product_scale
    power = device.watt / usual / relative_rate(device)
    return float(min(1.0, power**0.5) * device.product_scale)


def relative_rate(device: Accelerator) -> float:
    """Return the best rate of a part's products over that of the part whose kernels were measured.

    Args:
        device: Of a known generation.
    """
    usual = generations()[device.generation].usual_matmul_flop_per_s
    return device.matmul_flop_per_s / usual if usual else 1.0


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


def checked(values: Mapping[str, Any]) -> dict[str, float]:
    """Return facts as floats.

    Args:
        values: By name.

    Raises:
        ConfigError: If one is no number in range.
    """
    return {name: check_fact(name, value) for name, value in values.items()}


def _time_facts(lines: Mapping[str, Fact], device: Accelerator) -> TimeFacts | None:
    if not knows(device):
        return None
    kernel = kernel_named(generations()[device.generation], str(lines[KERNEL].value))
    values: dict[str, Any] = {
        "flash": kernel.flash,
        "attention_flop_per_s": kernel.flop_per_s * relative_rate(device),
        "power_scale": power_scale(device),
    }
    values |= {name: line.value for name, line in lines.items() if name in TIME_FACTS}
    return TimeFacts(**checked(values))


TOO_MANY_LAYERS = (
    "fact {name} is {value:.0f}, but {model} has {layers} layers; use that many at most"
)


def _check_layers(said: Said, model: ModelShape) -> None:
    """Refuse to do something to more layers than there are."""
    for name, value in said.facts:
        if fact_kinds()[name].name == LAYERS and float(value) > model.num_layers:
            raise ConfigError(
                TOO_MANY_LAYERS.format(
                    name=name, value=float(value), model=model.name, layers=model.num_layers
                )
            )


def _memory_facts(lines: Mapping[str, Fact]) -> MemoryFacts:
    values: dict[str, Any] = {"flash": float(lines[KERNEL].value != STORED)}
    values |= {name: line.value for name, line in lines.items() if name in MEMORY_FACTS}
    return MemoryFacts(**checked(values))


def hiding_nothing(time: TimeFacts, told: Collection[str]) -> TimeFacts:
    """Return facts with nothing hidden.

    Args:
        time: What is taken of the software.
        told: Names of facts that somebody states: these stay.
    """
    return replace(time, **{name: 0.0 for name in HIDING if name not in told})


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
        ConfigError: If a fact is out of range, a kernel unknown on the device, the software
            has no products of such a precision, was not there at the date, or does not start on
            the device.
    """
    _check_layers(said, model)
    check_starts(said, device)
    era = in_its_time(said, device)
    stack = chosen_stack(era, sharded)
    check_date_of(said, stack)
    check_bits(said, stack, precision)
    conditions = conditions_of(said, device, model, precision)
    lines = _lines(era, stack, model, precision, conditions)
    time = _time_facts(lines, device)
    told = {*dict(said.facts), *as_trained(era, model, conditions)}
    return Software(
        stack=stack,
        known=said.exact,
        knowledge=said.knowledge,
        time=time,
        unhidden=None if time is None else hiding_nothing(time, told),
        memory=_memory_facts(lines),
        lines=lines,
        assumed=(*assumed_of(said, era, stack, model, conditions), *kernels_taken(lines)),
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
        unhidden=replace(one.unhidden, **time) if one.unhidden is not None else None,
        memory=replace(one.memory, **memory),
    )
