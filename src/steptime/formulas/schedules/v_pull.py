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
    most = max([_most_held(row, m) for row in rows])
    whole = [with_weights(row, m, False) for row in rows]
    _pull_all(whole, most, m)
    bare = [_without_weights(row, m) for row in _run_early(whole, m)]
    _pull_ending(bare, max([_most_held(row, m) for row in bare]), m)
    early = _run_early([with_weights(row, m, False) for row in bare], m)
    return [with_weights(_without_weights(row, m), m, True) for row in early]


def with_weights(row: list[int], m: int, split: bool) -> list[int]:
    """Return a row with each W in the first slot after its I that is empty.

    Args:
        row: What a rank runs in each slot, without W.
        m: Micro-batches.
        split: Whether W of the second chunk is stream 4 and goes first, of the first chunk
            stream 5; else all are stream 4.
    """
    filled: list[int] = []
    owed = [0, 0]
    placed = [0, 0]
    for item in row:
        if item >= 0:
            filled.append(item)
            if item >= 2 * m:
                owed[1 if split and item >= 3 * m else 0] += 1
        else:
            chunk = 0 if owed[0] > 0 else 1
            filled.append((4 + chunk) * m + placed[chunk] if owed[chunk] > 0 else -1)
            if owed[chunk] > 0:
                owed[chunk] -= 1
                placed[chunk] += 1
    for chunk in range(2):
        for j in range(owed[chunk]):
            filled.append((4 + chunk) * m + placed[chunk] + j)
    return filled


def _without_weights(row: list[int], m: int) -> list[int]:
    bare = [item if item < 4 * m else -1 for item in row]
    while bare[len(bare) - 1] < 0:
        bare.pop()
    return bare


def _most_held(row: list[int], m: int) -> int:
    return max(_memory(row, m)["held"])


def _memory(row: list[int], m: int) -> dict[str, list[int]]:
    """Return what a rank holds, and how many W it owes, after each slot of a row without W."""
    held: list[int] = []
    owed: list[int] = []
    now = [0, 0]
    for item in row:
        now = _after(now, item, m)
        held.append(now[0])
        owed.append(now[1])
    return {"held": held, "owed": owed}


def _after(now: list[int], item: int, m: int) -> list[int]:
    """Return what is held and owed after one more slot; an empty one takes a W."""
    if item >= 2 * m:
        return [now[0], now[1] + 1]
    if item >= 0:
        return [now[0] + 1, now[1]]
    if now[1] > 0:
        return [now[0] - 1, now[1] - 1]
    return now


def _earliest(done: list[list[int]], rank: int, item: int, m: int) -> int:
    """Return the first slot at which an F's or I's data is there: down the V, then up."""
    stream = item // m
    first = 0
    if item % m > 0:
        first = done[rank][item - 1] + 1
    if stream > 0:
        first = max(first, done[rank][item - m] + 1)
    if stream % 2 == 0 and rank > 0:
        first = max(first, done[rank - 1][item] + 1)
    if stream % 2 == 1 and rank + 1 < len(done):
        first = max(first, done[rank + 1][item] + 1)
    return first


def _longest(rows: list[list[int]]) -> int:
    return max([len(row) for row in rows])


def _next_phase(phase: int, rank: int, item: int, m: int) -> int:
    """Return 0 before the first micro-batch is through, 2 once the last has entered, else 1."""
    if phase == 0 and rank == 0 and 3 * m <= item < 4 * m:
        phase = 1
    return 2 if phase == 1 and item == m - 1 else phase


