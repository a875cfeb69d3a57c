"""How sure a prediction is: widths from the errors of sources that were left out.

Rows of one source share their error, so a few independent sources stand behind hundreds of rows.
A new row is off by what its source is off, and by what rows of one source differ: the width takes
the variance between sources and the variance within them, every source weighing the same, about
the mean of the sources' means, with Student's t of one less than the sources. There is a width for
each kind of run and each level of knowledge (`steptime.inputs.said.Said.knowledge`). Errors are
divided by a scale first, which grows with the share of the step that is no computing.
How the scale grows is one number for all kinds of run, and a kind of few sources takes part of its
variance from the others, see `steptime.evidence.pooling`.
A cell of fewer than two sources takes the wider of its neighbours: the same kind with less
known, and dense runs with as much known. Experts are never narrower than dense runs, in 16 bits
and in fewer, where the software is not known exactly. This form was chosen before any width was
made with it.

Two choices came after a first look. A source of one or two runs has no say, as in the ladder's
means: two such runs, mispredicted twofold, had made half of the width of 8 bits. And the exact
level rests on all runs whose stack is named, those of stacks described for one source too, since
only three sources ran what is anybody's. A user gets it for the latter alone.

A third came last: runs that are mostly attention have no say. Sequences of a million tokens tell
nothing but which kernel a source took, by up to two; six such runs had made half of the width of
all dense ones. An answer for such a run says that none like it counts, see `steptime.answer.reach`.

A fourth, after coverages of 96 to 99 % with three to five sources of a kind were seen: what the
kinds share. How much of it was chosen by coverage with each source left out: taking all of the
others' degrees of freedom held too few experts.

A fifth: what unnamed software hides is not known, so its intervals reach from the step to the one
that hides nothing, and an error counts as far as it lies outside. All that a step may hide is
taken, after misses of one source were seen: with gradients alone intervals came out as wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from statistics import median
from typing import TypeVar

from steptime.answer.reach import MOST_ATTENTION
from steptime.answer.width import DENSE, EXPERTS, KEYS, KINDS, NARROW
from steptime.evidence.pooling import (
    Spread,
    base_of,
    growth_of,
    heard,
    line,
    middle_of,
    spread_of,
    squeezed,
)
from steptime.evidence.residuals import Miss, Residual, residuals
from steptime.formulas.judgement import half_width
from steptime.formulas.records import Width
from steptime.inputs.datafiles import data_path, write_whole
from steptime.inputs.said import EXACT, KNOWLEDGE, NOTHING

COVERAGE = 0.9
W = TypeVar("W")
FEWEST_SOURCES = 3
FEWEST_BESIDE = 2
"""The same where other kinds' sources tell how much sources differ."""


def ends(width: Width, miss: Miss) -> tuple[float, float]:
    """Return the errors between which a measured step counts as inside.

    Args:
        width: Of the interval.
        miss: Has the share of the step that is no computing, and what it may not hide.
    """
    half, middle = float(half_width(width, miss.exposed)), float(width.middle)
    return min(middle - half - miss.hidden, 0.0), max(middle + half, 0.0)


def holds(width: Width, miss: Miss) -> bool:
    """Return whether the interval of a run holds its measured step.

    Args:
        width: Of the interval.
        miss: The run's.
    """
    low, high = ends(width, miss)
    return low <= miss.error <= high


def quantile(coverage: float, freedom: int) -> float:
    """Return Student's t that a share of draws stays below, to both sides.

    Args:
        coverage: The share.
        freedom: Degrees of freedom.

    References:
        student1908, Sec. III.
    """
    from scipy.stats import t

    return float(t.ppf((1.0 + coverage) / 2.0, freedom))


def width(
    misses: Sequence[Miss],
    coverage: float = COVERAGE,
    growth: float | None = None,
    others: Sequence[Spread] = (),
) -> Width | None:
    """Return the width that covers a share of a new source's runs; None for too few sources.

    Args:
        misses: Errors of left-out runs.
        coverage: The share to cover.
        growth: How the scale grows, of all kinds; from these errors alone if None.
        others: How errors of the other kinds vary: with them two sources are enough.
    """
    groups = heard(miss.beyond for miss in misses)
    if len(groups) < (FEWEST_BESIDE if others else FEWEST_SOURCES):
        return None
    middle = middle_of(groups)
    if growth is None:
        base, slope = line(groups, middle)
    else:
        base = base_of(groups, middle, growth)
        slope = growth * base
    spread = squeezed(spread_of(groups, base, slope), others)
    return Width(
        factor=quantile(coverage, spread.freedom) * math.sqrt(spread.variance),
        base=base,
        slope=slope,
        runs=sum(map(len, groups)),
        middle=middle,
        num_sources=len(groups),
    )


