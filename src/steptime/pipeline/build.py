"""Orders by schedule name, and the one-line reason why some sizes are refused.

Also turned into JavaScript.
"""

from __future__ import annotations

from typing import Any

from steptime.formulas.schedule import entry_number
from steptime.formulas.schedule_rules import chunks_held, mended_sizes, schedule_rule
from steptime.formulas.schedules.registry import order_of, place_of
from steptime.formulas.schedules.zb_searched import searched_ranks
from steptime.pipeline.filled import filled_orders


def build_orders(name: str, p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of a schedule; `refusal` must have returned an empty text.

    One rank has nothing to fold and nobody to pair with: it runs one chunk, as 1F1B does.

    Args:
        name: One of ``formulas.schedule.SCHEDULES``.
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    Returns:
        Per rank a list of action codes, see `codes`, with ``S = p v`` stages (DualPipe: p).
    """
    place = place_of(name)
    folds = chunks_held(place) > 1.0 or entry_number("copies", place) > 1.0
    return order_of(place_of("1f1b") if p * v == 1 and folds else place, p, m, v)


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

    The rule is that of every answer, `steptime.formulas.schedule_rules.schedule_rule`.

    Args:
        name: One of ``formulas.schedule.SCHEDULES``.
        p: Pipeline ranks, at least 1.
        m: Micro-batches, at least 1.
        v: Chunks a rank holds, at least 1.
    """
    rule = schedule_rule(place_of(name), p, m, v)
    fit = mended_sizes(p, m)
    if rule == 1 or rule == 2:
        return f"{name} needs chunks={fixed_chunks(name)}, got {v}"
    if rule == 3:
        return (
            f"{name} runs equal rounds of at least stages={p}, and micro_batches={m} does not "
            f"fall into such; use micro_batches={int(fit['fewer'])} or {int(fit['more'])}"
        )
    if rule == 4 or rule == 7:
        return (
            f"{name} needs an even number of stages and of micro-batches, got {p} and {m}; "
            f"use {int(fit['even_pp'])} and {int(fit['even'])}"
        )
    if rule == 5:
        return f"{name} needs micro_batches >= 2 x stages = {int(fit['least'])}, got {m}"
    if rule == 6:
        return f"stages=1 is not cut into chunks; use chunks=1, got chunks={v}"
    return ""
