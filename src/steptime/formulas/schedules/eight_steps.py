"""The eight steps that a rank of DualPipe and one of DualPipeV with half the ranks share.

They differ in where the second stream's stages live. A pair hands on both results when it
ends, as DeepSeek's code sends both after both.

Also turned into JavaScript, and its formulas run on arrays.
"""

from __future__ import annotations

from steptime.formulas.number import Number


def eight_steps(
    ranks: int,
    count: int,
    rank: int,
    forward: list[int],
    backward: list[int],
    split: int,
    mark: int,
) -> list[int]:
    """Return one rank's order.

    Args:
        ranks: Ranks from where a stream enters to where it turns.
        count: Micro-batches of each stream.
        rank: Whose, counted from where the first stream enters.
        forward: The next F code of the two streams, 0 entering here first and 1 passing by;
            they move on as codes are taken.
        backward: The same for B.
        split: What turns a B code into I, and an I code into W.
        mark: The code that makes a pair of the next two.

    References:
        deepseek2024, Sec. 3.2.1 and Fig. 5; dualpipe2025, dualpipe.py (step).
    """
    order: list[int] = []
    owed: list[int] = []  # W codes put off, oldest first
    after = ranks - rank - 1
    for _ in range(2 * after):
        _take(order, forward, 0)
    for _ in range(rank + 1):
        _take(order, forward, 0)
        _take(order, forward, 1)
    for _ in range(after):
        _take_input(order, backward, 1, split, owed)
        order.append(owed.pop(0))
        _take(order, forward, 1)
    for i in range(count - 2 * ranks + rank + 1):
        # The two ranks where the streams turn leave their first pair apart: it ends sooner.
        if i > 0 or after > 0:
            order.append(mark)
        _take(order, forward, 0)
        _take(order, backward, 1)
        order.append(mark)
        _take(order, forward, 1)
        _take(order, backward, 0)
    for _ in range(after):
        _take(order, backward, 1)
        order.append(mark)
        _take(order, forward, 1)
        _take(order, backward, 0)
    _drain(order, backward, rank, after, split, owed)
    return order


def _drain(
    order: list[int], backward: list[int], rank: int, after: int, split: int, owed: list[int]
) -> None:
    """Add the last three steps, where backwards are split from half of the way on."""
    split_from = (rank + 1) // 2 * 2 + 1 - rank % 2
    for i in range(2 * (rank + 1)):
        stream = 1 - i % 2
        if i >= split_from:
            _take_input(order, backward, stream, split, owed)
        else:
            _take(order, backward, stream)
    for _ in range(after):
        order.append(owed.pop(0))
        _take_input(order, backward, 0, split, owed)
    while len(owed) > 0:
        order.append(owed.pop(0))


def _take(order: list[int], stream: list[int], which: int) -> None:
    order.append(stream[which])
    stream[which] += 1


def _take_input(
    order: list[int], backward: list[int], which: int, split: int, owed: list[int]
) -> None:
    order.append(backward[which] + split)
    owed.append(backward[which] + 2 * split)
    backward[which] += 1


def pair_forms(turns: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`, where a pair takes as long as F and B.

    The paper prints ``turns (F&B + B - 3 W)``, which is ``turns (F + 2 I - W)`` with such a pair.
    Where F = I the second form is that; where F is longer than I the step is ``turns (F - I)``
    longer than printed, and where I is longer it is shorter, by F at most.

    Args:
        turns: Ranks from where a stream enters to where it turns, less one.

    References:
        deepseek2024, Table 2; dualpipe2025, README (the same table); derived here where F and I
        differ.
    """
    return [
        [2.0 * turns, 0.0, 0.0],
        [2.0 * turns, turns, -turns],
        [turns - 1.0, 2.0 * turns, -turns],
        [turns - 1.0, turns, 0.0],
    ]