def _pull_all(rows: list[list[int]], most: int, m: int) -> None:
    """Move the actions of both ends, W among them, to earlier slots."""
    phase = 0
    done = [[-1 for _ in range(PERIOD * m)] for _ in rows]
    held: list[list[int]] = [[] for _ in rows]
    backwards: list[list[int]] = [[] for _ in rows]
    for slot in range(_longest(rows)):
        for rank in range(len(rows)):
            row = rows[rank]
            item = row[slot] if slot < len(row) else -1
            before = held[rank][slot - 1] if slot > 0 else 0
            held[rank].append(before + _weight(item, m))
            if item < 0:
                continue
            old, phase = phase, _next_phase(phase, rank, item, m)
            new = slot
            if phase != 1 and not (old == 1 and phase == 2):
                if item >= 4 * m:
                    first = backwards[rank][item - 4 * m] + 1
                    if item > 4 * m:
                        first = max(first, done[rank][item - 1] + 1)
                else:
                    first = _earliest(done, rank, item, m)
                new = _free_slot(row, held[rank], first, slot, most if item < 2 * m else -1)
                row[slot] = -1
                row[new] = item
                for moved in range(new, slot):
                    held[rank][moved] += _weight(item, m)
            done[rank][item] = new
            if 2 * m <= item < 4 * m:
                _insert(backwards[rank], new)


def _weight(item: int, m: int) -> int:
    """Return what an action adds to the micro-batches held: F takes one, W gives it back."""
    if item >= 4 * m:
        return -1
    return 1 if 0 <= item < 2 * m else 0


def _free_slot(row: list[int], held: list[int], first: int, slot: int, most: int) -> int:
    """Return the first empty slot before ``slot`` from which on one more may be held."""
    if most >= 0:
        for earlier in range(first, slot):
            if held[earlier] >= most:
                first = earlier + 1
    for earlier in range(first, slot):
        if row[earlier] < 0:
            return earlier
    return slot


def _insert(ordered: list[int], slot: int) -> None:
    ordered.append(slot)
    i = len(ordered) - 1
    while i > 0 and ordered[i - 1] > slot:
        ordered[i] = ordered[i - 1]
        i -= 1
    ordered[i] = slot


def _pull_ending(rows: list[list[int]], most: int, m: int) -> None:
    """Move the actions that follow the last forward of the first chunk to earlier slots."""
    phase = 0
    done = [[-1 for _ in range(PERIOD * m)] for _ in rows]
    memory = [_memory(row, m) for row in rows]
    for slot in range(_longest(rows)):
        for rank in range(len(rows)):
            row = rows[rank]
            item = row[slot] if slot < len(row) else -1
            if item < 0:
                continue
            old, phase = phase, _next_phase(phase, rank, item, m)
            done[rank][item] = slot
            if old == 2:
                for earlier in range(_earliest(done, rank, item, m), slot):
                    if row[earlier] < 0 and _moved(row, memory[rank], slot, earlier, most, m):
                        done[rank][item] = earlier
                        break


def _moved(
    row: list[int], memory: dict[str, list[int]], slot: int, earlier: int, most: int, m: int
) -> bool:
    """Move one action of a row without W to an empty slot, unless too much were held then."""
    row[earlier], row[slot] = row[slot], -1
    now = [memory["held"][earlier - 1], memory["owed"][earlier - 1]] if earlier > 0 else [0, 0]
    held: list[int] = []
    owed: list[int] = []
    at = earlier
    same = False
    while at < len(row) and not same:
        now = _after(now, row[at], m)
        if now[0] > most:
            row[slot], row[earlier] = row[earlier], -1
            return False
        held.append(now[0])
        owed.append(now[1])
        same = at >= slot and memory["held"][at] == now[0] and memory["owed"][at] == now[1]
        at += 1
    for i in range(len(held)):
        memory["held"][earlier + i] = held[i]
        memory["owed"][earlier + i] = owed[i]
    return True


def _run_early(rows: list[list[int]], m: int) -> list[list[int]]:
    """Return the rows with the same order on each rank and every action as early as it can."""
    done = [[-1 for _ in range(PERIOD * m)] for _ in rows]
    early: list[list[int]] = [[] for _ in rows]
    for slot in range(_longest(rows)):
        for rank in range(len(rows)):
            item = rows[rank][slot] if slot < len(rows[rank]) else -1
            if item < 0:
                continue
            start = len(early[rank])
            if item < 4 * m:
                start = max(start, _earliest(done, rank, item, m))
            while len(early[rank]) < start:
                early[rank].append(-1)
            early[rank].append(item)
            done[rank][item] = start
    return early
