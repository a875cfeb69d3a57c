"""How V-Half and V-Min fill the empty slots at the two ends of a step.

Twice over, actions move to the earliest empty slot at which their data is there and no rank
holds more than the block does; then all ranks run what they have as early as they can. The
first time W moves like any other action. The second time only what follows the last forward
of the first chunk moves, and W takes whatever slots are empty.

A row is what one rank runs in each slot: ``stream * m + number``, or -1 for nothing. Streams
are F of the first and of the second chunk, I of the second and of the first, and W. A W is
numbered in the order of the rank's backwards, until the last step tells the two chunks apart.

Also turned into JavaScript: whole numbers, lists and loops only.
"""

from __future__ import annotations

PERIOD = 6
"""Slots from one micro-batch to the next: two chunks' F, I and W."""


def pulled_forward(rows: list[list[int]], m: int) -> list[list[int]]:
    """Return the rows with both ends filled and W in place; only their order still counts.

    Args:
        rows: What each rank runs in each slot, without W.
        m: Micro-batches.

    References:
        zbpp2025, zbv_greedy.py, schedule_from_pattern.
    """
    whole = [with_weights(row, m, False) for row in rows]
    _pull(whole, m, True)
    bare = [[item if item < 4 * m else -1 for item in row] for row in _run_early(whole, m)]
    _pull(bare, m, False)
    early = _run_early([with_weights(row, m, False) for row in bare], m)
    return [with_weights(row, m, True) for row in early]


def with_weights(row: list[int], m: int, split: bool) -> list[int]:
    """Return a row with each W in the first slot after its I that is empty, or holds a W.

    Args:
        row: What a rank runs in each slot.
        m: Micro-batches.
        split: Whether W of the second chunk is stream 4 and goes first, of the first chunk
            stream 5; else all are stream 4.
    """
    filled: list[int] = []
    owed = [0, 0]
    placed = [4 * m, 5 * m]
    slot = 0
    while slot < len(row) or owed[0] + owed[1] > 0:
        item = row[slot] if slot < len(row) else -1
        if item < 0 or item >= 4 * m:
            chunk = 0 if owed[0] > 0 else 1
            item = -1
            if owed[chunk] > 0:
                item = placed[chunk]
                owed[chunk] -= 1
                placed[chunk] += 1
        elif item >= 2 * m:
            owed[1 if split and item >= 3 * m else 0] += 1
        filled.append(item)
        slot += 1
    return filled


def _pull(rows: list[list[int]], m: int, whole: bool) -> None:
    """Move actions to earlier slots: of both ends with W among them, or of the last end."""
    done = _places(rows, m)
    memory = [_memory(row, m, whole) for row in rows]
    most = max([max(one["held"]) for one in memory])
    # 0 before the first micro-batch is through, 2 once the last has entered, 1 between.
    phase = 0
    for place in _in_time(rows):
        rank, slot = place[0], place[1]
        item = rows[rank][slot]
        before = phase
        if phase == 0 and rank == 0 and 3 * m <= item < 4 * m:
            phase = 1
        if phase == 1 and item == m - 1:
            phase = 2
        done[rank][item] = slot
        if before == phase and (phase == 2 or (whole and phase == 0)):
            for earlier in range(_earliest(done, rank, item, m), slot):
                if _moved(rows[rank], memory[rank], [slot, earlier, most, m], whole):
                    done[rank][item] = earlier
                    break


def _moved(row: list[int], memory: dict[str, list[int]], move: list[int], whole: bool) -> bool:
    """Move an action to an earlier slot, unless it is taken or what is held then does not fit.

    ``move`` is from where, to where, the most that may be held, and m. A W before its I would
    be one more than there are owed.
    """
    slot, at = move[0], move[1]
    if row[at] >= 0:
        return False
    row[at], row[slot] = row[slot], -1
    now = [memory["held"][at - 1], memory["owed"][at - 1]] if at > 0 else [0, 0]
    changed: list[list[int]] = []
    while at < len(row) and (
        at <= slot or memory["held"][at - 1] != now[0] or memory["owed"][at - 1] != now[1]
    ):
        now = _after(now, row[at], move[3], whole)
        if now[0] > move[2] or now[1] < 0:
            row[slot], row[move[1]] = row[move[1]], -1
            return False
        changed.append(now)
        at += 1
    for i in range(len(changed)):
        memory["held"][move[1] + i] = changed[i][0]
        memory["owed"][move[1] + i] = changed[i][1]
    return True


def _memory(row: list[int], m: int, whole: bool) -> dict[str, list[int]]:
    """Return what a rank holds, and how many W it owes, after each slot."""
    held: list[int] = []
    owed: list[int] = []
    now = [0, 0]
    for item in row:
        now = _after(now, item, m, whole)
        held.append(now[0])
        owed.append(now[1])
    return {"held": held, "owed": owed}


def _after(now: list[int], item: int, m: int, whole: bool) -> list[int]:
    """Return what is held and owed after one more slot; without W an empty one stands for it."""
    if item >= 4 * m or (item < 0 and not whole and now[1] > 0):
        return [now[0] - 1, now[1] - 1]
    if item >= 2 * m:
        return [now[0], now[1] + 1]
    if item >= 0:
        return [now[0] + 1, now[1]]
    return now


def _earliest(done: list[list[int]], rank: int, item: int, m: int) -> int:
    """Return the first slot at which an action's data is there: down the V, then up."""
    stream = item // m
    first = 0
    if item > 4 * m or (stream < 4 and item % m > 0):
        first = done[rank][item - 1] + 1
    if stream < 4:
        if stream > 0:
            first = max(first, done[rank][item - m] + 1)
        beside = rank - 1 if stream % 2 == 0 else rank + 1
        if beside >= 0 and beside < len(done):
            first = max(first, done[beside][item] + 1)
    return first


def _run_early(rows: list[list[int]], m: int) -> list[list[int]]:
    """Return the rows with the same order on each rank and every action as early as it can."""
    done = _places(rows, m)
    early: list[list[int]] = [[] for _ in rows]
    for place in _in_time(rows):
        rank = place[0]
        item = rows[rank][place[1]]
        start = _earliest(done, rank, item, m)
        while len(early[rank]) < start:
            early[rank].append(-1)
        done[rank][item] = len(early[rank])
        early[rank].append(item)
    return early


def _places(rows: list[list[int]], m: int) -> list[list[int]]:
    return [[-1 for _ in range(PERIOD * m)] for _ in rows]


def _in_time(rows: list[list[int]]) -> list[list[int]]:
    """Return rank and slot of every action, the earliest first."""
    found: list[list[int]] = []
    for slot in range(max([len(row) for row in rows])):
        for rank in range(len(rows)):
            if slot < len(rows[rank]) and rows[rank][slot] >= 0:
                found.append([rank, slot])
    return found
