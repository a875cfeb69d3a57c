"""Keep the fastest layouts and the Pareto front while blocks go by, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(slots=True)
class Kept:
    """Some layouts with their time and memory.

    Attributes:
        step_s: Seconds of a step, shape ``(kept,)``.
        memory_bytes: Of the fullest device.
        rows: Their rows, shape ``(kept, columns)``.
        switches: Their places on the three switch axes, shape ``(kept, 3)``.
    """

    step_s: Floats
    memory_bytes: Floats
    rows: Floats
    switches: Integers

    @classmethod
    def none(cls, columns: int) -> Kept:
        """Return an empty selection."""
        return cls(
            np.empty(0), np.empty(0), np.empty((0, columns)), np.empty((0, 3), dtype=np.int64)
        )

    def __len__(self) -> int:
        return int(self.step_s.size)

    def taken(self, index: Integers) -> Kept:
        """Return the entries at ``index``."""
        return Kept(
            self.step_s[index], self.memory_bytes[index], self.rows[index], self.switches[index]
        )

    def joined(self, other: Kept) -> Kept:
        """Return both selections together."""
        return Kept(
            np.concatenate([self.step_s, other.step_s]),
            np.concatenate([self.memory_bytes, other.memory_bytes]),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.switches, other.switches]),
        )

    def order(self) -> Integers:
        """Return places from the fastest on; equals go by memory, then by the layout itself.

        The last keys make the result independent of how the space was cut into blocks.
        """
        keys: list[NDArray[Any]] = [self.switches[:, place] for place in (2, 1, 0)]
        keys += [self.rows[:, place] for place in reversed(range(self.rows.shape[1]))]
        return np.lexsort([*keys, self.memory_bytes, self.step_s])


@dataclass(slots=True)
class Selection:
    """The fastest layouts so far, and those that no other beats in both time and memory.

    Attributes:
        most: How many of the fastest to keep.
        best: The fastest, in order.
        front: The Pareto front, from the fastest to the leanest.
        want_front: Whether to keep a front at all.
    """

    most: int
    columns: int
    want_front: bool = True
    best: Kept = field(init=False)
    front: Kept = field(init=False)

    def __post_init__(self) -> None:
        self.best = Kept.none(self.columns)
        self.front = Kept.none(self.columns)

    @property
    def slowest_kept_s(self) -> float:
        """Time that a layout must not exceed to be among the fastest."""
        return float(self.best.step_s[-1]) if len(self.best) >= self.most else np.inf

    def add(
        self, step_s: Floats, memory_bytes: Floats, fits: NDArray[np.bool_], rows: Floats
    ) -> None:
        """Take in one block.

        Args:
            step_s: Shape ``(rows, recompute, zero, sequence)``.
            memory_bytes: The same shape.
            fits: Which of them are distinct layouts that fit in memory.
            rows: Shape ``(rows, columns)``.
        """
        flat_s, flat_bytes = step_s.reshape(-1), memory_bytes.reshape(-1)
        places = np.flatnonzero(fits.reshape(-1))
        if not places.size:
            return
        times = flat_s[places]
        near = places[times <= self.slowest_kept_s]
        if near.size > self.most:
            # Equal times must all stay until they are ordered.
            cut = np.partition(flat_s[near], self.most - 1)[self.most - 1]
            near = near[flat_s[near] <= cut]
        if near.size:
            joined = self.best.joined(_kept(near, flat_s, flat_bytes, step_s.shape, rows))
            self.best = joined.taken(joined.order()[: self.most])
        if self.want_front:
            self._extend_front(places, flat_s, flat_bytes, step_s.shape, rows)

    def _extend_front(
        self,
        places: Integers,
        flat_s: Floats,
        flat_bytes: Floats,
        shape: tuple[int, ...],
        rows: Floats,
    ) -> None:
        if len(self.front):
            times = flat_s[places]
            before = np.searchsorted(self.front.step_s, times, side="right") - 1
            beaten = np.maximum(before, 0)
            # One that equals another in both stays in: the layouts themselves decide.
            least = self.front.memory_bytes[beaten]
            equal = (flat_bytes[places] == least) & (times == self.front.step_s[beaten])
            places = places[(flat_bytes[places] < least) | equal | (before < 0)]
        if not places.size:
            return
        order = np.argsort(flat_s[places], kind="stable")
        places = places[order]
        memory = flat_bytes[places]
        least = np.minimum.accumulate(memory)
        # The first of each new least memory; equals are settled by `front_of`.
        new = np.append(True, memory[1:] < least[:-1]) | (memory == least)
        joined = self.front.joined(_kept(places[new], flat_s, flat_bytes, shape, rows))
        self.front = front_of(joined)


def front_of(kept: Kept) -> Kept:
    """Return the entries that no other beats in both time and memory, fastest first."""
    ordered = kept.taken(kept.order())
    if not len(ordered):
        return ordered
    least = np.minimum.accumulate(ordered.memory_bytes)
    leaner = np.append(True, ordered.memory_bytes[1:] < least[:-1])
    return ordered.taken(np.flatnonzero(leaner))


def _kept(
    places: Integers, flat_s: Floats, flat_bytes: Floats, shape: tuple[int, ...], rows: Floats
) -> Kept:
    row, *switch = np.unravel_index(places, shape)
    return Kept(flat_s[places], flat_bytes[places], rows[row], np.stack(switch, axis=1))


@dataclass(slots=True)
class Tally:
    """What a search has seen so far.

    Attributes:
        evaluated: Layouts whose time and memory were computed.
        fitting: Those of them that fit.
        dropped: Layouts that fell out, by reason.
        leanest_bytes: The least memory of any layout.
        leanest: That layout: its row and switches.
        unsure: The front of what fits by what is counted, while nothing fits as surely as asked.
        splits: Splits of layers over stages that were timed for the fastest and the front.
        most_saved: The largest share of a layout's time that its best split saved.
        to_win: What one of a layout beyond the fastest would have to save; None if there is none.
    """

    evaluated: int
    fitting: int
    dropped: dict[str, int]
    leanest_bytes: float
    leanest: Kept
    unsure: Selection
    splits: int = 0
    most_saved: float = 0.0
    to_win: float | None = None
