"""One order of the zero-bubble authors' heuristic, made action by action.

A rank runs as many forwards before its first backward as fit in its memory and in the wait, then
one forward and one backward in turn. W goes into gaps that it fits in, and where memory asks.

References: qi2023, Sec. 3.1; zbpp2025, zb.py (manual_order).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

FORWARD, INPUT, WEIGHT = range(3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What the heuristic leaves open.

    Attributes:
        late: Whether a forward may still start before the first backward where it delays that.
        wait: Whether a rank two forwards ahead of the next one leaves the next forward out where
            the next rank's backward would come first.
        fill: Whether W may go into a gap that it overruns though the rank has idled less than
            the one that idled most.
    """

    late: bool
    wait: bool
    fill: bool


@dataclass(slots=True, kw_only=True)
class Rank:
    """What one rank has run so far.

    Attributes:
        lengths: Of its F, I and W.
        most: Micro-batches that it may hold.
        kept: Share of one that is held from I until W.
        clock: End of its last action.
        idle: Time that it stood still since its first action.
        ran: How many F, I and W.
        order: Its actions as kind and micro-batch.
    """

    lengths: tuple[Any, Any, Any]
    most: int
    kept: Any
    clock: Any = 0
    idle: Any = 0
    ran: list[int] = field(default_factory=lambda: [0, 0, 0])
    order: list[tuple[int, int]] = field(default_factory=list)

    @property
    def owed(self) -> int:
        """Return how many W could run now."""
        return self.ran[INPUT] - self.ran[WEIGHT]

    def over(self, more: int = 1, weights: int = 0) -> bool:
        """Return whether forwards do not fit in memory.

        Args:
            more: How many of them.
            weights: W that run before them.
        """
        held = self.ran[FORWARD] - self.ran[INPUT] + self.kept * (self.owed - weights)
        return bool(held + more > self.most)


