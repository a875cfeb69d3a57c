"""The one executor: per-rank orders and durations in, start and end times out.

Each rank runs its order as far as the data it waits for allows; the rank that produces
the missing data wakes it. Every action is looked at once and every wait is woken once,
so the cost is linear in the number of actions, whatever the schedule.

Times are sums and maxima of the durations: whole slots in give whole slots out.
This file is also turned into JavaScript; it keeps to numbers, lists and loops.
"""

from __future__ import annotations

from typing import Any


def execute(
    orders: list[list[int]], stages: int, micro_batches: int, times: dict[str, Any]
) -> dict[str, Any]:
    """Return when each action of each rank starts and ends.

    Args:
        orders: Action codes of each rank, see `codes`.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
        times: From `durations.slot_times` or `durations.stage_times`.

    Returns:
        ``starts`` and ``ends``, a list per rank in the order's positions, cut short at a
        deadlock; ``waiting``, per rank the code it could not run for want of data, or -1.
    """
    state = _fresh_state(orders, stages, micro_batches, times)
    size, pair_row = micro_batches, 4 * stages + 1
    ready, need, slot, todo = state["ready"], state["need"], state["slot"], state["todo"]
    duration, delay, messages = times["duration"], times["delay"], times["messages"]
    while len(todo) > 0:
        rank = todo.pop()
        order, start, end = orders[rank], state["starts"][rank], state["ends"][rank]
        clock = state["clocks"][rank]
        i, count = len(end), len(order)
        while i < count:
            code = order[i]
            row = code // size
            since = ready[code - need[row]]
            if since < 0:
                if row < pair_row:
                    ready[code - need[row]] = -2 - rank
                    break
                clock = _run_pair(order, i, clock, rank, state, times, size)
                if len(end) == i:
                    break
                i += 3
                continue
            # W waits for its own I alone, not for the message of that.
            if since > clock and row <= 3 * stages:
                clock = since
            start.append(clock)
            clock += duration[row]
            end.append(clock)
            arrival = clock + delay[row]
            if messages:
                arrival = _sent(clock, row, rank, state, times)
                if times["blocking"]:
                    clock = arrival
            waiter = ready[code - slot[row]]
            ready[code - slot[row]] = arrival
            if waiter < -1:
                todo.append(-2 - waiter)
            i += 1
        state["clocks"][rank] = clock
    return {"starts": state["starts"], "ends": state["ends"], "ready": ready}


def code_offsets(stages: int, by_kind: list[int], mark: int) -> list[int]:
    """Return a number for each row of codes: one per kind, F, B, I, W, and one for marks.

    Args:
        stages: Stages in all, S.
        by_kind: The number for F, B, I and W.
        mark: The number for marks of pairs.
    """
    rows = [0]
    for offset in by_kind:
        rows.extend([offset for _ in range(stages)])
    rows.append(mark)
    return rows


def _fresh_state(
    orders: list[list[int]], stages: int, size: int, times: dict[str, Any]
) -> dict[str, Any]:
    # ready, by code: when the result is at the next stage; -1: not yet; -2 - r: rank r waits
    # for it. A mark is an action of no length that waits for nothing; where pairs run as one
    # it looks at its own place instead, which stays -1, and so gets to _run_pair.
    ready: list[Any] = [0 for _ in range(size)]
    ready.extend([-1 for _ in range((4 * stages + 1) * size)])
    mark = 0 if times["paired"] else (4 * stages + 1) * size
    split = stages * size
    return {
        "ready": ready,
        # What an action waits for lies so many codes lower: the stage before; W: its own B.
        "need": code_offsets(stages, [size, size, split + size, 2 * split], mark),
        # I hands on what B would.
        "slot": code_offsets(stages, [0, 0, split, 0], 0),
        "starts": [[] for _ in orders],
        "ends": [[] for _ in orders],
        "clocks": [0 for _ in orders],
        "ports": [0 for _ in orders],
        "todo": [len(orders) - 1 - rank for rank in range(len(orders))],
    }


def _sent(clock: Any, row: int, rank: int, state: dict[str, Any], times: dict[str, Any]) -> Any:
    """Return when the result of an action that ends now is at the next stage."""
    leaves = clock
    if times["port"][row] > 0:
        # One message at a time leaves a rank.
        leaves = max(clock, state["ports"][rank]) + times["port"][row]
        state["ports"][rank] = leaves
    return leaves + times["delay"][row]


def _run_pair(
    order: list[int],
    at: int,
    clock: Any,
    rank: int,
    state: dict[str, Any],
    times: dict[str, Any],
    size: int,
) -> Any:
    """Run the F and the backward behind a mark together; return the clock after them.

    Both start when both have their data, and end together. If some data is missing, the
    rank is put down as waiting for it and nothing else happens.
    """
    ready, need = state["ready"], state["need"]
    begin = clock
    for code in order[at + 1 : at + 3]:
        wanted = code - need[code // size]
        if ready[wanted] < 0:
            ready[wanted] = -2 - rank
            return clock
        begin = max(begin, ready[wanted])
    lengths = [times["duration"][code // size] for code in order[at + 1 : at + 3]]
    finish = begin + lengths[0] + lengths[1] - min(times["hidden"], lengths[0], lengths[1])
    state["starts"][rank].extend([begin, begin, begin])
    state["ends"][rank].extend([begin, finish, finish])
    clock = finish
    for code in order[at + 1 : at + 3]:
        arrival = _sent(finish, code // size, rank, state, times)
        if times["blocking"]:
            clock = max(clock, arrival)
        out = code - state["slot"][code // size]
        if ready[out] < -1:
            state["todo"].append(-2 - ready[out])
        ready[out] = arrival
    return clock
