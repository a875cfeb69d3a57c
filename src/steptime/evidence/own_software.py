"""Which family of software a user's runs behave like, where nobody says what they ran on.

Each family is asked as if it were named, with one factor that clusters of a known family differ
by. It is told where that makes the runs clearly likelier than software of which nothing is known,
after as many families as were tried.

References:
    kass1995, Sec. 3.2 (evidence for one of several models).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from steptime.answer.reach import families_seen
from steptime.evidence.own_fit import own_line
from steptime.evidence.own_steps import POSITIVE, likelihood, spreads
from steptime.evidence.runs import Incomplete
from steptime.evidence.samples import Sample, sample_of, table
from steptime.evidence.schema import PublishedRow
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.said import FAMILY, NOTHING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FACTOR_ALONE = 1
"""Steps that clusters differ by here: the factor, of `steptime.evidence.own_steps.STEPS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Likely:
    """The family that runs behave like.

    Attributes:
        family: Its name.
        rows: Runs that tell it: those that name no software.
        mean_before: Their mean size of ln(predicted / measured step time) as they are.
        mean_after: The same with the family named.
        evidence: Logarithm of how much likelier they are with it.
    """

    family: str
    rows: int
    mean_before: float
    mean_after: float
    evidence: float


def unnamed(rows: Sequence[PublishedRow]) -> tuple[tuple[PublishedRow, ...], tuple[Sample, ...]]:
    """Return the rows that can be predicted and of whose software nothing is known, as both.

    Args:
        rows: A user's runs.
    """
    kept, samples = [], []
    for row in rows:
        try:
            sample = sample_of(row)
        except Incomplete:
            continue
        if sample.inputs.software.knowledge == NOTHING:
            kept.append(row)
            samples.append(sample)
    return tuple(kept), tuple(samples)


def _named(rows: Sequence[PublishedRow]) -> Iterator[tuple[str, tuple[Sample, ...]]]:
    """Yield each family that has compared runs cut like all rows, with the rows as its."""
    cut = [set(families_seen(sample_of(row).inputs.run.layout)) for row in rows]
    for family in sorted(set.intersection(*cut)):
        try:
            asked = [sample_of(row.model_copy(update={"software": family})) for row in rows]
        except Incomplete:
            continue
        if all(one.inputs.software.knowledge == FAMILY for one in asked):
            yield family, tuple(asked)


def likeliest(
    rows: Sequence[PublishedRow], base: RooflineConstants, without: str = ""
) -> Likely | None:
    """Return the family that runs without a named software behave like; None where none stands out.

    Args:
        rows: A user's runs.
        base: Constants that they are predicted with.
        without: A source that may not say how far clusters differ.
    """
    kept, plain = unnamed(rows)
    if not kept:
        return None
    as_is, before = _told(plain, base, NOTHING, without)
    found = [(*_told(asked, base, FAMILY, without), family) for family, asked in _named(kept)]
    if not found:
        return None
    best, after, family = max(found)
    evidence = best - as_is - math.log(len(found))
    if evidence < POSITIVE:
        return None
    return Likely(
        family=family,
        rows=len(kept),
        mean_before=before,
        mean_after=after,
        evidence=evidence,
    )


def _told(
    runs: Sequence[Sample], base: RooflineConstants, knowledge: str, without: str
) -> tuple[float, float]:
    """Return how likely the errors of runs are with so much known, and their mean size."""
    known = spreads(knowledge, without)
    line = own_line(table(runs), base, known)
    return likelihood(line, FACTOR_ALONE, known.runs), fmean(map(abs, line.start.tolist()))
