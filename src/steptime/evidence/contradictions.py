"""Rows that print one outcome twice, where the two cannot both be right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steptime.evidence.measured import counted_flop_per_token
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import PublishedRow
from steptime.formulas.flops import num_devices, tokens_per_step

CONVENTIONS = ("model", "causal", "hardware", "parameters")
# Of 266 published rows that print both, 252 agree to 1 % under one of these ways.
MOST_APART = 0.05


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

    A rate is compared under every way of counting FLOP: what no way explains is wrong.

    Args:
        row: A run.
    """
    try:
        run = run_of(row)
        job = run.job()
        paces = list(_printed_s(run))
        if len(paces) == 2 and _apart(paces[0][1], paces[1][1]) > MOST_APART:
            other = f"{paces[1][1]:.4g} s a step"
            return f"{paces[0][0]} contradicts {paces[1][0]}, which amounts to {other}"
        if not paces or row.tflops_per_gpu is None:
            return ""
        name, step_time_s = paces[0]
        tokens = float(tokens_per_step(job) / num_devices(job))
        rates = {
            way: tokens * counted_flop_per_token(job, way) / step_time_s / 1e12
            for way in CONVENTIONS
        }
    except (Incomplete, ArithmeticError):
        return ""
    low, high = min(rates.values()), max(rates.values())
    if low / (1.0 + MOST_APART) <= row.tflops_per_gpu <= high * (1.0 + MOST_APART):
        return ""
    return (
        f"{name} contradicts tflops_per_gpu {row.tflops_per_gpu:g}: it amounts to {low:.4g} to "
        f"{high:.4g}, under any way of counting FLOP; check both, gpus, gbs and seq_len"
    )


def contradictions(rows: Iterable[PublishedRow]) -> tuple[tuple[str, str], ...]:
    """Return the id of each row whose outcomes contradict each other, and what they are.

    Args:
        rows: Runs.
    """
    told = ((row.id, contradiction(row)) for row in rows)
    return tuple((name, why) for name, why in told if why)
