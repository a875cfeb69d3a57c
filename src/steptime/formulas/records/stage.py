"""Where stages are cut, as the memory model counts it."""

from typing import TypedDict

from steptime.formulas.number import Number


class EndSlots(TypedDict):
    """Layers that embedding and head count for where stages are cut."""

    embedding: Number
    head: Number


class StageCut(TypedDict):
    """What places every cut."""

    slots: Number
    stage_slots: Number
    shift: Number
    dense_layers: Number
