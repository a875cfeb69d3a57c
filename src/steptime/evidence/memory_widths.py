"""How sure a predicted peak of memory is: from the peaks of sources that were left out.

The memory model has no constant fitted to a source's rows, so to leave a source out is to drop
its facts, as the rungs of `steptime.evidence.ladder` do, and its rows from the width. Measured
over predicted, less one, varies between sources and within them as errors in time do
(`steptime.evidence.intervals`); a logistic distribution with the same nine tenths stands for it,
for its chances need no more than the exponential function. What a row states in column ``facts``
stays on every rung: how its peak was read, and what it was told to keep elsewhere. This form was
chosen before any width was made with it.

Run as a module it writes ``data/memory_widths.toml`` and prints how often nine tenths hold.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from steptime.answer.peak import job_memory
from steptime.answer.width import KEYS, KINDS, kind_of, logit
from steptime.evidence.intervals import FEWEST_SOURCES, borrowed, quantile
from steptime.evidence.ladder import RUNGS
from steptime.evidence.memory_reading import reading_of
from steptime.evidence.pooling import FEWEST_RUNS, predictive_variance
from steptime.evidence.row_question import RunQuestion, question_of_run
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.formulas.records import PeakWidth
from steptime.inputs.datafiles import data_path, write_whole
from steptime.inputs.precision import precision_named
from steptime.inputs.said import EXACT, KNOWLEDGE

SURE_TO_FIT = 0.9
MEMORY_WIDTHS = "memory_widths.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakMiss:
    """A measured peak beside the one that a user would be told.

    Attributes:
        source: Who measured it: the part of the id before the last dash.
        kind: One of ``KINDS``.
        knowledge: What was known of the software, of ``KNOWLEDGE``.
        excess: Measured / predicted - 1.
    """

    source: str
    kind: str
    knowledge: str
    excess: float


def _excess(found: RunQuestion, row: PublishedRow) -> float:
    """Return measured over predicted less one, of the rank that the source reads."""
    reading = reading_of(found)
    memory = job_memory(found.job, found.software.memory)
    counted = memory.ranks[0] if reading.first_rank else memory.fullest
    return (row.mem_gb or 0.0) * reading.unit_bytes / counted.total_bytes - 1.0


def peak_misses(rows: Iterable[PublishedRow]) -> tuple[PeakMiss, ...]:
    """Return every measured peak with as much known of its software as each level allows.

    Args:
        rows: Published rows; those without ``mem_gb``, and those that cannot be asked, are
            passed over.
    """
    found = []
    for row in rows:
        if row.mem_gb is None:
            continue
        for rung, level in zip(RUNGS.values(), KNOWLEDGE, strict=True):
            asked = rung(row).model_copy(update={"facts": row.facts})
            try:
                question = question_of_run(run_of(asked))
            except Incomplete:
                continue
            software = question.software
            knowledge = EXACT if software.known else software.knowledge
            if knowledge != level:
                continue
            layout = question.run.layout
            narrow = precision_named(layout.precision).fp8
            found.append(
                PeakMiss(
                    source=row.id.rpartition("-")[0],
                    kind=kind_of(question.run.model.experts is not None, narrow),
                    knowledge=level,
                    excess=_excess(question, row),
                )
            )
    return tuple(found)


@functools.cache
def published_peaks() -> tuple[PeakMiss, ...]:
    """Return the measured peaks of ``data/published_runs.csv``."""
    return peak_misses(published_rows())


def peaks_by_source(
    misses: Iterable[PeakMiss], kind: str, knowledge: str, without: str = ""
) -> dict[str, list[float]]:
    """Return what peaks of one kind exceed predicted ones by, by source.

    Args:
        misses: Measured peaks.
        kind: One of ``KINDS``.
        knowledge: One of ``KNOWLEDGE``.
        without: A source that may not be used.
    """
    found: dict[str, list[float]] = {}
    for miss in misses:
        if (miss.kind, miss.knowledge) == (kind, knowledge) and miss.source != without:
            found.setdefault(miss.source, []).append(miss.excess)
    return found


def peak_width(groups: Iterable[Sequence[float]]) -> PeakWidth | None:
    """Return how peaks of a new source lie about predicted ones; None for too few sources.

    Args:
        groups: What measured peaks exceed predicted ones by, a list a source.
    """
    kept = [list(group) for group in groups if len(group) >= FEWEST_RUNS]
    if len(kept) < FEWEST_SOURCES:
        return None
    middle = math.fsum(math.fsum(group) / len(group) for group in kept) / len(kept)
    variance = predictive_variance([[value - middle for value in group] for group in kept])
    # One side of the interval: a tenth lies above, so a tenth below, and eight between.
    reach = quantile(2.0 * SURE_TO_FIT - 1.0, len(kept) - 1) * math.sqrt(variance)
    return PeakWidth(
        middle=middle,
        scale=reach / logit(SURE_TO_FIT),
        runs=sum(map(len, kept)),
        num_sources=len(kept),
    )


def peak_width_of(
    misses: Sequence[PeakMiss], kind: str, knowledge: str, without: str = ""
) -> PeakWidth | None:
    """Return the width of one cell; the wider of its neighbours for too few sources.

    Args:
        misses: Measured peaks.
        kind: One of ``KINDS``.
        knowledge: One of ``KNOWLEDGE``.
        without: A source that may not be used.
    """

    def own(kind: str, knowledge: str) -> PeakWidth | None:
        return peak_width(peaks_by_source(misses, kind, knowledge, without).values())

    return borrowed(kind, knowledge, own, lambda one: float(one.scale))


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakCoverage:
    """How many peaks of sources left out lie below what nine tenths should.

    Attributes:
        kind: Of the runs.
        knowledge: What was known of their software.
        peaks: How many.
        below: Share of them below.
        sources: The same for each source, with how many it has.
    """

    kind: str
    knowledge: str
    peaks: int
    below: float
    sources: tuple[tuple[str, int, float], ...]


def peak_coverage(misses: Sequence[PeakMiss], kind: str, knowledge: str) -> PeakCoverage:
    """Return how many peaks lie below, each source's width made without it.

    Args:
        misses: Measured peaks.
        kind: One of ``KINDS``.
        knowledge: One of ``KNOWLEDGE``.
    """
    sources = []
    for source, values in peaks_by_source(misses, kind, knowledge).items():
        width = peak_width_of(misses, kind, knowledge, without=source)
        if width is not None:
            most = width.middle + width.scale * logit(SURE_TO_FIT)
            sources.append((source, len(values), sum(v <= most for v in values) / len(values)))
    count = sum(number for _, number, _ in sources)
    below = math.fsum(number * share for _, number, share in sources) / max(count, 1)
    return PeakCoverage(
        kind=kind, knowledge=knowledge, peaks=count, below=below, sources=tuple(sources)
    )


def widths_text(misses: Sequence[PeakMiss]) -> str:
    """Return ``data/memory_widths.toml`` as the measured peaks make it.

    Args:
        misses: Measured peaks.
    """
    lines = [
        "# How measured peaks of memory lie about predicted ones: measured / predicted - 1, about",
        "# `middle`, logistic with `scale`; a table for each kind of run and what is known of its",
        "# software. `runs` and `num_sources` are what it rests on. Made from published_runs.csv",
        "# by `python -m steptime.evidence.memory_widths`; a test compares.",
        'source = "fitted: published_runs.csv, the peaks of sources left out"',
    ]
    for kind in KINDS:
        for knowledge in KNOWLEDGE:
            found = peak_width_of(misses, kind, knowledge)
            if found is not None:
                lines += ["", f"[{KEYS[kind]}-{knowledge}]"]
                lines += [f"{name} = {value!r}" for name, value in asdict(found).items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_whole(data_path(MEMORY_WIDTHS), widths_text(published_peaks()))
    for kind_asked in KINDS:
        for level_asked in KNOWLEDGE:
            print(peak_coverage(published_peaks(), kind_asked, level_asked))
