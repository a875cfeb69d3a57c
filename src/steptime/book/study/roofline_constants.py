"""§17a: the constants, how far the data pin them down, and the facts read off runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steptime.evidence.calibration import STAGES, calibrate
from steptime.evidence.leave_out import all_runs, scored
from steptime.inputs.constants import ConstantEntry, constant_entries
from steptime.inputs.stack import (
    BLOCK_SLOWDOWN,
    GB300_SCALE,
    ROW_SLOWDOWN,
    stack_named,
    stack_names,
)


@dataclass(frozen=True, slots=True)
class Pinned:
    """A constant, and how far it moves when each unit is left out.

    Attributes:
        entry: Value, range and source.
        low: Smallest value fitted.
        high: Largest value fitted.
    """

    entry: ConstantEntry
    low: float
    high: float


def pinned_constants() -> tuple[Pinned, ...]:
    """Return every constant; the fitted ones with the spread over fits that leave one unit out."""
    runs = all_runs()
    units = runs.column(lambda sample: sample.unit)
    counted = runs.column(scored)
    fits = [calibrate(runs, units != unit) for unit in np.unique(units[counted])]
    fitted = {name for stage in STAGES for name in stage.names}
    found = []
    for entry in constant_entries():
        values = [getattr(fit, entry.name) for fit in fits] if entry.name in fitted else []
        values = values or [entry.value]
        found.append(Pinned(entry, min(values), max(values)))
    return tuple(found)


def counts(pinned: Sequence[Pinned]) -> tuple[int, int]:
    """Return how many constants are fitted and how many are kept.

    Args:
        pinned: The constants.
    """
    fitted = sum(one.entry.fitted for one in pinned)
    return fitted, len(pinned) - fitted


@dataclass(frozen=True, slots=True)
class ReadOff:
    """A fact of one software stack that was read off the runs of a source.

    Attributes:
        stack: Key in ``data/stacks.toml``.
        fact: Field of `steptime.inputs.stack.StackFacts`, or ``kernel``.
        value: Its value, or the kernel's name.
        source: What it was read off.
    """

    stack: str
    fact: str
    value: str
    source: str


# Facts of a kind of product or device, whatever the stack.
_OF_SEVERAL = (
    ReadOff(
        "all, 8 bits with a scale for each row",
        "scaled_products",
        f"{ROW_SLOWDOWN:g}",
        "torchtitan2025's runs with row-wise beside tensor-wise scaling",
    ),
    ReadOff(
        "all, 8 bits with a scale for each block",
        "scaled_products",
        f"{BLOCK_SLOWDOWN:g}",
        "megatronbridge2026's seven pairs of dense runs",
    ),
    ReadOff(
        "all, on GB300",
        "power_scale",
        f"{GB300_SCALE:g}",
        "megatronbridge2026's dense runs on GB300 beside GB200",
    ),
    ReadOff(
        "megatron-bridge, before release 26.06",
        "old_experts",
        "1",
        "megatronbridge2026: the release from which experts no longer wait for the host",
    ),
)


def read_off_facts() -> tuple[ReadOff, ...]:
    """Return the facts whose source is a source's own runs: they stay when it is left out."""
    found = list(_OF_SEVERAL)
    for name in stack_names():
        stack = stack_named(name)
        for fact, source in stack.sources.items():
            if source.startswith("read off"):
                value = f"{stack.facts[fact]:g}" if fact in stack.facts else stack.kernel
                found.append(ReadOff(name, fact, value, source.removeprefix("read off ")))
    return tuple(found)
