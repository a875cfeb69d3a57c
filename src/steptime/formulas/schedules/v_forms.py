"""Looks up the forms of V-Half and V-Min, whose ends follow no short rule.

A table holds, for each number of ranks up to `MOST_RANKS`, the forms for numbers of micro-batches
that are too small for the block to settle, and then those for all larger ones. A form grows with
the micro-batches by one of a few slopes: once settled by nothing, or by what a block held up by F
or by I takes longer. More ranks scale the forms of as many ranks less a multiple of six: the ends
grow with them.

`steptime.evidence.form_tables` makes the tables from the executor.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import islice
from typing import Any

from steptime.formulas.number import Number, ceil, floor, maximum, minimum, taken, where

MOST_RANKS = 64.0
REPEATS = 6.0
ZERO = 2**15
"""What stands for nothing in a table's text."""


def table_forms(
    p: Number, m: Number, table: dict[str, Sequence[float]], settled: float, short: float
) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        table: ``first`` and ``last``, the places of the forms of each size, and ``start``, the
            micro-batches at which they stand; ``forms``, as many numbers as a size has forms at
            most; ``slope``, ``forward``, ``input`` and ``weight`` of each form; and
            ``slopes_forward`` and so on, what one more micro-batch adds.
        settled: Micro-batches a rank from which on a form only grows by its slope.
        short: Ranks that add nothing to the ends.

    References:
        derived here.
    """
    done = m >= settled_at(p, settled)
    rows = as_if(p, MOST_RANKS)
    last_few = settled_at(rows, settled) - 1.0
    # Of more ranks: as many micro-batches a rank.
    few = minimum(maximum(m * rows / p, 1.0), last_few)
    size = table_start(rows, settled) + where(done, last_few, floor(few + 0.5) - 1.0)
    scale = where(p > rows, (p - short) / maximum(rows - short, 1.0), 1.0)
    first, last = taken(table["first"], size), taken(table["last"], size)
    # What a settled block takes longer it does for each micro-batch, whatever the ranks.
    along = where(done, m, scale * (few - taken(table["start"], size)))
    forms = []
    for k in table["forms"]:
        place = minimum(first + k, last)
        slope = taken(table["slope"], place)
        forms.append(
            [
                scale * taken(table["forward"], place)
                + along * taken(table["slopes_forward"], slope),
                scale * taken(table["input"], place) + along * taken(table["slopes_input"], slope),
                scale * taken(table["weight"], place)
                + along * taken(table["slopes_weight"], slope),
            ]
        )
    return forms


def as_if(p: Number, most: float) -> Number:
    """Return a number of ranks less the fewest multiples of six that bring it to ``most``.

    Args:
        p: Pipeline ranks.
        most: The most to return.

    References:
        derived here.
    """
    return minimum(p, p - REPEATS * ceil((p - most) / REPEATS))


def settled_at(p: Number, settled: float) -> Number:
    """Return the micro-batches from which on a form only grows by its slope.

    Args:
        p: Pipeline ranks.
        settled: Micro-batches a rank.

    References:
        derived here.
    """
    return floor(settled * p) + 1.0


def table_start(p: Number, settled: float) -> Number:
    """Return the place of the first size for a number of ranks.

    Args:
        p: Pipeline ranks, from 1.
        settled: Micro-batches a rank, a multiple of a half.

    References:
        derived here: the sum of `settled_at` over fewer ranks.
    """
    before = p - 1.0
    twice = 2.0 * settled
    # Over an odd number of ranks an odd multiple of a half is rounded down by a half.
    halves = floor((before + 1.0) / 2.0) * (twice - 2.0 * floor(twice / 2.0))
    return (twice * before * p / 2.0 - halves) / 2.0 + before


class FormTable(dict[str, Sequence[float]]):
    """A table by columns that is decoded when one is first asked for: few questions need it.

    A column is packed as NumPy reads it, which a search takes entries from again and again.
    """

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts

    def __missing__(self, name: str) -> Sequence[float]:
        self.update({name: array("d", column) for name, column in _columns(self._texts).items()})
        return self[name]

    def items(self) -> Any:
        """Return the columns, as what writes them elsewhere wants."""
        return _columns(self._texts).items()


def _columns(texts: list[str]) -> dict[str, list[float]]:
    """Return a table by columns, as `table_forms` reads it.

    Args:
        texts: Its parts, one after the other. Each is compressed in base 85: the higher bytes of
            whole numbers and then the lower ones, over `ZERO`. They are the count of slopes and
            that of rows; F, then I, then W of the slopes; how many numbers of micro-batches each
            row serves, 0 for all that follow; how many forms each has; and of all forms the place
            of the slope, then F, I, and all three together.
    """
    kept = ("slope", "forward", "input", "weight")
    found: dict[str, list[float]] = {name: [] for name in ("first", "last", "start", *kept)}
    found |= {f"slopes_{name}": [] for name in kept[1:]}
    start, most = 1, 0
    for text in texts:
        numbers = iter(_numbers(text))
        slopes, rows = next(numbers), next(numbers)
        before = len(found["slopes_forward"])
        for name in kept[1:]:
            found[f"slopes_{name}"] += map(float, islice(numbers, slopes))
        served, counts = list(islice(numbers, rows)), list(islice(numbers, rows))
        place = len(found["slope"])
        for of_row, count in zip(served, counts, strict=True):
            for _ in range(max(of_row, 1)):
                found["first"].append(float(place))
                found["last"].append(place + count - 1.0)
                found["start"].append(float(start))
            start = start + of_row if of_row else 1
            place, most = place + count, max(most, count)
        every = [list(islice(numbers, sum(counts))) for _ in kept]
        for slope, f, i, whole in zip(*every, strict=True):
            for name, number in zip(kept, (slope + before, f, i, whole - f - i), strict=True):
                found[name].append(float(number))
    found["forms"] = [float(k) for k in range(most)]
    return found


def _numbers(text: str) -> list[int]:
    from base64 import b85decode
    from zlib import decompress

    data = decompress(b85decode("".join(text.split())))
    half = len(data) // 2
    return [256 * high + low - ZERO for high, low in zip(data[:half], data[half:], strict=True)]
