"""Orders by schedule name, and the one-line reason why some sizes are refused.

Also turned into JavaScript.
"""

from __future__ import annotations

from typing import Any

from steptime.formulas.schedule import entry_number, schedule_fault, uneven_rounds
from steptime.formulas.schedule_rules import chunks_held, mended_sizes
from steptime.formulas.schedules.registry import order_of, place_of
from steptime.formulas.schedules.zb_searched import searched_ranks
from steptime.pipeline.filled import filled_orders


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


def tried_orders(
    name: str, p: int, m: int, v: int, lengths: list[list[Any]], send: Any
) -> list[list[list[int]]]:
    """Return the orders of which a schedule runs the shortest: one, but where a search makes it.

    `steptime.pipeline.searched` tries more of them.

    Args:
        name: One of ``formulas.schedule.SCHEDULES``.
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.
        lengths: Of F, I and W on each rank.
        send: Time of a message.
    """
    ranks = searched_ranks(name)
    tried = [build_orders(name, p, m, v)]
    if ranks < 0.0:
        return tried
    most = min(ranks * p, m) if ranks > 0.0 else m
    if most >= 2 * p - 1 or most == m:
        tried.append(build_orders("zb-h2", p, m, 1))
    for share in [1.0, 0.5]:
        tried.append(filled_orders(lengths, m, [most, 1.0], send, share)["orders"])
    return tried


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
