"""Micro-batches and bytes that each rank keeps for its backwards, and what it sends.

Also turned into JavaScript: numbers, lists and loops only.
"""

from __future__ import annotations

from typing import Any


def peak_in_flight(order: list[int], stages: int, micro_batches: int) -> int:
    """Return the most forwards of one rank whose backward is not complete.

    One micro-batch in one stage counts one, from its F to the end of its B or W.

    Args:
        order: Action codes of the rank.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
    """
    size = micro_batches
    forwards, whole = (stages + 1) * size, (2 * stages + 1) * size
    inputs, weights = (3 * stages + 1) * size, (4 * stages + 1) * size
    held = 0
    peak = 0
    for code in order:
        if code < forwards:
            held += 1
            if held > peak:
                peak = held
        elif code < whole or (code >= inputs and code < weights):
            held -= 1
    return peak


def held_over_time(
    order: list[int],
    start: list[Any],
    end: list[Any],
    stages: int,
    micro_batches: int,
    stage_bytes: list[Any],
    kept: Any,
) -> dict[str, list[Any]]:
    """Return what a rank holds after each change, as times and amounts.

    Args:
        order: Action codes of the rank.
        start: When each starts.
        end: When each ends.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
        stage_bytes: Activations of one micro-batch in each stage; all 1 to count them.
        kept: Share that W still needs once I is done, from 0 to 1.

    Returns:
        ``time`` and ``held`` from that time on, in order.
    """
    time: list[Any] = []
    held: list[Any] = []
    now: Any = 0
    for i in range(len(order)):
        row = order[i] // micro_batches - 1
        kind = row // stages
        if kind == 0:
            now += stage_bytes[row]
            time.append(start[i])
            held.append(now)
        elif kind < 4:
            share: Any = 1
            if kind == 2:
                share = 1 - kept
            if kind == 3:
                share = kept
            now -= stage_bytes[stages - 1 - row % stages] * share
            time.append(end[i])
            held.append(now)
    return {"time": time, "held": held}


def sends(
    orders: list[list[int]], stages: int, micro_batches: int, crossing: list[int]
) -> list[int]:
    """Return the messages that each rank sends to another.

    Args:
        orders: Action codes of each rank.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
        crossing: From `durations.crossing_rows`.
    """
    counts = []
    for order in orders:
        count = 0
        for code in order:
            count += crossing[code // micro_batches]
        counts.append(count)
    return counts
