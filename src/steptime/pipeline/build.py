"""Orders by schedule name, and the one-line reason why some sizes are refused.

Also turned into JavaScript: plain ``if`` chains, no tables of functions.
"""

from __future__ import annotations

from steptime.formulas.schedule import SCHEDULES, schedule_fault
from steptime.formulas.schedule_rules import chunks_held, mended_sizes
from steptime.pipeline.breadth_first import gpipe, looped_bfs
from steptime.pipeline.dualpipe import dualpipe, dualpipe_v
from steptime.pipeline.one_f_one_b import interleaved_1f1b, one_f_one_b
from steptime.pipeline.v_memory import v_half, v_min
from steptime.pipeline.v_shape import zb_v
from steptime.pipeline.zero_bubble import interleaved_zb, zb_h1, zb_h2


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
    if name == "gpipe":
        return gpipe(p, m, v)
    if name == "1f1b":
        return one_f_one_b(p, m, v)
    if name == "interleaved-1f1b":
        return interleaved_1f1b(p, m, v)
    if name == "looped-bfs":
        return looped_bfs(p, m, v)
    if name == "zb-h1":
        return zb_h1(p, m, v)
    if name == "zb-h2":
        return zb_h2(p, m, v)
    if name == "interleaved-zb":
        return interleaved_zb(p, m, v)
    if name == "zb-v":
        return zb_v(p, m, v)
    if name == "v-half":
        return v_half(p, m, v)
    if name == "v-min":
        return v_min(p, m, v)
    if name == "dualpipe":
        return dualpipe(p, m, v)
    return dualpipe_v(p, m, v)


def place_of(name: str) -> int:
    """Return the place of a schedule's name, by which the formulas know it.

    Args:
        name: One of ``formulas.schedule.SCHEDULES``.
    """
    place = 0
    while SCHEDULES[place] != name:
        place += 1
    return place


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
    rounds = place_of("interleaved-zb") if name == "interleaved-1f1b" else place_of(name)
    rule = schedule_fault(rounds, p, m, v)
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
