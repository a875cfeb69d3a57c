"""What a timeline costs: idle time by cause, micro-batches in memory, sends.

Also turned into JavaScript: numbers, lists and loops only.
"""

from __future__ import annotations

from typing import Any

from steptime.pipeline.idle_causes import arrival_slot, latest_source, positions


def bubble(orders: list[list[int]], result: dict[str, Any]) -> dict[str, Any]:
    """Return the makespan and the idle time in it, summed over ranks.

    Args:
        orders: Action codes of each rank.
        result: From `execute.execute`, of orders that finish.

    Returns:
        ``makespan``; ``busy``, per rank; ``idle``, over all ranks; ``bubble_overhead``,
        idle over busy; ``bubble_fraction``, idle over ranks x makespan; ``span``, the
        longest time from one rank's first start to its last end, which is what counts
        where ranks need not wait for each other between steps. Whole slots give exact
        sums, and each share is one division.
    """
    makespan: Any = 0
    span: Any = 0
    total: Any = 0
    busy = []
    for rank in range(len(orders)):
        start, end = result["starts"][rank], result["ends"][rank]
        worked: Any = 0
        clock: Any = 0
        for i in range(len(end)):
            # The halves of a pair overlap: time counts once.
            if end[i] > clock:
                worked += end[i] - max(start[i], clock)
                clock = end[i]
        busy.append(worked)
        total += worked
        makespan = max(makespan, clock)
        span = max(span, clock - start[0])
    idle = len(orders) * makespan - total
    return {
        "makespan": makespan,
        "span": span,
        "busy": busy,
        "idle": idle,
        "bubble_overhead": idle / total,
        "bubble_fraction": idle / (len(orders) * makespan),
    }


def idle_by_cause(
    orders: list[list[int]],
    stages: int,
    micro_batches: int,
    result: dict[str, Any],
    times: dict[str, Any],
) -> list[dict[str, Any]]:
    """Return where each rank's idle time comes from.

    A gap is first charged to messages: the time that the rank's own message held it, or
    that the data it waits for was on its way. What is left counts as ``fill`` before the
    rank's first backward, as ``drain`` after its last forward, and else as ``imbalance``:
    there is work of both kinds, and the neighbours are late with its data.

    Args:
        orders: Action codes of each rank.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
        result: From `execute.execute`, of orders that finish.
        times: As given to `execute.execute`.

    Returns:
        Per rank ``fill``, ``drain``, ``send`` and ``imbalance``.
    """
    makespan: Any = 0
    for end in result["ends"]:
        makespan = max(makespan, end[len(end) - 1])
    place = positions(orders, stages, micro_batches)
    mark = (4 * stages + 1) * micro_batches
    causes = []
    for rank in range(len(orders)):
        order, start, end = orders[rank], result["starts"][rank], result["ends"][rank]
        first_back, last_forward = phase_bounds(order, stages, micro_batches)
        cause: dict[str, Any] = {"fill": 0, "drain": 0, "send": 0, "imbalance": 0}
        clock: Any = 0
        for i in range(len(order)):
            gap = start[i] - clock
            if gap > 0:
                sent = min(gap, _message_time(order, i, stages, micro_batches, place, result))
                if times["blocking"] and i > 0:
                    before = order[i - 1] if order[i - 1] != mark or i < 2 else order[i - 2]
                    held = result["ready"][arrival_slot(before, stages, micro_batches)] - clock
                    sent = max(sent, min(gap, held))
                cause["send"] += sent
                name = "imbalance"
                if i <= first_back:
                    name = "fill"
                elif i > last_forward:
                    name = "drain"
                cause[name] += gap - sent
            clock = max(clock, end[i])
        cause["drain"] += makespan - clock
        causes.append(cause)
    return causes


def phase_bounds(order: list[int], stages: int, micro_batches: int) -> list[int]:
    """Return the index of a rank's first backward (or pair) and of its last forward.

    Args:
        order: Action codes.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
    """
    forwards = (stages + 1) * micro_batches
    first_back = len(order)
    last_forward = -1
    for i in range(len(order)):
        if order[i] < forwards:
            last_forward = i
        elif i < first_back:
            first_back = i
    return [first_back, last_forward]


def _message_time(
    order: list[int],
    i: int,
    stages: int,
    micro_batches: int,
    place: dict[str, list[int]],
    result: dict[str, Any],
) -> Any:
    """Return how long the data that action i waits for last was on its way."""
    mark = (4 * stages + 1) * micro_batches
    codes = [order[i]]
    if order[i] == mark:
        codes = order[i + 1 : i + 3]
    source = latest_source(codes, stages, micro_batches, place, result)
    if source < 0:
        return 0
    sent = result["ends"][place["rank"][source]][place["index"][source]]
    return result["ready"][arrival_slot(source, stages, micro_batches)] - sent
