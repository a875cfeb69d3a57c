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


class StatedSplit(TypedDict):
    """Stages whose layers are stated, and what the others have.

    ``stated`` is 1 where any is and ``ahead`` where the first is; the other ``stages`` share
    ``rest`` layers, ``each`` of them so many and ``longer`` of them one more.
    """

    stated: Number
    ahead: Number
    stages: Number
    rest: Number
    each: Number
    longer: Number
