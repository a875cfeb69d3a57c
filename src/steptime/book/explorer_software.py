"""What the page knows of named software: asked of the package beforehand, for every answer.

The page fetches it with the first software, month or fact that somebody states, or with the list
of what was assumed. Its names of inputs: ``name`` (what is stated: a stack, a family or nothing),
``date`` (the month that is stated, or else the one that is taken), ``zero``, ``sharded``,
``kind``, ``latent``, ``precision`` and ``generation``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from steptime.book.decided import Input, Values
from steptime.book.explorer_facts import MIXTURE
from steptime.inputs.ability import check_starts
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.context_kind import context_facts
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.generation import generations
from steptime.inputs.habits import check_bits, check_date_of, chosen_stack, had_by, sharding
from steptime.inputs.model import LatentAttention, ModelShape
from steptime.inputs.precision import precisions
from steptime.inputs.presets import accelerator, accelerator_names, model
from steptime.inputs.said import Said, in_its_time
from steptime.inputs.software import conditions_of
from steptime.inputs.software_taken import as_trained, assumed_of
from steptime.inputs.stack import families, months, stack_named, stack_names, stacks

NOBODY = ""
"""Stands for software, a month or a generation that is not stated or not known."""
ZERO = Input(name="zero", options=("0", "1", "2", "3"))
SHARDED = Input(name="sharded", options=("0", "1"))
PRECISION = Input(name="precision", options=tuple(precisions()))
KIND = Input(name="kind", options=("dense", "experts"))
LATENT = Input(name="latent", options=("0", "1"))
GENERATION = Input(name="generation", options=(NOBODY, *generations()))
NAMES = tuple(dict.fromkeys((NOBODY, *families(), *stack_names())))
NAME = Input(name="name", options=NAMES)
_LATENT = LatentAttention(
    q_lora_rank=1, kv_lora_rank=1, qk_nope_head_dim=1, qk_rope_head_dim=1, v_head_dim=1
)


@functools.cache
def device_of(generation: str) -> Accelerator:
    """Return any device of a generation: software follows from that alone.

    Args:
        generation: Its name; ``NOBODY`` for one that no table has.
    """
    every = (accelerator(key) for key in accelerator_names())
    known = generations()
    return next(
        one for one in every if (one.generation if one.generation in known else "") == generation
    )


@functools.cache
def shape_of(kind: str, latent: str) -> ModelShape:
    """Return a model of a kind, without facts of its own.

    Args:
        kind: ``dense`` or ``experts``.
        latent: 1 with latent attention.
    """
    plain = replace(model("llama3-8b"), facts=(), trained_with="")
    experts = MIXTURE if kind == "experts" else None
    return replace(plain, experts=experts, latent_attention=_LATENT if latent == "1" else None)


@functools.cache
def known_months() -> tuple[str, ...]:
    """Return the months at which software changes, a precision came or a generation was usual."""
    found = {months()[0]}
    for one in stacks().values():
        found |= {month for _, month in one.sharding_since}
        found |= {one.since, *(fact.before for fact in one.facts if fact.before)}
    found |= {one.since for one in precisions().values() if one.since}
    limits = (line for entry in data_table("abilities.toml").values() for line in entry["limits"])
    found |= {line["before"] for line in limits if "before" in line}
    return tuple(sorted(found | {one.usual_date for one in generations().values()}))


STATED = Input(name="date", options=known_months(), ordered=True)
MAYBE = Input(name="date", options=(NOBODY, *known_months()), ordered=True)
"""A month that may be left open: nothing comes before all months."""


def said_of(values: Values) -> Said:
    """Return what is said of the software.

    Args:
        values: ``name`` and ``date``.
    """
    return Said(stack=values.get("name") or None, date=values.get("date") or None)


def _refused(check: Callable[[], object], date: str = NOBODY, **more: Any) -> dict[str, Any]:
    """Return the sentence of a refusal, its month left open; nothing where nothing is refused."""
    try:
        check()
    except ConfigError as error:
        return {"no": str(error).replace(repr(date), "'{date}'"), **more}
    return {}


def era_taken(values: Values) -> dict[str, Any]:
    """Return the month that is taken, or why there is no such way to shard, with the nearest."""
    said, device = said_of(values), device_of(values["generation"])
    stage = int(values["zero"])
    refused = _refused(lambda: sharding(said, device, stage))
    if refused:
        era = in_its_time(said, device)
        own = had_by(era, chosen_stack(era, sharded=stage > 2))
        return refused | {"near": min(own, key=lambda one: abs(one - stage))}
    kept = sharding(said, device, stage)
    return {"era": in_its_time(kept, device).date or NOBODY, "learnt": bool(kept.shards)}


def sharding_refused(values: Values) -> dict[str, Any]:
    """Return `era_taken` for a month that is stated: which it is, the page knows."""
    found = era_taken({**values, "generation": next(iter(generations()))})
    return {} if "era" in found else found


def stack_taken(values: Values) -> dict[str, Any]:
    """Return which stack is meant.

    Args:
        values: ``name``, ``date`` and ``sharded``.
    """
    said = said_of(values)
    return {"stack": chosen_stack(said, values["sharded"] == "1").name}


def bits_refused(values: Values) -> dict[str, Any]:
    """Return why a stack has no products of a precision, stated exactly or as a family's."""
    stack, date = stack_named(values["stack"]), values["date"]
    said = Said(stack=stack.name if values["exact"] == "1" else None, date=date or None)
    return _refused(lambda: check_bits(said, stack, values["precision"]), date)


