"""Orders by schedule name, and the one-line reason why some sizes are refused.

Also turned into JavaScript.
"""

from __future__ import annotations

from steptime.formulas.schedule import entry_number, schedule_fault, uneven_rounds
from steptime.formulas.schedule_rules import chunks_held, mended_sizes
from steptime.formulas.schedules.registry import order_of, place_of


def build_orders(name: str, p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of a schedule; `refusal` must have returned an empty text.

    Args:
        name: One of ``formulas.schedule.SCHEDULES``.
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    Returns:
        Per rank a list of action codes, see `codes`, with ``S = p v`` stages (DualPipe: p).
    """
    return order_of(place_of(name), p, m, v)


def fixed_chunks(name: str) -> int:
    """Return the chunks a rank must hold under a schedule, or 0 where any number will do.

    Args:
        name: One of ``formulas.schedule.SCHEDULES``.
    """
    return int(chunks_held(place_of(name)))


def refusal(name: str, p: int, m: int, v: int) -> str:
    """Return why a schedule cannot run at these sizes, with sizes that it can, or "".

    Here interleaved 1F1B runs equal rounds, as PyTorch does, and so obeys its zero-bubble
    form's rule; Megatron-LM's last round may be shorter, which the formulas allow.

    Args:
        name: One of ``formulas.schedule.SCHEDULES``.
        p: Pipeline ranks, at least 1.
        m: Micro-batches, at least 1.
        v: Chunks a rank holds, at least 1.
    """
    chunks = fixed_chunks(name)
    if chunks > 0 and v != chunks:
        return f"{name} needs chunks={chunks}, got {v}"
    place = place_of(name)
    rule = schedule_fault(place, p, m, v)
    if v > 1 and entry_number("whole_rounds", place) > 0.0 and uneven_rounds(p, m) > 0.0:
        rule = 1.0
    fit = mended_sizes(p, m)
    if rule == 1:
        return (
            f"{name} runs equal rounds of at least stages={p}, and micro_batches={m} does not "
            f"fall into such; use micro_batches={int(fit['fewer'])} or {int(fit['more'])}"
        )
    if rule == 2:
        return (
            f"{name} needs an even number of stages and of micro-batches, got {p} and {m}; "
            f"use {int(fit['even_pp'])} and {int(fit['even'])}"
        )
    if rule == 3:
        return f"{name} needs micro_batches >= 2 x stages = {int(fit['least'])}, got {m}"
    return ""
