"""What is taken of the software where nobody names any, as the explorer's page puts it together.

Two kinds of software at most are common to all devices; what a device, a mixture of experts, a
precision or a model changes of them stands apart, so that the page holds each fact once.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from steptime.inputs.accelerator import Accelerator
from steptime.inputs.model import Experts, ModelShape
from steptime.inputs.precision import precisions
from steptime.inputs.presets import accelerator, accelerator_names
from steptime.inputs.said import NOTHING_SAID
from steptime.inputs.software import conditions_of, software
from steptime.inputs.software_taken import MIXTURES, as_trained

PLAIN = "bf16"
NARROW = "fp8"
"""The precision in 8 bits that has no facts of its own."""
MIXTURE = Experts(num_experts=2, top_k=1, expert_ffn_hidden_size=1)
"""Any: facts follow from there being experts, not from how many."""


def facts_of(device: Accelerator, model_shape: ModelShape, precision: str) -> list[dict[str, Any]]:
    """Return the facts of the software that is assumed: weights whole, and weights shared.

    Args:
        device: The accelerator.
        model_shape: Has facts of its own.
        precision: Of the products.
    """
    found = []
    for sharing in (False, True):
        one = software(NOTHING_SAID, device, model_shape, precision, sharing)
        time = None if one.time is None else asdict(one.time)
        names = {
            "name": one.stack.name,
            "title": f"{one.stack.title}: {MIXTURES[one.stack.family]}",
        }
        found.append({**names, "time": time, "memory": asdict(one.memory)})
    return found


def common_facts(device: Accelerator, shape: ModelShape) -> list[dict[str, Any]]:
    """Return the facts in 16 bits on a device: others differ in few.

    What experts and products in 8 bits change of the memory is the same on all devices.

    Args:
        device: The first one.
        shape: A dense model without facts of its own.
    """
    common = facts_of(device, shape, PLAIN)
    experts = facts_of(device, replace(shape, experts=MIXTURE), PLAIN)
    narrow = facts_of(device, shape, NARROW)
    return [
        {**one, "experts": _held(mixed, one), "narrow": _held(eight, one)}
        for one, mixed, eight in zip(common, experts, narrow, strict=True)
    ]


def device_facts(device: Accelerator, shape: ModelShape) -> list[dict[str, float]] | None:
    """Return what the time of the assumed software differs in on a device, None if unknown there.

    Args:
        device: The accelerator.
        shape: As in `common_facts`.
    """
    common = common_facts(accelerator(accelerator_names()[0]), shape)
    return _changed(facts_of(device, shape, PLAIN), common)


def held_facts(device: Accelerator, shape: ModelShape) -> list[dict[str, float]]:
    """Return what the memory of the assumed software differs in on a device: its usual date tells.

    Args:
        device: The accelerator.
        shape: As in `common_facts`.
    """
    common = common_facts(accelerator(accelerator_names()[0]), shape)
    found = facts_of(device, shape, PLAIN)
    return [_held(one, other) for one, other in zip(found, common, strict=True)]


def experts_facts(device: Accelerator, shape: ModelShape) -> list[dict[str, float]] | None:
    """Return what the time of the assumed software differs in for a mixture of experts.

    Args:
        device: The accelerator: how old the software is follows from it.
        shape: As in `common_facts`.
    """
    mixture = replace(shape, experts=MIXTURE)
    return _changed(facts_of(device, mixture, PLAIN), facts_of(device, shape, PLAIN))


def narrow_facts(device: Accelerator, shape: ModelShape) -> list[dict[str, float]] | None:
    """Return what the time of the assumed software differs in where products have 8 bits or fewer.

    Args:
        device: The accelerator: how old the software is follows from it.
        shape: As in `common_facts`.
    """
    return _changed(facts_of(device, shape, NARROW), facts_of(device, shape, PLAIN))


def _held(one: dict[str, Any], other: dict[str, Any]) -> dict[str, float]:
    """Return the facts of the memory that differ."""
    held = other["memory"]
    return {name: value for name, value in one["memory"].items() if value != held[name]}


def _changed(
    found: list[dict[str, Any]], common: list[dict[str, Any]]
) -> list[dict[str, float]] | None:
    """Return the facts of the time that differ, for each kind of software."""
    if any(one["time"] is None for one in found):
        return None
    return [
        {name: value for name, value in one["time"].items() if value != other["time"][name]}
        for one, other in zip(found, common, strict=True)
    ]


def precision_entries() -> list[dict[str, Any]]:
    """Return every precision: what it needs of a device, and its facts."""
    return [
        {
            "key": name,
            "bits": one.bits,
            "fp8": float(one.fp8),
            "needs": one.needs,
            "facts": {fact.name: fact.value for fact in one.facts},
        }
        for name, one in precisions().items()
    ]


def model_facts(shape: ModelShape) -> dict[str, Any]:
    """Return the facts of the software that follow from a model, whatever its layout.

    Args:
        shape: The model.
    """
    return {fact.name: fact.value for fact in shape.facts}


def trained_facts(shape: ModelShape, device: Accelerator) -> dict[str, dict[str, Any]] | None:
    """Return by precision what a model's own report says of software that nobody names.

    Args:
        shape: The model.
        device: Any: no line of such a stack depends on it.
    """
    if not shape.trained_with:
        return None
    found = {}
    for name in precisions():
        conditions = conditions_of(NOTHING_SAID, device, shape, name)
        lines = as_trained(NOTHING_SAID, shape, conditions)
        found[name] = {fact.name: fact.value for fact in lines.values()}
    return found
