"""Published memory peaks beside the model's: which stack, which rank, which unit."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from steptime.answer.peak import Memory, RankMemory
from steptime.evidence.memory_reading import Reading, ran_in, shown_bytes
from steptime.evidence.peak_bounds import peak_contradiction
from steptime.evidence.row_question import question_of_run
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import PublishedRow
from steptime.inputs.job import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """One published peak and the model's.

    Attributes:
        id: Of the row.
        run: Its inputs.
        job: The same as numbers, with what is usual with its software.
        reading: How it was measured.
        memory: All ranks, by part.
        counted: The rank that the source reads.
        predicted_gb: In the source's own GB.
        published_gb: As printed.
    """

    id: str
    run: Run
    job: Job
    reading: Reading
    memory: Memory
    counted: RankMemory
    predicted_gb: float
    published_gb: float

    @property
    def error_fraction(self) -> float:
        """Return predicted over published, less one: above zero is too much."""
        return self.predicted_gb / self.published_gb - 1.0


def memory_row(row: PublishedRow) -> MemoryRow:
    """Return the comparison for one row.

    Args:
        row: A row with ``mem_gb``.

    Raises:
        Incomplete: If the row prints no memory, a peak that cannot be, or lacks what the model
            needs.
    """
    if row.mem_gb is None:
        raise Incomplete("mem_gb is not stated")
    found = question_of_run(run_of(row))
    reading, memory = ran_in(found)
    if why := peak_contradiction(found.run):
        raise Incomplete(why)
    counted = memory.ranks[0] if reading.first_rank else memory.fullest
    return MemoryRow(
        id=row.id,
        run=found.run,
        job=found.job,
        reading=reading,
        memory=memory,
        counted=counted,
        predicted_gb=shown_bytes(counted, reading) / reading.unit_bytes,
        published_gb=row.mem_gb,
    )


def memory_rows(
    rows: Iterable[PublishedRow],
) -> tuple[tuple[MemoryRow, ...], tuple[tuple[str, str], ...]]:
    """Return the comparison of every row that prints its memory, and why others were left out.

    Args:
        rows: Published rows; those without ``mem_gb`` are passed over in silence.
    """
    results, skipped = [], []
    for row in rows:
        if row.mem_gb is None:
            continue
        try:
            results.append(memory_row(row))
        except Incomplete as reason:
            skipped.append((row.id, str(reason)))
    return tuple(results), tuple(skipped)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySummary:
    """What the errors of some rows amount to.

    Attributes:
        rows: How many.
        mean_fraction: Mean of their sizes.
        median_fraction: Median of their sizes.
        bias_fraction: Mean with sign: above zero, the model says too much.
        largest_fraction: The largest size.
    """

    rows: int
    mean_fraction: float
    median_fraction: float
    bias_fraction: float
    largest_fraction: float


def memory_summary(rows: Sequence[MemoryRow]) -> MemorySummary | None:
    """Return what errors amount to, None without rows.

    Args:
        rows: Comparisons.
    """
    if not rows:
        return None
    errors = [row.error_fraction for row in rows]
    sizes = [abs(error) for error in errors]
    return MemorySummary(
        rows=len(rows),
        mean_fraction=math.fsum(sizes) / len(sizes),
        median_fraction=statistics.median(sizes),
        bias_fraction=math.fsum(errors) / len(errors),
        largest_fraction=max(sizes),
    )
