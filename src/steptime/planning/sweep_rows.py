"""What a sweep keeps of one search: a row a layout, with the same columns in every answer."""

from __future__ import annotations

from typing import Any

from steptime.inputs.fields import SIZES
from steptime.planning.cost import Whole
from steptime.planning.result import SearchResult, answered
from steptime.planning.task import Task

COLUMNS = (*SIZES, "zero_stage", "recompute", "schedule", "sequence_parallel")
FOUND = ("micro_batch_size", "step_time_s", "memory_bytes", "fit_probability")
OF_THE_RUN = ("days", "days_low", "days_high", "cost", "cost_low", "cost_high", "energy_mwh")

KINDS: dict[str, type] = {
    **dict.fromkeys(("rank", *SIZES, "zero_stage", "micro_batch_size"), int),
    **dict.fromkeys(("recompute", "schedule", "beyond", "unstated"), str),
    "sequence_parallel": bool,
    **dict.fromkeys(("step_time_s", "memory_bytes", "fit_probability"), float),
    **dict.fromkeys(("best_step_time_low_s", "best_step_time_high_s"), float),
    **dict.fromkeys(("unstated_low_s", "unstated_high_s"), float),
    **dict.fromkeys((*OF_THE_RUN, "goodput_fraction"), float),
}
"""Of each column that may be empty in a whole file: readers take the kinds of the first one."""


def rows_of(task: Task, result: SearchResult) -> list[dict[str, Any]]:
    """Return the rows of one question: its best layouts, or one row without any.

    Args:
        task: The question with what it depends on.
        result: What was found.
    """
    asked = task.question.summary() | {
        "answered_by": task.answered_by,
        "num_evaluated": result.num_evaluated,
        "num_fitting": result.num_fitting,
        **how_sure(result),
    }
    rows = [
        asked
        | {"rank": place}
        | {name: getattr(one.layout, name) for name in COLUMNS}
        | {
            "micro_batch_size": one.batch.micro_batch_size,
            "step_time_s": one.step_time_s,
            "memory_bytes": one.memory_bytes,
            "fit_probability": one.fit_probability,
        }
        | whole_run(result, place - 1, task.whole)
        for place, one in enumerate(result.best, 1)
    ]
    empty = dict.fromkeys((*COLUMNS, *FOUND))
    return rows or [asked | {"rank": None} | empty | whole_run(result, 0, None)]


def whole_run(result: SearchResult, place: int, whole: Whole | None) -> dict[str, float | None]:
    """Return days, cost and energy of a whole run with a layout; None for each that is not asked.

    Args:
        result: Of one question.
        place: Of the layout among the best.
        whole: What is said of the run.
    """
    if whole is None:
        return dict.fromkeys((*OF_THE_RUN, "goodput_fraction"))
    run = result.run(
        whole.tokens,
        place=place,
        price_per_gpu_hour=whole.price_per_gpu_hour,
        failures=whole.failures,
    )
    told = {name: getattr(run, name) for name in OF_THE_RUN}
    return told | {"goodput_fraction": run.goodput and run.goodput.fraction}


def how_sure(result: SearchResult) -> dict[str, Any]:
    """Return how sure the best layout's time is, and what would narrow it most if it were stated.

    Args:
        result: Of one question; nothing is said where it found no layout.
    """
    found = answered(result.question, result.best[0]) if result.best else None
    most = found.unstated[0] if found is not None and found.unstated else None
    return {
        "best_step_time_low_s": found and found.step_time_low_s,
        "best_step_time_high_s": found and found.step_time_high_s,
        "beyond": found and "; ".join(map(str, found.beyond)),
        "unstated": most and most.how,
        "unstated_low_s": most and most.low_s,
        "unstated_high_s": most and most.high_s,
    }
