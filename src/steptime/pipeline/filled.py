"""An order made for given times: a rank runs I where it can, else F, else W.

Two things are held back. Before a rank's first I an F waits that would make it late. A W waits
that a message overtakes, as long as the rank has idle time to spare: no more than the step has
anyway, see `least_step`.

Also turned into JavaScript: numbers, lists and loops only. Whole numbers give exact orders.
"""

from __future__ import annotations

from typing import Any

FORWARD = 0
INPUT = 1
WEIGHT = 2
KINDS = [0, 2, 3]
"""What an action's code holds of F, I and W."""
EQUAL = 1e-9
"""Share of a step within which two times are one: sums of decimals differ in their last bits."""


def filled_orders(
    lengths: list[list[Any]], m: int, memory: list[Any], send: Any, share: Any
) -> dict[str, Any]:
    """Return the orders of all ranks, and the end of the last action.

    Args:
        lengths: Of F, I and W on each rank.
        m: Micro-batches.
        memory: Micro-batches that a rank may hold, and the share of one held from I until W.
        send: Time of a message.
        share: Of W, from which on a wait is filled with it though it overruns.

    Returns:
        ``orders``, per rank a list of action codes, and ``end``.

    References:
        derived here; qi2023, Sec. 3.1 (that W fills what memory and waits leave).
    """
    goal = least_step(lengths, m, memory, send)
    asked = {"m": m, "memory": memory, "send": send, "share": share, "near": EQUAL * goal}
    ranks = [_rank(lengths, r, m, send, goal) for r in range(len(lengths))]
    now: Any = 0
    end: Any = 0
    left = 3 * m * len(lengths)
    while left > 0:
        ran = False
        for r in range(len(ranks)):
            kind = _chosen(ranks, r, asked, now)
            if kind >= 0:
                end = max(end, _run(ranks, r, kind, asked, now))
                ran = True
                left -= 1
        if not ran:
            now = _next_time(ranks, asked, now)
    return {"orders": [_codes(ranks, r, m) for r in range(len(ranks))], "end": end}


def least_step(lengths: list[list[Any]], m: int, memory: list[Any], send: Any) -> Any:
    """Return a time that no order of F, I and W goes below in a memory.

    A rank starts once the first forward has come to it; it runs no more forwards before its
    first I than memory holds; and after its last I that one goes back to the first rank, and no
    more W are left than memory holds.

    Args:
        lengths: Of F, I and W on each rank.
        m: Micro-batches.
        memory: Micro-batches that a rank may hold, and the share of one held from I until W.
        send: Time of a message.

    References:
        derived here.
    """
    room = min(m, memory[0])
    # Of one I more than W that are done, each keeps its share.
    later = min(m - 1, (memory[0] - 1) / memory[1] if memory[1] > 0 else m)
    best: Any = 0
    head: Any = 0
    tail: Any = 0
    for r in range(len(lengths)):
        f, i, w = lengths[r][FORWARD], lengths[r][INPUT], lengths[r][WEIGHT]
        back = first_backward(lengths, r, send)
        last = tail + lengths[0][WEIGHT] if r > 0 else w
        best = max(
            best,
            head + m * (f + i + w),
            back + (m - room) * f + m * (i + w),
            head + m * (f + i) + (m - 1 - later) * w + last,
        )
        head += f + send
        tail += i + send
    return best


def first_backward(lengths: list[list[Any]], rank: int, send: Any) -> Any:
    """Return when the first micro-batch's gradients can be at a rank.

    Args:
        lengths: Of F, I and W on each rank.
        rank: The rank, from 0.
        send: Time of a message.

    References:
        derived here.
    """
    time: Any = 0
    for r in range(len(lengths)):
        time += lengths[r][FORWARD] + (send if r > 0 else 0)
        if r > rank:
            time += lengths[r][INPUT] + send
    return time


