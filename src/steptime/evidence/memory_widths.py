"""How sure a predicted peak of memory is: from the peaks of sources that were left out.

The memory model has no constant fitted to a source's rows, so to leave a source out is to drop
its facts, as the rungs of `steptime.evidence.ladder` do, and its rows from the width. Measured
over predicted, less one, varies between sources and within them as errors in time do
(`steptime.evidence.intervals`); a logistic distribution with the same nine tenths stands for it,
for its chances need no more than the exponential function. What a row states in column ``facts``
stays on every rung: how its peak was read, and what it was told to keep elsewhere. This form was
chosen before any width was made with it.

A run as its source tells it counts as exactly known where it names a stack, and where columns and
facts describe what it ran. Whether scores are stored is asked as told on every rung: it is no
error but a fact, which doubles a peak of its day, and flash kernels have been usual since 2023.
The answer lists it among what is left open. The sum is the same for dense models, for experts
and for products in 8 bits, so there is one width for them all.

Run as a module it writes ``data/memory_widths.toml`` and prints how often nine tenths hold.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from steptime.answer.peak import job_memory
from steptime.answer.width import logit
from steptime.evidence.intervals import FEWEST_SOURCES, quantile
from steptime.evidence.ladder import RUNGS
from steptime.evidence.memory_reading import read_bytes, reading_of
from steptime.evidence.peak_bounds import contradicts_its_peak
from steptime.evidence.pooling import FEWEST_RUNS, predictive_variance
from steptime.evidence.row_question import RunQuestion, question_of_run
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.formulas.judgement import SURE_CHANCE
from steptime.formulas.records import PeakWidth
from steptime.inputs.datafiles import data_path, write_whole
from steptime.inputs.said import FAMILY, KNOWLEDGE, NOTHING
from steptime.inputs.stack import KERNEL

SURE_TO_FIT = SURE_CHANCE
MEMORY_WIDTHS = "memory_widths.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakMiss:
    """A measured peak beside the one that a user would be told.

    Attributes:
        source: Who measured it: the part of the id before the last dash.
        knowledge: What was known of the software, of ``KNOWLEDGE``.
        excess: Measured / predicted - 1.
    """

    source: str
    knowledge: str
    excess: float


def _excess(found: RunQuestion, row: PublishedRow) -> float:
    """Return measured over predicted less one, of the rank that the source reads."""
    reading = reading_of(found)
    memory = job_memory(found.job, found.software.memory)
    counted = memory.ranks[0] if reading.first_rank else memory.fullest
    told = read_bytes(counted, reading.measures)
    return (row.mem_gb or 0.0) * reading.unit_bytes / told - 1.0


def _asked(row: PublishedRow, rung: Callable[[PublishedRow], PublishedRow]) -> PublishedRow:
    """Return a row as a rung asks it, with the facts of its cell and its kernel as told."""
    told = question_of_run(run_of(row)).software
    kept = {"facts": row.facts, "attention_kernel": str(told.lines[KERNEL].value)}
    return rung(row).model_copy(update=kept)


def peak_misses(rows: Iterable[PublishedRow]) -> tuple[PeakMiss, ...]:
    """Return every measured peak with as much known of its software as each level allows.

    Args:
        rows: Published rows; those without ``mem_gb``, those whose peak cannot be, and those that
            cannot be asked, are passed over.
    """
    found = []
    for row in rows:
        if row.mem_gb is None or contradicts_its_peak(row):
            continue
        for rung, level in zip(RUNGS.values(), KNOWLEDGE, strict=True):
            try:
                asked = _asked(row, rung)
                question = question_of_run(run_of(asked))
                excess = _excess(question, row)
            except Incomplete:
                continue
            if level == FAMILY and question.software.knowledge == NOTHING:
                continue
            source = row.id.rpartition("-")[0]
            found.append(PeakMiss(source=source, knowledge=level, excess=excess))
    return tuple(found)


@functools.cache
def published_peaks() -> tuple[PeakMiss, ...]:
    """Return the measured peaks of ``data/published_runs.csv``."""
    return peak_misses(published_rows())


def peaks_by_source(
    misses: Iterable[PeakMiss], knowledge: str, without: str = ""
) -> dict[str, list[float]]:
    """Return what peaks exceed predicted ones by, by source.

    Args:
        misses: Measured peaks.
        knowledge: One of ``KNOWLEDGE``.
        without: A source that may not be used.
    """
    found: dict[str, list[float]] = {}
    for miss in misses:
        if miss.knowledge == knowledge and miss.source != without:
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
    misses: Sequence[PeakMiss], knowledge: str, without: str = ""
) -> PeakWidth | None:
    """Return the width of one level; None for too few sources.

    Args:
        misses: Measured peaks.
        knowledge: One of ``KNOWLEDGE``.
        without: A source that may not be used.
    """
    return peak_width(peaks_by_source(misses, knowledge, without).values())


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakCoverage:
    """How many peaks of sources left out lie below what nine tenths should.

    Attributes:
        knowledge: What was known of their software.
        peaks: How many.
        below: Share of them below.
        alike: The same share, every source with a say of its own weighing the same.
        sources: The share of each source, with how many it has.
        width: Of all sources together.
    """

    knowledge: str
    peaks: int
    below: float
    alike: float
    sources: tuple[tuple[str, int, float], ...]
    width: PeakWidth | None

    @property
    def scales(self) -> float:
        """Return how many scales lie below nine tenths."""
        return logit(SURE_TO_FIT)


def peak_coverage(misses: Sequence[PeakMiss], knowledge: str) -> PeakCoverage:
    """Return how many peaks lie below, each source's width made without it.

    Args:
        misses: Measured peaks.
        knowledge: One of ``KNOWLEDGE``.
    """
    sources = []
    for source, values in peaks_by_source(misses, knowledge).items():
        width = peak_width_of(misses, knowledge, without=source)
        if width is not None:
            most = float(width.middle + width.scale * logit(SURE_TO_FIT))
            sources.append((source, len(values), sum(v <= most for v in values) / len(values)))
    count = sum(number for _, number, _ in sources)
    own = [share for _, number, share in sources if number >= FEWEST_RUNS]
    return PeakCoverage(
        knowledge=knowledge,
        peaks=count,
        below=math.fsum(number * share for _, number, share in sources) / max(count, 1),
        alike=math.fsum(own) / max(len(own), 1),
        sources=tuple(sources),
        width=peak_width_of(misses, knowledge),
    )


def published_coverage() -> tuple[PeakCoverage, ...]:
    """Return the coverage of every level over the published peaks."""
    return tuple(peak_coverage(published_peaks(), level) for level in KNOWLEDGE)


def widths_text(misses: Sequence[PeakMiss]) -> str:
    """Return ``data/memory_widths.toml`` as the measured peaks make it.

    Args:
        misses: Measured peaks.
    """
    lines = [
        "# How measured peaks of memory lie about predicted ones: measured / predicted - 1, about",
        "# `middle`, logistic with `scale`; a table for what is known of the software. `runs` and",
        "# `num_sources` are what it rests on. Made from published_runs.csv by",
        "# `python -m steptime.evidence.memory_widths`; a test compares.",
        'source = "fitted: published_runs.csv, the peaks of sources left out"',
    ]
    for knowledge in KNOWLEDGE:
        found = peak_width_of(misses, knowledge)
        if found is not None:
            lines += ["", f"[{knowledge}]"]
            lines += [f"{name} = {value!r}" for name, value in asdict(found).items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_whole(data_path(MEMORY_WIDTHS), widths_text(published_peaks()))
    print(*published_coverage(), sep="\n")
