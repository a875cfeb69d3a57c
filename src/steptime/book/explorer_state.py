"""A training step as the choices of the layout page, by the keys of the table of fields."""

from __future__ import annotations

from typing import Any

from steptime.inputs.fact import Value
from steptime.inputs.fields import BY_NAME, FIELDS, SIZES
from steptime.inputs.stack import WORD_FACTS
from steptime.inputs.training_step import TrainingStep

FIELD_KEYS = {field.name: field.key for field in FIELDS if field.key}
"""Where the page keeps each field; it keeps devices in place of the data-parallel size."""
HOW = ("nvlink_domain", "network_gbit", "stack", "date")
"""Fields where nothing stands for what is built in, or usual."""
SIZE_KEYS = {name: BY_NAME[name].key for name in SIZES if BY_NAME[name].key}


def asked_fields() -> dict[str, Any]:
    """Return what the page's modules know of the fields before any data: offers and bounds."""
    keyed = [field for field in FIELDS if field.key]
    return {
        "sizes": list(SIZE_KEYS.values()),
        "offered": {field.key: field.offered for field in keyed if field.offered},
        "most": {field.key: field.most for field in keyed if field.most},
    }


def state_of(step: TrainingStep) -> dict[str, Any]:
    """Return a step as the choices of the page, its model and domain apart.

    Args:
        step: What is asked.
    """
    layout, batch = step.layout, step.batch
    found = {"gpu": step.accelerator.name, "n": layout.num_devices}
    for name, key in FIELD_KEYS.items():
        for part in (layout, batch):
            if hasattr(part, name):
                found[key] = getattr(part, name)
    return found | {"sp": int(layout.sequence_parallel)}


def asked_of(state: dict[str, Any]) -> dict[str, Any]:
    """Return the choices of the page as `steptime.predict` takes them.

    Args:
        state: Of the page; its devices divide into the other sizes.
    """
    found = {name: state[key] for name, key in FIELD_KEYS.items() if key in state}
    found |= {"num_gpus": state["n"], "sequence_parallel": bool(state["sp"])}
    how = {name: state.get(FIELD_KEYS[name]) or None for name in HOW}
    return found | how | {"facts": _facts(state.get("facts", ""))}


def _facts(text: str) -> dict[str, Value]:
    """Return single facts as the page writes them, ``overlap_dp=0,kernel=flash-2``, by name."""
    pairs = (one.split("=") for one in text.split(",") if one)
    return {name: value if name in WORD_FACTS else float(value) for name, value in pairs}
