"""How well intervals hold runs of sources that played no part in them, and what that costs.

Run as a module it prints the table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from steptime.evidence.intervals import COVERAGE, ends, holds, misses_of, width_of
from steptime.evidence.pooling import by_source
from steptime.evidence.residuals import KINDS, Residual, residuals
from steptime.formulas.judgement import half_width
from steptime.inputs.said import KNOWLEDGE


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCoverage:
    """How often a source's intervals, made without it, hold its runs.

    Attributes:
        source: Whose runs.
        runs: How many.
        covered: Share of them inside.
        score: Mean interval score.
    """

    source: str
    runs: int
    covered: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How often intervals hold runs, each source's made from the others.

    Attributes:
        kind: Of the runs.
        knowledge: What is known of their software.
        runs: How many.
        covered: Share of them inside.
        half_width: Median half-width, as a fraction of the prediction.
        ratio: Median of the upper end over the lower one.
        score: Mean interval score of the sources, each weighing the same: less is better.
        sources: Each source alone.
    """

    kind: str
    knowledge: str
    runs: int
    covered: float
    half_width: float
    ratio: float
    score: float
    sources: tuple[SourceCoverage, ...]

    @property
    def sources_covered(self) -> float:
        """Return the share inside, every source weighing the same."""
        return math.fsum(one.covered for one in self.sources) / max(len(self.sources), 1)


def interval_score(low: float, high: float, error: float) -> float:
    """Return the score of one interval: its width, and a fine for what lies outside.

    Args:
        low: Lower end, in ln(predicted / measured).
        high: Upper end.
        error: What came out.

    References:
        gneiting2007, Eq. 43.
    """
    outside = max(low - error, error - high, 0.0)
    return high - low + 2.0 / (1.0 - COVERAGE) * outside


def coverage(rows: Sequence[Residual], kind: str, knowledge: str) -> Coverage:
    """Return the coverage of a kind's intervals, each source's made without it.

    Args:
        rows: Left-out errors.
        kind: One of `steptime.evidence.residuals.KINDS`.
        knowledge: One of `steptime.inputs.said.KNOWLEDGE`.
    """
    inside, halves, ratios, sources = 0, [], [], []
    for source, misses in by_source(misses_of(rows, kind, knowledge)).items():
        found = width_of(rows, kind, knowledge, without=source)
        if found is None:
            continue
        held = sum(holds(found, miss) for miss in misses)
        spans = [ends(found, miss) for miss in misses]
        scores = [
            interval_score(*span, miss.error) for span, miss in zip(spans, misses, strict=True)
        ]
        halves += [math.exp(half_width(found, miss.exposed)) - 1.0 for miss in misses]
        ratios += [math.exp(high - low) for low, high in spans]
        inside += held
        sources.append(
            SourceCoverage(
                source=source,
                runs=len(misses),
                covered=held / len(misses),
                score=math.fsum(scores) / len(misses),
            )
        )
    return Coverage(
        kind=kind,
        knowledge=knowledge,
        runs=len(halves),
        covered=inside / max(len(halves), 1),
        half_width=median(halves) if halves else 0.0,
        ratio=median(ratios) if ratios else 1.0,
        score=math.fsum(one.score for one in sources) / max(len(sources), 1),
        sources=tuple(sources),
    )


def coverages(rows: Sequence[Residual]) -> tuple[Coverage, ...]:
    """Return the coverage of every kind at every level of knowledge.

    Args:
        rows: Left-out errors.
    """
    return tuple(coverage(rows, kind, level) for kind in KINDS for level in KNOWLEDGE)


def markdown(found: Sequence[Coverage]) -> str:
    """Return coverages as a table: one line a kind and level, then its sources.

    Args:
        found: By kind and level.
    """
    lines = [
        "| kind | known | runs | inside | sources alike | high/low | score | each source |",
        "|---|---|---:|---:|---:|---:|---:|---|",
    ]
    for one in found:
        each = ", ".join(f"{s.source} {s.covered:.0%} of {s.runs}" for s in one.sources)
        lines.append(
            f"| {one.kind} | {one.knowledge} | {one.runs} | {one.covered:.0%} | "
            f"{one.sources_covered:.0%} | {one.ratio:.2f} | {one.score:.2f} | {each} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown(coverages(residuals())))
