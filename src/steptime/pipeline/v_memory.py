"""V-Half and V-Min: the V of ZB-V, spaced so that half or a third of the memory is enough.

In the middle of a step every micro-batch repeats the same block of actions six slots after
the one before it. How far apart a rank's F and I lie in the block is how long it holds the
micro-batch, so the block decides the memory. At both ends the block leaves slots empty:
there a rank runs what is ready, in the block's order of time and within the block's memory.
W goes into the slots that stay empty.

Also turned into JavaScript: whole numbers, lists and loops only.
"""

from __future__ import annotations


def v_half(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of V-Half: about half of 1F1B's memory, half of its bubble.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 2 here.

    References:
        qi2024, Sec. 3.2 and Fig. 4; with an even p the second half of the block is two slots
        later here, which shortens the two ends.
    """
    later = 2 if p % 2 == 0 else 0
    gap = 3 if p % 2 == 0 else 0  # keeps the four streams of a rank out of each other's slots
    blocks = []
    for rank in range(p):
        turn = 3 * p - 2 + later
        blocks.append(
            [2 * rank, turn - rank, turn + 1 + gap + 2 * rank, 6 * p - 2 + gap + later - rank]
        )
    return repeat_blocks(blocks, 2 * (p // 2) + 2, m)


def v_min(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of V-Min: about a third of 1F1B's memory, two thirds of its bubble.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 2 here.

    References:
        qi2024, Sec. 3.2 and Fig. 4; with p a multiple of 3 the second half of the block is a
        slot or two later here, which shortens the two ends.
    """
    later = 1 if p % 3 == 0 else 0
    gap = 2 if p % 3 == 0 else 0
    blocks = []
    for rank in range(p):
        turn = 2 * p - 1 + later
        blocks.append(
            [rank, turn - rank, turn + 1 + gap + rank, 4 * p - 1 + gap + 2 * later - rank]
        )
    return repeat_blocks(blocks, 2 * ((p + 4) // 3), m)


def repeat_blocks(blocks: list[list[int]], most_held: int, m: int) -> list[list[int]]:
    """Return the orders of a block repeated every six slots, and filled up at both ends.

    Args:
        blocks: Per rank the slots of the first chunk's F, the second's F, its I, and the
            first's I, for micro-batch 0.
        most_held: Micro-batches times chunks that a rank may hold.
        m: Micro-batches.
    """
    orders: list[list[int]] = [[] for _ in blocks]
    p = len(blocks)
    taken = [[0, 0, 0, 0] for _ in blocks]
    # Per rank and stream the slot in which each micro-batch's result is there.
    done: list[list[list[int]]] = [[[], [], [], []] for _ in blocks]
    held = [0 for _ in blocks]
    weights = [0 for _ in blocks]
    owed: list[list[int]] = [[] for _ in blocks]
    left = 6 * p * m
    slot = 0
    while left > 0:
        for rank in range(p):
            room = _room(blocks[rank], taken[rank], most_held - held[rank], m)
            stream = _next_stream(blocks, taken, done, rank, slot, room, m)
            if stream >= 0:
                code = _first_code(stream, rank, p, m) + taken[rank][stream]
                orders[rank].append(code)
                taken[rank][stream] += 1
                done[rank][stream].append(slot + 1)
                left -= 1
                if stream < 2:
                    held[rank] += 1
                else:
                    owed[rank].append(code + 2 * p * m)
            elif weights[rank] < len(owed[rank]):
                orders[rank].append(owed[rank][weights[rank]])
                weights[rank] += 1
                held[rank] -= 1
                left -= 1
        slot += 1
    return orders


def _first_code(stream: int, rank: int, p: int, m: int) -> int:
    """Return the code of a stream's action for micro-batch 0."""
    if stream == 0:
        return (rank + 1) * m
    if stream == 1:
        return (2 * p - rank) * m
    if stream == 2:
        return (4 * p + 1 + rank) * m
    return (6 * p - rank) * m


def _room(block: list[int], at: list[int], free: int, m: int) -> list[int]:
    """Return the places in memory that each of a rank's two F streams may use now.

    The two keep the block's order, so that a place for one is never spent on the other and
    no rank can run out of them for good.
    """
    if at[0] >= m or (at[1] < m and block[1] + 6 * at[1] < block[0] + 6 * at[0]):
        return [0, free]
    return [free, 0]


def _next_stream(
    blocks: list[list[int]],
    taken: list[list[int]],
    done: list[list[list[int]]],
    rank: int,
    slot: int,
    room: list[int],
    m: int,
) -> int:
    """Return which of a rank's streams runs in a slot: the ready one that the block has first."""
    block, at = blocks[rank], taken[rank]
    best = -1
    earliest = 0
    for stream in range(4):
        if at[stream] < m and (stream > 1 or room[stream] > 0):
            when = block[stream] + 6 * at[stream]
            if (best < 0 or when < earliest) and _is_ready(done, stream, rank, at[stream], slot):
                best = stream
                earliest = when
    return best


def _is_ready(
    done: list[list[list[int]]], stream: int, rank: int, micro_batch: int, slot: int
) -> bool:
    """Return whether the data for a stream's next action is there: down the V, then up."""
    last = len(done) - 1
    source, origin = stream, rank - 1
    if stream == 1 or stream == 3:
        origin = rank + 1
        if rank == last:
            source, origin = stream - 1, rank
    elif rank == 0:
        if stream == 0:
            return True
        source, origin = 1, 0
    results = done[origin][source]
    return micro_batch < len(results) and results[micro_batch] <= slot