def starts_refused(values: Values) -> dict[str, Any]:
    """Return why named software does not start on a generation of devices.

    Args:
        values: ``name`` and ``generation``; the page puts in the device.
    """
    device = device_of(values["generation"])
    found = _refused(lambda: check_starts(Said(stack=values["name"] or None), device))
    return {
        key: text.replace(f" on {device.name} ", " on {device} ") for key, text in found.items()
    }


def date_refused(values: Values) -> dict[str, Any]:
    """Return why a stack was not there yet in the month that is stated.

    Args:
        values: ``name`` and ``date``.
    """
    said = said_of(values)
    if not said.exact:
        return {}
    return _refused(lambda: check_date_of(said, stack_named(values["name"])), values["date"])


def facts_of_stack(values: Values) -> dict[str, Any]:
    """Return the facts of a stack, and what follows from how it shares context.

    Args:
        values: ``dated`` is 1 where its month is stated; else ``date`` is the one that is taken.
    """
    stack, shape = stack_named(values["stack"]), shape_of(values["kind"], values["latent"])
    device = device_of(values["generation"])
    said = Said(date=values["date"] or None) if values["dated"] == "1" else Said()
    conditions = conditions_of(said, device, shape, values["precision"])
    lines = stack.values(conditions, values["date"] or None)
    return {name: one.value for name, one in (context_facts(lines) | lines).items()}


def facts_trained(values: Values) -> dict[str, Any]:
    """Return what a model's own report says where nobody names software."""
    if not values["model"]:
        return {}
    shape, device = model(values["model"]), device_of(values["generation"])
    said = Said(date=values["date"] or None)
    conditions = conditions_of(said, device, shape, values["precision"])
    return {name: one.value for name, one in as_trained(said, shape, conditions).items()}


def records_assumed(values: Values) -> dict[str, Any]:
    """Return what is taken of the software as [what, value, why, how], its month left open."""
    device = device_of(values["generation"])
    era = Said(stack=values["name"] or None, date=values["date"] or None)
    era = in_its_time(era, device) if era.exact else era
    learnt = (int(values["learnt"]),) if values["learnt"] else ()
    dated = era.date if values["dated"] == "1" else None
    said = replace(era, date=dated, shards=learnt)
    shape = model(values["model"]) if values["model"] else shape_of(values["kind"], "0")
    conditions = conditions_of(said, device, shape, values["precision"])
    stack = chosen_stack(era, values["sharded"] == "1")
    found = assumed_of(said, replace(era, shards=learnt), stack, shape, conditions)

    def undated(text: str) -> str:
        return text.replace(era.date, "{era}") if era.date else text

    return {
        "records": [
            [undated(one.what), undated(one.value), undated(one.why), one.how] for one in found
        ]
    }
