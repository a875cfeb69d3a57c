"""Rows whose outcome cannot be right: printed twice and unlike, or past what a device can do.

Whether a row is a measurement is decided here alone, for times and peaks of memory alike: every
command, every mean and every fit asks `no_measurement`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steptime.answer.remarks import past_the_peak as peak_passed
from steptime.evidence.measured import counted_flop_per_token, published_step_time_s
from steptime.evidence.peak_bounds import peak_contradiction
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import PublishedRow
from steptime.formulas.flops import num_devices, tokens_per_step

CONVENTIONS = ("model", "causal", "hardware", "parameters")
# Of 266 published rows that print both, 252 agree to 1 % under one of these ways.
MOST_APART = 0.05
MOST_TIMES = 2.0
"""Outcomes of one row that are this many times apart are a unit or a size gone wrong."""
WILD = 10.0
"""Of 748 published runs none is missed by more than 5 times, on a cluster that stalled."""


def _printed_s(run: Run) -> Iterator[tuple[str, float]]:
    """Yield what a row prints of its pace, each with the seconds a step that it amounts to."""
    row = run.row
    if row.step_time_s is not None:
        yield f"step_time_s {row.step_time_s:g}", row.step_time_s
    if row.tokens_per_s_per_gpu is not None:
        tokens = float(tokens_per_step(run.job()) / num_devices(run.job()))
        told = f"tokens_per_s_per_gpu {row.tokens_per_s_per_gpu:g}"
        yield told, tokens / row.tokens_per_s_per_gpu


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

    A rate is compared under every way of counting FLOP: what no way explains is wrong.

    Args:
        row: A run.

    Returns:
        Nothing and 1 where they can.
    """
    try:
        run = run_of(row)
        job = run.job()
        paces = list(_printed_s(run))
        if len(paces) == 2 and _apart(paces[0][1], paces[1][1]) > MOST_APART:
            other = f"{paces[1][1]:.4g} s a step"
            why = f"{paces[0][0]} contradicts {paces[1][0]}, which amounts to {other}"
            return why, 1.0 + _apart(paces[0][1], paces[1][1])
        if not paces or row.tflops_per_gpu is None:
            return "", 1.0
        name, step_time_s = paces[0]
        tokens = float(tokens_per_step(job) / num_devices(job))
        rates = {
            way: tokens * counted_flop_per_token(job, way) / step_time_s / 1e12
            for way in CONVENTIONS
        }
    except (Incomplete, ArithmeticError):
        return "", 1.0
    low, high = min(rates.values()), max(rates.values())
    if low / (1.0 + MOST_APART) <= row.tflops_per_gpu <= high * (1.0 + MOST_APART):
        return "", 1.0
    why = (
        f"{name} contradicts tflops_per_gpu {row.tflops_per_gpu:g}: it amounts to {low:.4g} to "
        f"{high:.4g}, under any way of counting FLOP; check both, gpus, gbs and seq_len"
    )
    return why, max(row.tflops_per_gpu / high, low / row.tflops_per_gpu)


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