class Plan:
    """One order in the making."""

    def __init__(
        self,
        lengths: list[tuple[Any, Any, Any]],
        m: int,
        memory: tuple[int, Any],
        send: Any,
        choices: Choices,
    ) -> None:
        most, kept = memory
        self.ranks = [Rank(lengths=own, most=most, kept=kept) for own in lengths]
        self.m, self.send, self.choices = m, send, choices
        # By kind and rank, the ends of its actions of that kind.
        self.ends: list[list[list[Any]]] = [[[] for _ in lengths] for _ in range(3)]

    def run(self, r: int, kind: int) -> None:
        """Run the next action of a kind on a rank, once its data is there.

        Args:
            r: The rank.
            kind: F, I or W.
        """
        rank = self.ranks[r]
        number = rank.ran[kind]
        clock, since = rank.clock, 0 if kind == WEIGHT else self.since(r, kind)
        if since > clock:
            if rank.order:
                rank.idle += since - clock
            clock = since
        clock += rank.lengths[kind]
        rank.clock = clock
        rank.ran[kind] = number + 1
        rank.order.append((kind, number))
        self.ends[kind][r].append(clock)

    def since(self, r: int, kind: int) -> Any:
        """Return when the data of a rank's next action of a kind is there.

        Args:
            r: The rank.
            kind: F, I or W.
        """
        before = r - 1 if kind == FORWARD else r + 1
        if kind == WEIGHT or not 0 <= before < len(self.ranks):
            return 0
        return self.ends[kind][before][self.ranks[r].ran[kind]] + self.send

    def make_room(self, r: int) -> None:
        """Run W until another forward fits.

        Args:
            r: The rank.
        """
        while self.ranks[r].over() and self.ranks[r].owed:
            self.run(r, WEIGHT)

    def fill_gap(self, r: int, kind: int) -> None:
        """Run W in the wait for the next action of a kind; the last one may overrun it.

        Args:
            r: The rank.
            kind: F or I.
        """
        rank, since = self.ranks[r], self.since(r, kind)
        while rank.owed and rank.clock + rank.lengths[WEIGHT] <= since:
            self.run(r, WEIGHT)
        gap = since - rank.clock
        if rank.owed and gap > 0 and (self.choices.fill or gap > self.spare(r)):
            self.run(r, WEIGHT)

    def spare(self, r: int) -> Any:
        """Return how much less a rank has idled than the one that idled most.

        Args:
            r: The rank.
        """
        return max(rank.idle for rank in self.ranks) - self.ranks[r].idle

    def warm_up(self) -> None:
        """Run the forwards before the first backward, and that backward on every rank."""
        for r in range(len(self.ranks)):
            self.run(r, FORWARD)
        more, first = [0 for _ in self.ranks], self.ranks[-1].clock
        first += self.ranks[-1].lengths[INPUT]
        for r in range(len(self.ranks) - 2, -1, -1):
            rank, clock = self.ranks[r], self.ranks[r].clock
            arrives = first + self.send
            while 1 + more[r] < self.m and not rank.over(more[r] + 1):
                ends = clock + rank.lengths[FORWARD]
                if (clock if self.choices.late else ends) > arrives or clock == arrives:
                    break
                clock, more[r] = ends, more[r] + 1
            first = max(clock, arrives) + rank.lengths[INPUT]
        for r in range(1, len(self.ranks)):
            # A rank cannot be as far ahead as the one before it, unless that one has run them all.
            most = more[r - 1] if more[r - 1] == self.m - 1 else more[r - 1] - 1
            more[r] = max(min(more[r], most), 0)
        for r, count in enumerate(more):
            for _ in range(count):
                self.run(r, FORWARD)
        for r in reversed(range(len(self.ranks))):
            self.run(r, INPUT)

    def leaves_out(self, r: int) -> bool:
        """Return whether a rank lets its next forward wait for a backward of the next rank.

        Args:
            r: The rank.
        """
        if not self.choices.wait or r + 1 == len(self.ranks):
            return False
        rank, beyond = self.ranks[r], self.ranks[r + 1]
        if rank.ran[FORWARD] < beyond.ran[FORWARD] + 2:
            return False
        arrives = beyond.clock + beyond.lengths[FORWARD] + beyond.lengths[INPUT] + self.send
        if rank.clock >= arrives:
            return True
        needed = 0
        while needed < rank.owed and rank.over(weights=needed):
            needed += 1
        if rank.clock + rank.lengths[FORWARD] + needed * rank.lengths[WEIGHT] <= arrives:
            return False
        return bool(arrives - rank.clock <= self.spare(r))

    def turn(self) -> None:
        """Run a forward and a backward on each rank, the forward only where all after it do."""
        ranks = range(len(self.ranks))
        runs = [self.ranks[r].ran[FORWARD] < self.m and not self.leaves_out(r) for r in ranks]
        for r in reversed(ranks[:-1]):
            runs[r] = runs[r] and runs[r + 1]
        for r in ranks:
            if runs[r]:
                self.make_room(r)
                self.fill_gap(r, FORWARD)
                self.run(r, FORWARD)
        for r in reversed(ranks):
            self.fill_gap(r, INPUT)
            if r == 0 and self.ranks[0].ran[FORWARD] == self.m:
                while self.ranks[0].owed:
                    self.run(0, WEIGHT)
            self.run(r, INPUT)

    def made(self) -> Plan:
        """Return the plan with every action in it."""
        self.warm_up()
        for _ in range(self.m - 1):
            self.turn()
        for r, rank in enumerate(self.ranks):
            while rank.owed:
                self.run(r, WEIGHT)
        return self

    def follow(self, orders: list[list[tuple[int, int]]]) -> Plan:
        """Run orders that are given, and return the plan.

        Args:
            orders: Kinds and micro-batches of each rank; each kind's in their order.
        """
        done = [0 for _ in orders]
        waiting = list(range(len(orders)))
        while waiting:
            for r in waiting:
                while done[r] < len(orders[r]) and self._arrived(r, *orders[r][done[r]]):
                    self.run(r, orders[r][done[r]][0])
                    done[r] += 1
            waiting = [r for r in waiting if done[r] < len(orders[r])]
        return self

    def _arrived(self, r: int, kind: int, number: int) -> bool:
        before = r - 1 if kind == FORWARD else r + 1
        at_an_end = kind == WEIGHT or not 0 <= before < len(self.ranks)
        return at_an_end or number < len(self.ends[kind][before])

    @property
    def makespan(self) -> Any:
        """Return the end of the last action; the first starts at 0."""
        return max(rank.clock for rank in self.ranks)

    @property
    def span(self) -> Any:
        """Return the longest time from a rank's first start to its last end."""
        return max(
            rank.clock - self.ends[FORWARD][r][0] + rank.lengths[FORWARD]
            for r, rank in enumerate(self.ranks)
        )
