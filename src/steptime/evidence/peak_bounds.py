"""Peaks of memory that no device can have held, and those too small for what a run must hold."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.evidence.memory_reading import GIB, ran_in, shown_bytes, unit_bytes
from steptime.evidence.row_question import RunQuestion, question_of_run
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import PublishedRow
from steptime.formulas.records import MemoryFacts
from steptime.inputs.said import NOTHING

LEAST_STATES_BYTES = 6.0
"""Per parameter: a weight and Adam's two moments in 16 bits, gradients given back as they come.
What runs hold at least whose software nobody names."""
TIMES_UNDER = 10.0
"""Of 174 published peaks none is under what is counted by more than 1.4 times."""
_NEAR = 3.0
_UNITS = {"MiB": 2.0**20, "bytes": 1.0, "KiB": 2.0**10, "TB": 1e12}
"""Other units in which a cell may stand, as bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """What is counted of a run: bytes that its tool would show, and those it must hold."""

    shown: float
    held: float


def _states_bytes(facts: MemoryFacts, named: bool) -> float:
    """Return bytes per parameter that a run must hold somewhere on its devices."""
    gradients = 0.0 if facts.gradients_freed else facts.gradient_bytes
    held = facts.weight_bytes + gradients + facts.master_bytes + facts.moment_bytes
    least = held if named else min(held, LEAST_STATES_BYTES)
    return float(least * (1.0 - facts.offloaded_states))


def _counted(found: RunQuestion) -> _Counted:
    """Return what is counted of a run; its states shared over everything that could share them."""
    reading, memory = ran_in(found)
    rank = memory.ranks[0] if reading.first_rank else memory.fullest
    each = _states_bytes(reading.facts, found.software.knowledge != NOTHING)
    sharing = float(found.job.dp * found.job.cp)
    return _Counted(shown=shown_bytes(rank, reading), held=rank.parameters * each / sharing)


def _other_unit(value: float, device_bytes: float, counted: _Counted | None) -> str:
    """Return in which unit a cell would be near what is counted; nothing where in none."""
    if counted is None:
        return ""
    units = _UNITS if value > 1.0 else {**_UNITS, "shares of the device's memory": device_bytes}
    for name, size in units.items():
        if 1.0 / _NEAR < value * size / counted.shown < _NEAR:
            return f": likely a wrong unit, {value:g} {name} would be {value * size / 1e9:.1f} GB"
    return ""


def peak_contradiction(run: Run) -> str:
    """Return why a run's peak of memory cannot be right, else nothing.

    Args:
        run: The run.

    Returns:
        That it is more than a device has, less than the run must hold on each, or so far under
        what is counted that its unit must be wrong.
    """
    row, device = run.row, run.accelerator
    if row.mem_gb is None:
        return ""
    unit = unit_bytes(row)
    peak = row.mem_gb * unit
    try:
        counted = _counted(question_of_run(run))
    except (Incomplete, ArithmeticError):
        counted = None
    hint = _other_unit(row.mem_gb, device.hbm_bytes, counted)
    if peak > device.hbm_bytes:
        return (
            f"mem_gb {peak / 1e9:.1f} GB is more than a device has ({device.name}: "
            f"{device.hbm_bytes / 1e9:.1f} GB){hint}; check mem_gb, mem_unit and gpu"
        )
    if counted is None:
        return ""
    said = f"mem_gb {row.mem_gb:g} {'GiB' if unit == GIB else 'GB'}"
    if peak < counted.held:
        return (
            f"{said} is less than the {counted.held / 1e9:.3g} GB of weights, gradients and "
            f"optimizer states that each device holds where all is shared{hint}; check mem_gb and "
            "mem_unit, model and gpus, or say in column facts what is kept (offloaded_states=1)"
        )
    if peak * TIMES_UNDER < counted.shown:
        return (
            f"{said} is {counted.shown / peak:,.0f} times less than the {counted.shown / 1e9:.1f} "
            f"GB that are counted{hint}; check mem_gb and mem_unit, mbs and seq_len"
        )
    return ""


def contradicts_its_peak(row: PublishedRow) -> bool:
    """Return whether a row prints a peak of memory that cannot be right.

    Args:
        row: A row, which may lack what any model needs.
    """
    try:
        return bool(peak_contradiction(run_of(row)))
    except Incomplete:
        return False
