"""The shortest step that any schedule could reach, from an integer program.

Micro-batches are alike, so some best schedule runs the actions of one kind and stage in
the order of micro-batches: it is enough to choose in which slots such a stream starts an
action. That makes a program small enough to solve to proven optimality at a few ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steptime.inputs.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What a best schedule is looked for.

    Attributes:
        routes: Rank of each stage, one list for each direction of micro-batches.
        micro_batches: Micro-batches in each direction.
        most_held: Micro-batches times stages that a rank may hold.
        split: Whether a backward may be cut into I and W.
        forward: Slots of F.
        backward_input: Slots of I.
        backward_weight: Slots of W; B takes both.
    """

    routes: tuple[tuple[int, ...], ...]
    micro_batches: int
    most_held: int
    split: bool = True
    forward: int = 1
    backward_input: int = 1
    backward_weight: int = 1


@dataclass(frozen=True, slots=True)
class _Stream:
    rank: int
    length: int
    holds: int
    """+1 where its start takes room for a micro-batch, -1 where its end gives it back."""
    after: tuple[int, ...]


def shortest_step(problem: Problem, known: int, most_nodes: int = 2000) -> tuple[int, bool]:
    """Return the fewest slots in which all work can be done, and whether that is proven.

    Args:
        problem: Placement, micro-batches, durations and the memory cap.
        known: Slots that some schedule needs.
        most_nodes: Nodes of the search tree for one length of step. A count, not a time, so
            that every machine gives up at the same place.

    Returns:
        The optimum and True; or a lower bound and False.

    Raises:
        ConfigError: If the cap leaves no room for one micro-batch.
    """
    streams = _streams(problem)
    ranks = 1 + max(rank for route in problem.routes for rank in route)
    most_stages = max(
        sum(stage_rank == rank for stage_rank in route)
        for route in problem.routes
        for rank in range(ranks)
    )
    if problem.most_held < most_stages:
        raise ConfigError(f"{problem.most_held=} must be >= {most_stages}, one micro-batch's share")
    slots = _least_slots(streams, problem.micro_batches, ranks)
    while slots < known:
        found = _fits(streams, problem, ranks, slots, most_nodes)
        if found is None:
            return slots, False
        if found:
            return slots, True
        slots += 1
    return known, True


def _streams(problem: Problem) -> list[_Stream]:
    """Return the streams of actions; each action waits for the like-numbered one of others."""
    backward = problem.backward_input + problem.backward_weight
    streams: list[_Stream] = []
    for route in problem.routes:
        before: tuple[int, ...] = ()
        for rank in route:
            streams.append(_Stream(rank, problem.forward, 1, before))
            before = (len(streams) - 1,)
        for rank in reversed(route):
            if problem.split:
                streams.append(_Stream(rank, problem.backward_input, 0, before))
                before = (len(streams) - 1,)
                streams.append(_Stream(rank, problem.backward_weight, -1, before))
            else:
                streams.append(_Stream(rank, backward, -1, before))
                before = (len(streams) - 1,)
    return streams


def _earliest(streams: list[_Stream]) -> list[int]:
    starts: list[int] = []
    for stream in streams:
        starts.append(max((starts[i] + streams[i].length for i in stream.after), default=0))
    return starts


def _tails(streams: list[_Stream]) -> list[int]:
    """Return the slots from a stream's start to the end of all that waits for it."""
    tails = [stream.length for stream in streams]
    for i in reversed(range(len(streams))):
        for j in streams[i].after:
            tails[j] = max(tails[j], streams[j].length + tails[i])
    return tails


def _least_slots(streams: list[_Stream], micro_batches: int, ranks: int) -> int:
    """Return a bound: a rank's first data must come, its work be done, its last data go on."""
    starts, tails = _earliest(streams), _tails(streams)
    best = 0
    for rank in range(ranks):
        own = [i for i in range(len(streams)) if streams[i].rank == rank]
        work = micro_batches * sum(streams[i].length for i in own)
        lead = min(starts[i] for i in own)
        rest = min(tails[i] - streams[i].length for i in own)
        best = max(best, lead + work + rest)
    return best


def _possible(streams: list[_Stream], slots: int) -> list[list[float]]:
    """Return 1 for each slot in which a stream may start an action, between head and tail."""
    starts, tails = _earliest(streams), _tails(streams)
    return [
        [float(starts[i] <= t <= slots - tails[i]) for t in range(slots)]
        for i in range(len(streams))
    ]


def _fits(
    streams: list[_Stream], problem: Problem, ranks: int, slots: int, most_nodes: int
) -> bool | None:
    """Return whether all work fits into so many slots; None where the search gave up."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    count = problem.micro_batches
    rows = _Rows(slots)
    for i, stream in enumerate(streams):
        rows.add([(i, t, 1.0) for t in range(slots)], count, count)
        for j in stream.after:
            for t in range(slots):
                done = [(j, u, -1.0) for u in range(max(0, t - streams[j].length + 1))]
                rows.add([(i, u, 1.0) for u in range(t + 1)] + done, -np.inf, 0)
    for rank in range(ranks):
        own = [(i, s) for i, s in enumerate(streams) if s.rank == rank]
        for t in range(slots):
            busy = [(i, u, 1.0) for i, s in own for u in range(max(0, t - s.length + 1), t + 1)]
            rows.add(busy, -np.inf, 1)
            held = [(i, u, 1.0) for i, s in own if s.holds > 0 for u in range(t + 1)]
            held += [
                (i, u, -1.0) for i, s in own if s.holds < 0 for u in range(max(0, t - s.length + 1))
            ]
            rows.add(held, -np.inf, problem.most_held)
    upper = np.array(_possible(streams, slots)).ravel()
    matrix = csr_array(
        (rows.values, (rows.row_of, rows.column_of)), shape=(len(rows.low), len(upper))
    )
    answer: Any = milp(
        np.zeros(len(upper)),
        integrality=np.ones(len(upper), dtype=np.int64),
        bounds=Bounds(0, upper),
        constraints=LinearConstraint(matrix, rows.low, rows.high),
        options={"node_limit": most_nodes},
    )
    # 0: found; 2: proven impossible; 1: out of nodes.
    return None if answer.status == 1 else bool(answer.status == 0)


class _Rows:
    """Rows of a sparse matrix over (stream, slot), as they are added."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.row_of: list[int] = []
        self.column_of: list[int] = []
        self.values: list[float] = []
        self.low: list[float] = []
        self.high: list[float] = []

    def add(self, terms: list[tuple[int, int, float]], low: float, high: float) -> None:
        """Add one row with its bounds."""
        for stream, slot, value in terms:
            self.row_of.append(len(self.low))
            self.column_of.append(stream * self.slots + slot)
            self.values.append(value)
        self.low.append(low)
        self.high.append(high)
