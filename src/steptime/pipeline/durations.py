"""Durations and send times in the form that the executor reads: a number per row of codes.

Also turned into JavaScript: numbers, lists and loops only.
"""

from __future__ import annotations

from typing import Any


def slot_times(
    orders: list[list[int]],
    stages: int,
    micro_batches: int,
    forward: Any,
    backward_input: Any,
    backward_weight: Any,
) -> dict[str, Any]:
    """Return the times of equal stages with free sends: the setting of the closed forms.

    Args:
        orders: Action codes of each rank.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
        forward: Time of F, per stage.
        backward_input: Time of I, per stage.
        backward_weight: Time of W, per stage; B takes both.
    """
    parts = {
        "forward": [forward for _ in range(stages)],
        "backward": [backward_input + backward_weight for _ in range(stages)],
        "backward_input": [backward_input for _ in range(stages)],
        "backward_weight": [backward_weight for _ in range(stages)],
    }
    send = {"latency": 0, "transfer": 0, "blocking": False}
    pair = {"paired": True, "hidden": 0}
    return stage_times(orders, stages, micro_batches, parts, send, pair)


def stage_times(
    orders: list[list[int]],
    stages: int,
    micro_batches: int,
    parts: dict[str, list[Any]],
    send: dict[str, Any],
    pair: dict[str, Any],
) -> dict[str, Any]:
    """Return the times by row, with a length for each stage and action.

    Args:
        orders: Action codes of each rank.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
        parts: ``forward``, ``backward``, ``backward_input`` and ``backward_weight``, a
            time per stage. A stage is one chunk of one rank, so chunks may differ too.
        send: ``latency``, time a message takes beyond its bytes; ``transfer``, time its
            bytes hold the sender's port; ``blocking``, whether the sender waits for both.
        pair: ``paired``, whether the two actions behind a mark run as one, starting and
            ending together (else one after the other); ``hidden``, the time that saves.
    """
    duration: list[Any] = [0]
    duration.extend(parts["forward"])
    for name in ("backward", "backward_input", "backward_weight"):
        for stage in range(stages):
            duration.append(parts[name][stages - 1 - stage])
    duration.append(0)
    crossing = crossing_rows(orders, stages, micro_batches)
    return {
        "duration": duration,
        "delay": [send["latency"] * row for row in crossing],
        "port": [send["transfer"] * row for row in crossing],
        "messages": send["transfer"] > 0 or send["blocking"],
        "blocking": send["blocking"],
        "paired": pair["paired"],
        "hidden": pair["hidden"],
    }


def crossing_rows(orders: list[list[int]], stages: int, micro_batches: int) -> list[int]:
    """Return 1 for each row of codes whose result goes to another rank, else 0.

    Args:
        orders: Action codes of each rank.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
    """
    crossing = [0 for _ in range(4 * stages + 2)]
    # Micro-batch 0 says where each stage lives; in DualPipe the other direction's stages
    # live elsewhere, and cross between ranks all the same.
    home = stage_ranks(orders, stages, micro_batches, 0)
    for stage in range(stages - 1):
        if home[stage] != home[stage + 1]:
            crossing[stage + 1] = 1
            crossing[2 * stages - stage - 1] = 1
            crossing[3 * stages - stage - 1] = 1
    return crossing


def stage_ranks(
    orders: list[list[int]], stages: int, micro_batches: int, micro_batch: int
) -> list[int]:
    """Return the rank that runs each stage for one micro-batch; -1 where none does.

    Args:
        orders: Action codes of each rank.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
        micro_batch: Which one.
    """
    home = [-1 for _ in range(stages)]
    last = (stages + 1) * micro_batches
    for rank in range(len(orders)):
        for code in orders[rank]:
            if code < last and code % micro_batches == micro_batch:
                home[code // micro_batches - 1] = rank
    return home
