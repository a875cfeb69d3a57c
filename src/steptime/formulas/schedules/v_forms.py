"""Looks up the forms of V-Half and V-Min, whose ends follow no short rule.

A table holds, for each number of ranks up to `FULL_RANKS`, the forms for each number of
micro-batches that is too small for the block to settle, and then those for all larger ones.
There a form grows with the micro-batches by one of a few slopes: by nothing, or by what a
block held up by F or by I takes longer. Up to `MOST_RANKS` follow the settled forms alone.
More ranks scale those of as many ranks less a multiple of six: the ends grow with them.

`steptime.pipeline.chains` makes the tables from the executor.
"""

from __future__ import annotations

from itertools import pairwise

from steptime.formulas.number import Number, ceil, floor, maximum, minimum, taken, where

FULL_RANKS = 16.0
MOST_RANKS = 32.0
REPEATS = 6.0


def table_forms(
    p: Number, m: Number, table: dict[str, list[float]], settled: float, short: float
) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        table: ``first``, the place of the first form of each size and the end; ``forms``, as
            many numbers as a size has forms at most; ``slope``, ``forward``, ``input`` and
            ``weight`` of each form; ``slopes_forward`` and so on, what one more micro-batch adds.
        settled: Micro-batches a rank from which on a form only grows by its slope.
        short: Ranks that add nothing to the ends.

    References:
        derived here.
    """
    done = m >= settled_at(p, settled)
    rows = where(done, as_if(p, MOST_RANKS), as_if(p, FULL_RANKS))
    few = maximum(floor(m * rows / p + 0.5), 1.0)
    last_few = settled_at(rows, settled) - 1.0
    size = table_start(rows, settled) + where(done, last_few, minimum(few, last_few) - 1.0)
    far = table_start(FULL_RANKS + 1.0, settled) + rows - FULL_RANKS - 1.0
    size = where(rows > FULL_RANKS, far, size)
    scale = where(p > rows, (p - short) / maximum(rows - short, 1.0), 1.0)
    first, last = taken(table["first"], size), taken(table["first"], size + 1.0) - 1.0
    forms = []
    for k in table["forms"]:
        place = minimum(first + k, last)
        slope = taken(table["slope"], place)
        forms.append(
            [
                scale * taken(table["forward"], place) + m * taken(table["slopes_forward"], slope),
                scale * taken(table["input"], place) + m * taken(table["slopes_input"], slope),
                scale * taken(table["weight"], place) + m * taken(table["slopes_weight"], slope),
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


def _columns(text: str, slopes: list[list[int]]) -> dict[str, list[float]]:
    """Return a table by columns, as `table_forms` reads it.

    Args:
        text: Slope, F, I and W of each form, two hexadecimal digits each with 80 for nothing;
            a point ends a size.
        slopes: F, I and W of each slope.
    """
    rows = "".join(text.split()).split(".")[:-1]
    first = [0.0]
    flat: list[float] = []
    for row in rows:
        flat += [float(int(row[i : i + 2], 16) - 128) for i in range(0, len(row), 2)]
        first.append(len(flat) / 4.0)
    most = max(end - start for start, end in pairwise(first))
    found = {"first": first, "forms": [float(k) for k in range(int(most))]}
    for part, name in enumerate(("slope", "forward", "input", "weight")):
        found[name] = flat[part::4]
        if part:
            found[f"slopes_{name}"] = [float(slope[part - 1]) for slope in slopes]
    return found
