"""Which values a thing may have that a question leaves open: those that the data knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from steptime.answer.reach import dates_seen, families_seen, networks_seen, schedules_seen
from steptime.inputs.ability import ability_of
from steptime.inputs.context_kind import CONTEXT_KIND, context_facts
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.fact import Value
from steptime.inputs.fields import BY_NAME, LAYOUT_FIELDS
from steptime.inputs.habits import chosen_stack
from steptime.inputs.layout import RECOMPUTE
from steptime.inputs.said import Said, in_its_time
from steptime.inputs.software import Software, software
from steptime.inputs.stack import TIME_FACTS, WORD_FACTS, stacks
from steptime.inputs.training_step import TrainingStep

MICRO_BATCHES = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One value of a thing that is open.

    Attributes:
        word: The value as a sentence shows it.
        how: The option that states such a thing.
        stated: Fields of the training step that state it.
    """

    word: str
    how: str
    stated: dict[str, Any]


Choices = dict[str, tuple[Choice, ...]]


def _field(name: str, values: Iterable[Any]) -> tuple[Choice, ...]:
    how = BY_NAME[name].typed
    return tuple(Choice(word=word_of(value), how=how, stated={name: value}) for value in values)


def word_of(value: object) -> str:
    """Return a value as a sentence shows it.

    Args:
        value: Of a field or a fact.
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _chunks(step: TrainingStep) -> Iterator[int]:
    """Yield the chunks a device that cut the layers evenly, with or without the two ends."""
    layers, stages = step.model.num_layers, step.layout.pp
    for chunks in range(1, -(-layers // stages) + 1):
        if 0 in (layers % (stages * chunks), (layers + 2) % (stages * chunks)):
            yield chunks


def _layout_choices(step: TrainingStep) -> Iterator[tuple[str, tuple[Choice, ...]]]:
    layout, device = step.layout, step.accelerator
    own = chosen_stack(in_its_time(step.said, device), sharded=False)
    network = networks_seen(device.generation, device.network_bytes_per_s * 8.0 / 1e9)
    tried: dict[str, Iterable[Any]] = {
        "network_gbit": network if layout.num_devices > device.nvlink_domain else (),
        "micro_batch_size": MICRO_BATCHES,
        "recompute": RECOMPUTE,
        "zero_stage": own.zero_stages if layout.dp * layout.cp > 1 else (),
        "sequence_parallel": (False, True) if layout.tp > 1 else (),
        "vpp": _chunks(step) if layout.pp > 1 else (),
        "schedule": schedules_seen() if layout.pp > 1 else (),
        "etp": (1, layout.tp) if step.model.experts and layout.tp > 1 else (),
    }
    for name in (*step.open, *(() if device.network_stated else ("network_gbit",))):
        yield name, _field(name, (value for value in tried[name] if _is_run(step, name, value)))


def _is_run(step: TrainingStep, name: str, value: Any) -> bool:
    """Return whether the named software runs the layout with a value as it runs it now."""
    if name not in LAYOUT_FIELDS:
        return True
    runs = ability_of(step.said)
    changed = replace(step.layout, **{name: value})
    before = runs.lacking(step.layout, step.batch)
    return not {*runs.lacking(changed, step.batch)} - {*before}


def months_of(said: Said, generation: str) -> list[str]:
    """Return the months at which software of a family changed while a generation was in use.

    Args:
        said: Names the family, or nothing.
        generation: Of the device.
    """
    first, last = dates_seen(generation)
    family = chosen_stack(said, sharded=False).family
    members = [one for one in stacks().values() if one.family == family and not one.of]
    changes = {one.since for one in members}
    changes |= {fact.before for one in members for fact in one.facts if fact.before}
    return sorted({first, last, *(month for month in changes if first < month < last)})


def _software_choices(step: TrainingStep) -> Iterator[tuple[str, tuple[Choice, ...]]]:
    said = step.said
    if said.exact:
        return
    if said.stack is None:
        yield "stack", _field("stack", families_seen(step.layout))
    if said.date is None:
        months = months_of(in_its_time(said, step.accelerator), step.accelerator.generation)
        yield "date", _field("date", months)


def _likely(step: TrainingStep) -> Iterator[Said]:
    """Yield what the software may be, as far as it is not stated."""
    said, generation = step.said, step.accelerator.generation
    families = families_seen(step.layout) if said.stack is None else (said.stack,)
    for family in families:
        named = replace(said, stack=family)
        for month in [said.date] if said.date else months_of(named, generation):
            yield replace(named, date=month)


def _fact_values(step: TrainingStep, one: Software, group: str) -> dict[str, dict[Value, None]]:
    """Return the values that each fact has in software that may be the step's."""
    told: set[str] = {name for name, _ in step.said.facts}
    stated = {fact.name: fact for fact in one.lines.values() if fact.kind == "stated"}
    told |= set(context_facts(stated))
    asked = [name for name in data_table("open_things.toml")[group] if name not in told]
    values: dict[str, dict[Value, None]] = {name: {} for name in asked}
    sharded = step.layout.zero_stage > 2
    for said in _likely(step):
        try:
            like = software(said, step.accelerator, step.model, step.layout.precision, sharded)
        except ConfigError:
            # Software that cannot run the step, such as one older than its precision, is no choice.
            continue
        for name in asked:
            if name in like.lines:
                values[name][like.lines[name].value] = None
            elif name in TIME_FACTS:
                values[name][float(getattr(like.time, name))] = None
            else:
                values[name][float(getattr(like.memory, name))] = None
    return values


def _fact_choices(
    step: TrainingStep, one: Software, group: str
) -> Iterator[tuple[str, tuple[Choice, ...]]]:
    if step.said.exact or one.time is None:
        return
    for name, values in _fact_values(step, one, group).items():
        if name == CONTEXT_KIND and step.layout.cp == 1:
            continue
        how = f"--fact {name}={'NAME' if name in WORD_FACTS else 'NUMBER'}"
        yield (
            name,
            tuple(
                Choice(word=word_of(value), how=how, stated={"facts": {name: value}})
                for value in values
            ),
        )


def choices_of(step: TrainingStep, one: Software, group: str = "facts") -> Choices:
    """Return the choices of each thing that a step leaves open.

    Args:
        step: What is asked.
        one: The software that it is taken to run on.
        group: Table of ``open_things.toml`` with the facts to ask for.
    """
    found = dict(_layout_choices(step))
    found |= dict(_software_choices(step))
    found |= dict(_fact_choices(step, one, group))
    return {name: choices for name, choices in found.items() if choices}
