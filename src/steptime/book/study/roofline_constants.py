"""§17a: the constants, how far the data pin them down, and the facts read off runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steptime.evidence.calibration import STAGES, calibrate
from steptime.evidence.samples import all_runs, scored
from steptime.inputs.constants import ConstantEntry, constant_entries
from steptime.inputs.datafiles import data_table
from steptime.inputs.fact import Fact
from steptime.inputs.generation import generations
from steptime.inputs.precision import precisions
from steptime.inputs.run_words import Word, words
from steptime.inputs.stack import stacks

READ_OFF = "read off runs"


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
        values = [fit.values()[entry.name] for fit in fits] if entry.name in fitted else []
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
        fact: One of `steptime.inputs.stack.FACT_NAMES`, a kernel, or a field of the device.
        value: Its value, or the kernel's name.
        source: What it was read off.
    """

    stack: str
    fact: str
    value: str
    source: str


def read_off_facts() -> tuple[ReadOff, ...]:
    """Return the facts whose source is a source's own runs: they stay when it is left out."""
    found: list[ReadOff | None] = []
    for generation in generations().values():
        for kernel, rate in generation.kernels.items():
            if rate.kind == READ_OFF:
                value = f"{rate.flop_per_s / 1e12:g} TFLOP/s"
                found.append(ReadOff(f"all, on {generation.name}", kernel, value, rate.source))
    for key, entry in data_table("accelerators.toml").items():
        for name, source in entry["source"].items():
            if source.startswith(READ_OFF.removesuffix(" runs")):
                found.append(ReadOff(f"all, on {key}", name, f"{entry[name]:g}", source))
    for precision in precisions().values():
        found += [_of(f"all, in {precision.name}", fact) for fact in precision.facts]
    for word in words("precision").values():
        found += [_of_word(word, name, value) for name, value in word.facts.items()]
    for stack in stacks().values():
        found += [_of(stack.name, fact) for fact in stack.facts]
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _of(whose: str, fact: Fact) -> ReadOff | None:
    if fact.kind != READ_OFF:
        return None
    value = fact.value if isinstance(fact.value, str) else f"{fact.value:g}"
    return ReadOff(whose, fact.name, value, fact.source)


def _of_word(word: Word, name: str, value: float) -> ReadOff | None:
    if word.more.get("kind") != READ_OFF:
        return None
    return ReadOff(f"all, {word.meaning}", name, f"{value:g}", str(word.more["source"]))
