"""Rows whose outcome cannot be right: printed twice and unlike, or past what a device can do.

Whether a row is a measurement is decided here alone, for times and peaks of memory alike: every
command, every mean and every fit asks `no_measurement`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from steptime.answer.remarks import past_the_peak as peak_passed
from steptime.evidence.measured import counted_flop_per_token, published_step_time_s
from steptime.evidence.peak_bounds import peak_contradiction
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import PublishedRow
from steptime.formulas.flops import num_devices, tokens_per_step
from steptime.inputs.job import Job

CONVENTIONS = ("model", "causal", "hardware", "parameters")
CHECK = "; check both, gpus, gbs and seq_len"
# Of 266 published rows that print both, 252 agree to 1 % under one of these ways.
MOST_APART = 0.05
MOST_TIMES = 2.0
"""Outcomes of one row that are this many times apart are a unit or a size gone wrong."""
WILD = 10.0
"""Of 748 published runs none is missed by more than 5 times, on a cluster that stalled."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What a row or a log prints of one pace, in up to three ways.

    Attributes:
        step_time_s: Seconds of a step; None where it is not printed.
        tokens_per_s_per_gpu: Likewise.
        tflops_per_gpu: By its source's own way of counting FLOP; likewise.
        rounding: Largest part of ``tflops_per_gpu`` that its last printed digit hides.
    """

    step_time_s: float | None
    tokens_per_s_per_gpu: float | None
    tflops_per_gpu: float | None
    rounding: float = 0.0

    def conflict(self, job: Job) -> tuple[str, float]:
        """Return why they cannot all be right, and how many times apart they are.

        A rate is compared under every way of counting FLOP: what no way explains is wrong.

        Args:
            job: The run.

        Returns:
            Nothing and 1 where they can.
        """
        tokens = float(tokens_per_step(job) / num_devices(job))
        paces = list(self._paces_s(tokens))
        if len(paces) == 2 and _apart(paces[0][1], paces[1][1]) > MOST_APART:
            other = f"{paces[1][1]:.4g} s a step"
            why = f"{paces[0][0]} contradicts {paces[1][0]}, which amounts to {other}"
            return why, 1.0 + _apart(paces[0][1], paces[1][1])
        if not paces or self.tflops_per_gpu is None:
            return "", 1.0
        name, step_time_s = paces[0]
        ways = [tokens * counted_flop_per_token(job, way) / step_time_s for way in CONVENTIONS]
        low, high = min(ways) / 1e12, max(ways) / 1e12
        loose, rate = 1.0 + MOST_APART + self.rounding, self.tflops_per_gpu
        if low / loose <= rate <= high * loose:
            return "", 1.0
        why = (
            f"{name} contradicts tflops_per_gpu {rate:g}: it amounts to {low:.4g} to {high:.4g}, "
            f"under any way of counting FLOP{CHECK}"
        )
        return why, max(rate / high, low / rate)

    def _paces_s(self, tokens: float) -> Iterator[tuple[str, float]]:
        """Yield what is printed of the pace, each with the seconds a step that it amounts to."""
        if self.step_time_s is not None:
            yield f"step_time_s {self.step_time_s:g}", self.step_time_s
        if self.tokens_per_s_per_gpu is not None:
            told = f"tokens_per_s_per_gpu {self.tokens_per_s_per_gpu:g}"
            yield told, tokens / self.tokens_per_s_per_gpu


def _apart(one: float, other: float) -> float:
    """Return by what fraction the larger of two exceeds the smaller."""
    return max(one, other) / min(one, other) - 1.0


def contradiction(row: PublishedRow) -> str:
    """Return a sentence if a row's outcomes cannot both be right, else nothing.

    Args:
        row: A run.
    """
    why, _ = conflict(row)
    try:
        run = run_of(row)
        return why or _past_its_device(run, _measured_s(run))
    except (Incomplete, ArithmeticError):
        return why


def _measured_s(run: Run) -> float | None:
    """Return the seconds of a step as a row has them; None where it prints a peak alone."""
    try:
        return published_step_time_s(run)
    except Incomplete:
        return None


def _past_its_device(run: Run, measured_s: float | None) -> str:
    """Return why a row contradicts its device, in time or memory; nothing where it does not."""
    passed = "" if measured_s is None else past_the_peak(run, measured_s)
    return passed or peak_contradiction(run)


def conflict(row: PublishedRow) -> tuple[str, float]:
    """Return why a row's outcomes cannot both be right, and how many times apart they are.

    Args:
        row: A run.

    Returns:
        Nothing and 1 where they can.
    """
    outcomes = Outcomes(row.step_time_s, row.tokens_per_s_per_gpu, row.tflops_per_gpu)
    try:
        return outcomes.conflict(run_of(row).job())
    except (Incomplete, ArithmeticError):
        return "", 1.0


def past_the_peak(run: Run, measured_s: float) -> str:
    """Return a sentence if a run computes faster than its device can, however FLOP count.

    Args:
        run: The run.
        measured_s: Seconds of a step as the row has them.
    """
    return peak_passed(run.job(), run.accelerator, run.layout.precision, measured_s)


def no_measurement(run: Run, predicted_s: float | None = None) -> str:
    """Return why a run cannot have been measured so, and no mean should count it; else nothing.

    Args:
        run: The run.
        predicted_s: Seconds of a step as a model has them; None where none can be told.

    Returns:
        That it is faster than its device can be, holds more than the device has or less than it
        must, contradicts itself, or is off by so much that a unit or a size must be wrong.
    """
    measured_s = _measured_s(run)
    if why := _past_its_device(run, measured_s):
        return why
    why, times = conflict(run.row)
    if times > MOST_TIMES:
        return why
    if predicted_s is None or measured_s is None:
        return ""
    off = max(measured_s / predicted_s, predicted_s / measured_s)
    if off <= WILD:
        return ""
    return (
        f"measured {measured_s:.4g} s a step, predicted {predicted_s:.4g} s, {off:,.0f} times "
        "apart: check units, gpus, gbs and seq_len"
    )


def contradictions(rows: Iterable[PublishedRow]) -> tuple[tuple[str, str], ...]:
    """Return the id of each row whose outcomes contradict each other, and what they are.

    Args:
        rows: Runs.
    """
    told = ((row.id, contradiction(row)) for row in rows)
    return tuple((name, why) for name, why in told if why)
