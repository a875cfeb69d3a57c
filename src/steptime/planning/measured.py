"""A measured step beside the answer: in the interval or not, and what the gap could be."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from steptime.answer.answer import Prediction
from steptime.answer.remarks import past_the_peak
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.planning.cause_flags import flag_of
from steptime.planning.causes import CONVENTIONS, Asker, Cause
from steptime.planning.change import may_run
from steptime.planning.remedy import remedies

# Commas stand between groups of three digits; 3,5 is no number here.
_NUMBER = r"((?:\d{1,3}(?:,\d{3})+|\d[\d_]*)(?:\.\d+)?(?:[eE][+-]?\d+)?)"
_TEXT = re.compile(rf"\s*{_NUMBER}\s*([A-Za-z/ .]*)\s*\Z")
UNITS = {
    "": "rate",
    "tflop/s": "rate",
    "tflops": "rate",
    "tflop/s/gpu": "rate",
    "tflops/gpu": "rate",
    "s": "seconds",
    "sec": "seconds",
    "seconds": "seconds",
    "ms": "milliseconds",
    "tok/s": "tokens",
    "tokens/s": "tokens",
    "tok/s/gpu": "tokens of a device",
    "tokens/s/gpu": "tokens of a device",
}
"""What each unit of ``--measured`` is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured, as written and as seconds.

    Attributes:
        text: As written.
        unit: A value of ``UNITS``.
        value: The number.
        step_time_s: Seconds of one step.
    """

    text: str
    unit: str
    value: float
    step_time_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A measured step beside the answer.

    Attributes:
        measured: What was measured.
        own: The answer.
        inside: Whether it lies in the interval; None where there is none.
        causes: What the gap could be, what leaves least of it first; empty inside.
        change: The one flag to change; empty if none is known.
        gain_fraction: Share of the predicted step that it would save; 0 if not known.
        rest: What the model has no part for.
    """

    measured: Measured
    own: Prediction
    inside: bool | None
    causes: tuple[Cause, ...]
    change: str
    gain_fraction: float
    rest: str


def measured(text: str, own: Prediction, whose: str = "--measured") -> Measured:
    """Return what a text says was measured, in seconds of one step.

    Args:
        text: ``296`` (TFLOP/s of a device), ``11.2s``, ``950ms``, ``3500tok/s`` of the whole job
            or ``220tok/s/gpu``.
        own: The answer, for the FLOP and the tokens of a step.
        whose: What an error calls it.

    Raises:
        ConfigError: If it is none of these, or faster than the device can be.
    """
    match = _TEXT.match(text[:60])
    unit = None if match is None else UNITS.get(match[2].strip().lower().replace(" ", ""))
    value = 0.0 if match is None else float(match[1].replace(",", "").replace("_", ""))
    if unit is None or not 0.0 < value < math.inf:
        raise ConfigError(
            f"{whose} {text[:60]!r} is not understood; give TFLOP/s of a GPU (296), seconds "
            "(11.2s, 950ms) or tokens (3500tok/s of the whole job, 220tok/s/gpu)"
        )
    seconds = {
        "rate": own.step_time_s * own.tflops_per_gpu / value,
        "seconds": value,
        "milliseconds": value / 1000.0,
        "tokens": own.step_time_s * own.tokens_per_s / value,
        "tokens of a device": own.step_time_s * own.tokens_per_s_per_gpu / value,
    }[unit]
    if why := _impossible(own, seconds):
        raise ConfigError(f"{whose} {text[:60]!r} cannot have been measured: {why}")
    return Measured(text=text, unit=unit, value=value, step_time_s=seconds)


def _impossible(own: Prediction, step_time_s: float) -> str:
    step = own.step
    return past_the_peak(own.record, step.accelerator, step.layout.precision, step_time_s)


def compared(
    found: Measured,
    own: Prediction,
    *,
    asks_wide: bool = False,
    ruled_out: frozenset[str] = frozenset(),
    software: str = "",
    constants: RooflineConstants | None = None,
) -> Comparison:
    """Return a measured step beside the answer, and what the gap could be.

    Args:
        found: What was measured.
        own: The answer.
        asks_wide: Whether the launch file asks for products in 32 bits.
        ruled_out: Causes that it rules out.
        software: Family of the launch file's software.
        constants: Of the roofline model; the published ones if None.
    """
    asker = Asker(
        own=own,
        software=software,
        constants=constants,
        ruled_out=ruled_out,
        asked_for="fp32" if asks_wide else "",
    )
    low, high = own.step_time_low_s, own.step_time_high_s
    inside = None if low is None or high is None else low <= found.step_time_s <= high
    causes: tuple[Cause, ...] = ()
    if not inside:
        found_causes = asker.causes(found.step_time_s, is_rate=found.unit == "rate")
        causes = tuple(sorted(found_causes, key=lambda one: _left(one, found, own)))
        if asks_wide:
            # What the file itself asks for needs no guess.
            causes = tuple(sorted(causes, key=lambda one: one.name != "fp32"))
    change, gain = asker.best_change()
    if causes and causes[0].flag:
        change, gain = causes[0].flag, 0.0
    elif inside and asks_wide:
        change, gain = flag_of("fp32", software), 0.0
    if not change and not may_run(own):
        # Nothing makes it faster and leaner: it has to fit before it can be faster.
        change = next((one.change for one in remedies(own) if one.enough), "")
    words = data_table("causes.toml")["rest"]
    rest = words["all"]
    if found.step_time_s < own.step_time_s:
        rest = words["faster"]
    elif own.step.model.experts is not None:
        rest = f"{words['experts']}; {rest}"
    return Comparison(
        measured=found,
        own=own,
        inside=inside,
        causes=causes,
        change=change,
        gain_fraction=gain,
        rest=rest,
    )


def _left(one: Cause, found: Measured, own: Prediction) -> float:
    """Return how much of the gap a cause leaves, in ln(step time)."""
    if one.name in CONVENTIONS:
        return abs(math.log(one.step_time_s / own.step_time_s))
    return abs(math.log(one.step_time_s / found.step_time_s))