def _rank(lengths: list[list[Any]], r: int, m: int, send: Any, goal: Any) -> dict[str, Any]:
    own = lengths[r]
    return {
        "own": own,
        "free": 0,
        "worked": 0,
        "done": [0, 0, 0],
        "ends": [[], []],
        "order": [],
        "first": first_backward(lengths, r, send),
        "spare": goal - m * (own[FORWARD] + own[INPUT] + own[WEIGHT]),
    }


def _since(ranks: list[dict[str, Any]], r: int, kind: int, asked: dict[str, Any]) -> Any:
    """Return when the data of a rank's next F or I is there, -1 where that is not known yet."""
    number = ranks[r]["done"][kind]
    if number == asked["m"]:
        return -1
    if kind == FORWARD and r == 0:
        return 0
    if kind == INPUT and r == len(ranks) - 1:
        own = ranks[r]["ends"][FORWARD]
        return own[number] if number < len(own) else -1
    # The next rank's I is of a micro-batch whose F has been here.
    before = ranks[r - 1 if kind == FORWARD else r + 1]["ends"][kind]
    return before[number] + asked["send"] if number < len(before) else -1


def _chosen(ranks: list[dict[str, Any]], r: int, asked: dict[str, Any], now: Any) -> int:
    """Return the kind that a rank runs now, -1 for none."""
    rank, soon = ranks[r], now + asked["near"]
    if rank["free"] > now:
        return -1
    backward = _since(ranks, r, INPUT, asked)
    if backward >= 0 and backward <= soon:
        return INPUT
    forward = -1 if _held_back(rank, asked, now) else _since(ranks, r, FORWARD, asked)
    if forward >= 0 and forward <= soon:
        return FORWARD
    if rank["done"][WEIGHT] == rank["done"][INPUT]:
        return -1
    known = [since for since in [forward, backward] if since >= 0]
    if len(known) == 0 or _fills(rank, asked, now, min(known)):
        return WEIGHT
    return -1


def _held_back(rank: dict[str, Any], asked: dict[str, Any], now: Any) -> bool:
    """Return whether another F does not fit, or would make the first I late."""
    done = rank["done"]
    owed = done[INPUT] - done[WEIGHT]
    if done[FORWARD] - done[INPUT] + asked["memory"][1] * owed + 1 > asked["memory"][0]:
        return True
    if done[FORWARD] == 0 or done[INPUT] > 0:
        return False
    late: bool = now + rank["own"][FORWARD] > rank["first"] + asked["near"]
    return late


def _fills(rank: dict[str, Any], asked: dict[str, Any], now: Any, since: Any) -> bool:
    """Return whether W runs in the wait for a message."""
    if since - now + asked["near"] >= asked["share"] * rank["own"][WEIGHT]:
        return True
    idle: bool = since - rank["worked"] > rank["spare"] + asked["near"]
    return idle


def _run(ranks: list[dict[str, Any]], r: int, kind: int, asked: dict[str, Any], now: Any) -> Any:
    """Run the next action of a kind on a rank; return its end."""
    rank = ranks[r]
    end = (now if kind == WEIGHT else max(now, _since(ranks, r, kind, asked))) + rank["own"][kind]
    rank["order"].append([kind, rank["done"][kind]])
    rank["done"][kind] += 1
    rank["worked"] += rank["own"][kind]
    rank["free"] = end
    if kind != WEIGHT:
        rank["ends"][kind].append(end)
    return end


def _next_time(ranks: list[dict[str, Any]], asked: dict[str, Any], now: Any) -> Any:
    """Return the next time at which a rank is free, or a message at one that is free by now."""
    best: Any = -1
    for r in range(len(ranks)):
        times = [ranks[r]["free"]]
        if times[0] <= now:
            times = [_since(ranks, r, kind, asked) for kind in [FORWARD, INPUT]]
        for time in times:
            if time > now and (best < 0 or time < best):
                best = time
    return best


def _codes(ranks: list[dict[str, Any]], r: int, m: int) -> list[int]:
    place = [kind * len(ranks) + r + 1 for kind in KINDS]
    return [place[one[0]] * m + one[1] for one in ranks[r]["order"]]
