"""Facts that were stated and that a layout does not ask for: said, so that none looks counted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from steptime.answer.known import Known
from steptime.formulas.memory import memory_total_bytes
from steptime.formulas.records import Job
from steptime.inputs.assumed import Assumed
from steptime.inputs.fact import Value
from steptime.inputs.fact_kinds import FactKind, fact_kinds
from steptime.inputs.software import Software

UNUSED = "not used: neither time nor memory of this layout depend on it"


def unused_facts(
    stated: Mapping[str, Value], known: Known, record: Job, one: Software
) -> tuple[Assumed, ...]:
    """Return a record of each stated number that the answer does not depend on.

    Args:
        stated: Names and values of facts.
        known: Answers for the time.
        record: Of the layout.
        one: The software with the facts in it.
    """
    if not stated:
        return ()
    found, now = [], _answered(known, record, one)
    for name, value in stated.items():
        kind = fact_kinds().get(name)
        if kind is None or isinstance(value, str):
            continue
        others = [other for other in _others(kind, float(value)) if other != value]
        if all(_answered(known, record, _with(one, name, other)) == now for other in others):
            found.append(Assumed(what=name, value=f"{value:g}", why=UNUSED))
    return tuple(found)


def _others(kind: FactKind, value: float) -> list[float]:
    """Return values of the same kind on both sides of one."""
    most = kind.most if math.isfinite(kind.most) else 2.0 * abs(value) + 1.0
    least = kind.least if math.isfinite(kind.least) else -most
    return [other for other in (least, value + 1.0, most) if kind.holds(other)]


def _with(one: Software, name: str, value: float) -> Software:
    time, memory = one.time, one.memory
    if time is not None and hasattr(time, name):
        time = replace(time, **{name: value})
    if hasattr(memory, name):
        memory = replace(memory, **{name: value})
    return replace(one, time=time, memory=memory)


def _answered(known: Known, record: Job, one: Software) -> tuple[Any, ...]:
    return (*known.parts(record, one).values(), memory_total_bytes(record, one.memory))
