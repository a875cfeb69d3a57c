"""Why three figures for DualPipe go round: one schedule by three yardsticks.

At equal parameters on every device, in seconds and bytes, with the stage times that papers print.
"""

from __future__ import annotations

from dataclasses import dataclass

from steptime.book.tables.markdown import fixed, percent
from steptime.pipeline.stage_times import compared, presets

SHOWN = ("1f1b", "dualpipe", "dualpipe-v", "zb-v")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One schedule with one paper's stage times.

    Attributes:
        times: Name of the stage times.
        schedule: Name of the schedule.
        step_s: Time of a step.
        idle: Idle share of it.
        held_bytes: Activations on the fullest rank.
    """

    times: str
    schedule: str
    step_s: float
    idle: float
    held_bytes: float


def answers() -> list[Answer]:
    """Return the schedules for each stage times in seconds, at equal parameters."""
    return [
        Answer(
            times=name,
            schedule=row.name,
            step_s=row.step,
            idle=row.idle,
            held_bytes=row.held * times.activation_bytes,
        )
        for name, times in presets().items()
        if times.seconds and times.num_ranks
        for row in compared(times.num_ranks, times.num_micro_batches, times, SHOWN)
    ]


def dualpipe_values() -> dict[str, str]:
    """Return the answers by names that a page can use, such as ``ex_dp_15b_zbv_s``."""
    found = {}
    for one in answers():
        name = (
            f"ex_dp_{one.times.partition('-')[2].replace('.', '')}_{one.schedule.replace('-', '')}"
        )
        found[f"{name}_s"] = f"{fixed(one.step_s, 2)} s"
        found[f"{name}_gb"] = f"{fixed(one.held_bytes / 1e9, 1)} GB"
    last = {one.schedule: percent(one.idle, 1) for one in answers()[-len(SHOWN) :]}
    return {**found, "ex_dp_idle_dualpipe": last["dualpipe"], "ex_dp_idle_zbv": last["zb-v"]}
