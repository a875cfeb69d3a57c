"""Orders by schedule name, and the one-line reason why some sizes are refused.

Also turned into JavaScript: plain ``if`` chains, no tables of functions.
"""

from __future__ import annotations

from steptime.pipeline.breadth_first import gpipe, looped_bfs
from steptime.pipeline.dualpipe import dualpipe, dualpipe_v
from steptime.pipeline.one_f_one_b import interleaved_1f1b, one_f_one_b
from steptime.pipeline.v_memory import v_half, v_min
from steptime.pipeline.v_shape import zb_v
from steptime.pipeline.zero_bubble import interleaved_zb, zb_h1, zb_h2


def build_orders(name: str, p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of a schedule; `refusal` must have returned an empty text.

    Args:
        name: One of ``inputs.layout.SCHEDULES``.
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


def fixed_chunks(name: str) -> int:
    """Return the chunks a rank must hold under a schedule, or 0 where any number will do.

    Args:
        name: One of ``inputs.layout.SCHEDULES``.
    """
    if name in ("gpipe", "1f1b", "zb-h1", "zb-h2", "dualpipe"):
        return 1
    if name in ("zb-v", "v-half", "v-min", "dualpipe-v"):
        return 2
    return 0


def refusal(name: str, p: int, m: int, v: int) -> str:
    """Return why a schedule cannot run at these sizes, with sizes that it can, or "".

    Args:
        name: One of ``inputs.layout.SCHEDULES``.
        p: Pipeline ranks, at least 1.
        m: Micro-batches, at least 1.
        v: Chunks a rank holds, at least 1.
    """
    chunks = fixed_chunks(name)
    if chunks > 0 and v != chunks:
        return f"{name} needs chunks={chunks}, got {v}"
    if name in ("interleaved-1f1b", "interleaved-zb"):
        rounds = max(1, m // p)
        if v > 1 and m % rounds != 0:
            return (
                f"{name} cuts micro_batches={m} into {rounds} equal rounds of at least "
                f"stages={p}, and {rounds} does not divide {m}; "
                f"use micro_batches={m // p * p} or {m // p * p + p}"
            )
    if name == "dualpipe" and (p % 2 != 0 or m % 2 != 0):
        return (
            f"dualpipe needs an even number of stages and of micro_batches, got {p} and {m}; "
            f"use {p + p % 2} and {m + m % 2}"
        )
    if name in ("dualpipe", "dualpipe-v") and m < 2 * p:
        return f"{name} needs micro_batches >= 2 x stages = {2 * p}, got {m}"
    return ""