def width_beside(misses: Mapping[str, Sequence[Miss]], kind: str) -> Width | None:
    """Return a kind's width, the other kinds helping; None for too few sources.

    Args:
        misses: Errors of left-out runs of each kind.
        kind: One of ``KINDS``.
    """
    growth = growth_of([miss.beyond for miss in several] for several in misses.values())
    others = []
    for other, several in misses.items():
        groups = heard(miss.beyond for miss in several)
        if other != kind and len(groups) >= FEWEST_BESIDE:
            base = base_of(groups, middle_of(groups), growth)
            others.append(spread_of(groups, base, growth * base))
    return width(misses[kind], growth=growth, others=others)


def misses_of(
    rows: Iterable[Residual], kind: str, knowledge: str, without: str = ""
) -> tuple[Miss, ...]:
    """Return the errors of one kind of run with so much known of the software.

    Args:
        rows: Left-out errors.
        kind: One of ``KINDS``.
        knowledge: One of ``KNOWLEDGE``.
        without: A source that may not be used.
    """
    asked = (row.at(knowledge) for row in rows if row.kind == kind and row.source != without)
    return tuple(miss for miss in asked if miss is not None)


def neighbours(kind: str, knowledge: str) -> list[tuple[str, str]]:
    """Return the cells that a cell of too few sources may borrow from.

    Args:
        kind: One of ``KINDS``.
        knowledge: One of ``KNOWLEDGE``.
    """
    less = KNOWLEDGE[KNOWLEDGE.index(knowledge) + 1 :][:1]
    return ([(DENSE, knowledge)] if kind != DENSE else []) + [(kind, level) for level in less]


def borrowed(
    kind: str,
    knowledge: str,
    own: Callable[[str, str], W | None],
    size: Callable[[W], float],
) -> W | None:
    """Return a cell's own width, or the wider one of its neighbours, which may borrow too.

    Args:
        kind: One of ``KINDS``.
        knowledge: One of ``KNOWLEDGE``.
        own: Gives a cell's own width.
        size: Says how wide one is.
    """
    mine = own(kind, knowledge)
    if mine is not None:
        return mine
    near = (borrowed(*cell, own, size) for cell in neighbours(kind, knowledge))
    return max((one for one in near if one is not None), key=size, default=None)


def width_of(
    rows: Sequence[Residual], kind: str, knowledge: str, without: str = ""
) -> Width | None:
    """Return the width of a prediction's interval, or None where no sources are comparable.

    Args:
        rows: Left-out errors.
        kind: One of ``KINDS``.
        knowledge: One of ``KNOWLEDGE``.
        without: A source that may not be used.
    """
    usual = median([row.exposed for row in rows]) if rows else 0.0
    rows = [row for row in rows if row.attention <= MOST_ATTENTION]

    def own(kind: str, knowledge: str) -> Width | None:
        every = {one: misses_of(rows, one, knowledge, without) for one in KINDS}
        found = width_beside(every, kind)
        return found and replace(found, unhidden=float(knowledge == NOTHING))

    def size(one: Width) -> float:
        return float(half_width(one, usual))

    found = borrowed(kind, knowledge, own, size)
    if found is not None and kind == EXPERTS and knowledge != EXACT:
        dense = [borrowed(one, knowledge, own, size) for one in (DENSE, NARROW)]
        widest = max((one for one in dense if one is not None), key=size, default=found)
        if size(widest) > size(found):
            return replace(found, factor=widest.factor, base=widest.base, slope=widest.slope)
    return found


def widths_text() -> str:
    """Return ``data/interval_widths.toml`` as the left-out errors in ``data/`` make it."""
    lines = [
        "# Widths of the intervals, in ln(step time): about `middle`, `factor` times `base`, plus",
        "# `slope` for each share of the step that is no computing; a table for each kind of run",
        "# and what is known of its software. `runs` and `num_sources` are what it rests on.",
        "# Where `unhidden` is 1, the later end is that of a step that hides nothing.",
        "# Made from roofline_residuals.csv by `python -m steptime.evidence.intervals`; a test",
        "# compares.",
        'source = "fitted: roofline_residuals.csv, the errors of sources left out"',
    ]
    for kind in KINDS:
        for knowledge in KNOWLEDGE:
            found = width_of(residuals(), kind, knowledge)
            if found is not None:
                lines += ["", f"[{KEYS[kind]}-{knowledge}]"]
                lines += [f"{name} = {value!r}" for name, value in asdict(found).items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_whole(data_path("interval_widths.toml"), widths_text())
