"""What each action waits for: its data's producer, the critical path, a deadlock's cycle.

Also turned into JavaScript: numbers, lists and loops only.
"""

from __future__ import annotations

from typing import Any


def positions(orders: list[list[int]], stages: int, micro_batches: int) -> dict[str, list[int]]:
    """Return where each code stands: ``rank`` and ``index`` by code, -1 where nowhere.

    Args:
        orders: Action codes of each rank.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
    """
    last = (4 * stages + 1) * micro_batches
    rank_of = [-1 for _ in range(last)]
    index_of = [-1 for _ in range(last)]
    for rank in range(len(orders)):
        order = orders[rank]
        for i in range(len(order)):
            if order[i] < last:
                rank_of[order[i]] = rank
                index_of[order[i]] = i
    return {"rank": rank_of, "index": index_of}


def producer(code: int, stages: int, micro_batches: int, place: dict[str, list[int]]) -> int:
    """Return the code of the action whose result another waits for.

    Args:
        code: The action that waits.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
        place: From `positions`.

    Returns:
        A code; -1 for the forward of stage 0, which waits for nothing.
    """
    split = stages * micro_batches
    kind = (code // micro_batches - 1) // stages
    wanted = code - micro_batches
    if kind == 2:
        wanted = code - split - micro_batches
    if kind == 3:
        wanted = code - 2 * split
    if wanted < micro_batches:
        return -1
    # A backward in one piece and its input half hand on the same data.
    if wanted >= split + micro_batches and place["rank"][wanted] < 0:
        return wanted + split
    return wanted


def arrival_slot(code: int, stages: int, micro_batches: int) -> int:
    """Return the code under which `execute` notes when an action's result arrives.

    Args:
        code: Any action; an I hands on what the B of its stage would.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
    """
    if (code // micro_batches - 1) // stages == 2:
        return code - stages * micro_batches
    return code


def critical_path(
    orders: list[list[int]], stages: int, micro_batches: int, result: dict[str, Any]
) -> list[list[int]]:
    """Return the chain of actions that sets the makespan, first to last.

    Each action of it starts when the one before it on its rank ends, or when the data
    arrives from the one before it in the chain.

    Args:
        orders: Action codes of each rank.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
        result: From `execute.execute`.

    Returns:
        Pairs of rank and index in its order.
    """
    place = positions(orders, stages, micro_batches)
    mark = (4 * stages + 1) * micro_batches
    starts, ends = result["starts"], result["ends"]
    rank = 0
    for other in range(len(orders)):
        if ends[other][len(ends[other]) - 1] > ends[rank][len(ends[rank]) - 1]:
            rank = other
    i = len(ends[rank]) - 1
    path = []
    while True:
        path.append([rank, i])
        # Both halves of a pair share a start; what came before the pair set it.
        before = i - 1
        begin = starts[rank][i]
        while before >= 0 and (orders[rank][before] == mark or ends[rank][before] > begin):
            before -= 1
        if begin == 0:
            break
        source = -1
        if before < 0 or ends[rank][before] != begin:
            source = _waited_for(orders[rank], i, stages, micro_batches, place, result)
        if source < 0 or result["ready"][arrival_slot(source, stages, micro_batches)] != begin:
            # Held by the action before, or by its message where sends block.
            i = before
        else:
            rank = place["rank"][source]
            i = place["index"][source]
    path.reverse()
    return path


def latest_source(
    codes: list[int],
    stages: int,
    micro_batches: int,
    place: dict[str, list[int]],
    result: dict[str, Any],
) -> int:
    """Return the producer whose data came last of all that some actions need, or -1.

    Args:
        codes: Of the actions.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
        place: From `positions`.
        result: From the executor.
    """
    best = -1
    latest = -1
    for code in codes:
        source = producer(code, stages, micro_batches, place)
        if source >= 0:
            arrival = result["ready"][arrival_slot(source, stages, micro_batches)]
            if arrival > latest:
                best = source
                latest = arrival
    return best


def _waited_for(
    order: list[int],
    i: int,
    stages: int,
    micro_batches: int,
    place: dict[str, list[int]],
    result: dict[str, Any],
) -> int:
    """Return the producer that an action, or the pair it belongs to, waited for longest."""
    mark = (4 * stages + 1) * micro_batches
    codes = [order[i]]
    if i >= 1 and order[i - 1] == mark:
        codes.append(order[i + 1])
    if i >= 2 and order[i - 2] == mark:
        codes.append(order[i - 1])
    return latest_source(codes, stages, micro_batches, place, result)


def deadlock_cycle(
    orders: list[list[int]], stages: int, micro_batches: int, result: dict[str, Any]
) -> list[list[int]]:
    """Return the ring of waits that stopped the ranks, or an empty list if all finished.

    Args:
        orders: Action codes of each rank.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
        result: From `execute.execute`.

    Returns:
        ``[rank, action that waits, action it waits for]`` by code; the rank of each entry
        holds the action that the entry before waits for. One entry whose last code no rank
        runs where the data has no producer at all.
    """
    place = positions(orders, stages, micro_batches)
    mark = (4 * stages + 1) * micro_batches
    rank = -1
    for other in range(len(orders)):
        if len(result["ends"][other]) < len(orders[other]):
            rank = other
    chain: list[list[int]] = []
    seen = [-1 for _ in orders]
    while rank >= 0 and seen[rank] < 0:
        seen[rank] = len(chain)
        at = len(result["ends"][rank])
        codes = [orders[rank][at]]
        if codes[0] == mark:
            codes = orders[rank][at + 1 : at + 3]
        blocked = [rank, codes[0], -1]
        for code in codes:
            source = producer(code, stages, micro_batches, place)
            if source >= 0 and not _finished(source, place, result):
                blocked = [rank, code, source]
        chain.append(blocked)
        if blocked[2] < 0 or place["rank"][blocked[2]] < 0:
            return [blocked]
        rank = place["rank"][blocked[2]]
    if rank < 0:
        return []
    return chain[seen[rank] :]


def _finished(code: int, place: dict[str, list[int]], result: dict[str, Any]) -> bool:
    rank = place["rank"][code]
    return rank >= 0 and place["index"][code] < len(result["ends"][rank])
