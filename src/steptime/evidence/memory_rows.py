"""Published memory peaks beside the model's: which stack, which rank, which unit."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from steptime.evidence.memory import Memory, RankMemory, job_memory
from steptime.evidence.memory_bridge import bridge_changes
from steptime.evidence.memory_nanotron import gathered_share
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import PublishedRow
from steptime.inputs.memory_facts import MemoryFacts, memory_facts

GIB = float(2**30)
CEILING_BYTES = 77.0 * GIB
"""What an 80 GB device shows when full (bigscience2022prequel); the allocator then gives back
what it held beyond need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a source measures memory, and what its software keeps.

    Attributes:
        stack: Key of `steptime.inputs.memory_facts.STACKS`.
        facts: The facts themselves.
        first_rank: Whether the number is the first rank's, not the fullest one's.
        unit_bytes: What its GB is.
        inferred: A sentence for each fact that the row does not state.
    """

    stack: str
    facts: MemoryFacts
    first_rank: bool
    unit_bytes: float
    inferred: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """One published peak and the model's.

    Attributes:
        id: Of the row.
        run: Its inputs.
        reading: How it was measured.
        memory: All ranks, by part.
        counted: The rank that the source reads.
        predicted_gb: In the source's own GB.
        published_gb: As printed.
    """

    id: str
    run: Run
    reading: Reading
    memory: Memory
    counted: RankMemory
    predicted_gb: float
    published_gb: float

    @property
    def error_fraction(self) -> float:
        """Return predicted over published, less one: above zero is too much."""
        return self.predicted_gb / self.published_gb - 1.0


def _text(row: PublishedRow) -> str:
    return " ".join((row.id, row.source, row.url_or_path, row.location)).lower()


def _of_2021(row: PublishedRow) -> bool:
    keys = ("narayanan2021", "nar21", "kor", "mtnlg", "smith2022")
    return any(key in _text(row) for key in keys)


def _bigscience(row: PublishedRow) -> Reading:
    """BLOOM's rehearsals: nvidia-smi on the fullest node, Megatron-DeepSpeed with ZeRO-1."""
    wide = "fp32 gradient" in row.notes.lower() or row.precision.lower() == "bf16"
    stack = "deepspeed-bf16" if wide else "deepspeed-fp16"
    facts = memory_facts(stack)
    inferred = ["GB of nvidia-smi are 2**30 bytes", "a flat copy of the 16-bit gradients"]
    if "embeddings count" in row.notes.lower():
        facts = replace(facts, embedding_slots=1.0, head_slots=1.0)
    if not wide:
        inferred.append("gradients added up in 16 bits")
    return Reading(
        stack=stack,
        facts=facts,
        first_rank=False,
        unit_bytes=GIB,
        inferred=tuple(inferred),
    )


def _nanotron(row: PublishedRow) -> Reading:
    """nanotron: the first rank's allocator, in 2**30 bytes."""
    kept = gathered_share(row)
    facts = memory_facts("nanotron", gathered_inputs=kept)
    how = f"{kept:.0%} of the gathered inputs stay" if kept else "inputs are gathered again"
    return Reading(
        stack="nanotron",
        facts=facts,
        first_rank=True,
        unit_bytes=GIB,
        inferred=(
            "the reading is the allocator's peak on the first rank, in 2**30 bytes",
            f"{how}, the allocator holds {facts.fragmentation:.0%} more",
        ),
    )


def reading_of(row: PublishedRow) -> Reading:
    """Return how a row's memory was measured and what its software keeps.

    Args:
        row: The published row.
    """
    text = _text(row)
    if "bigscience" in text or "bloom" in text:
        return _bigscience(row)
    if "nanotron" in text or "tazi2025" in text or "playbook" in text:
        return _nanotron(row)
    sharded = "fsdp" in row.zero.lower() or row.zero.strip() == "3"
    changes: dict[str, float] = {}
    inferred: tuple[str, ...] = ()
    if "mbridge" in text or "megatronbridge" in text:
        stack = "megatron-bridge-fsdp" if sharded else "megatron-bridge"
        changes, inferred = bridge_changes(row)
    else:
        wide = "llm-foundry" if "foundry" in text else "fsdp"
        stack = "megatron-2021" if _of_2021(row) else wide if sharded else "megatron"
        inferred = (f"software: not known, {stack} assumed",)
    return Reading(
        stack=stack,
        facts=memory_facts(stack, **changes),
        first_rank=False,
        unit_bytes=1e9,
        inferred=inferred,
    )


def with_sequence_parallel(run: Run) -> Run:
    """Return the run with sequence parallelism on where its row does not say and t > 1.

    Args:
        run: A published run.
    """
    if run.row.sp is not None or run.layout.tp == 1:
        return run
    layout = replace(run.layout, sequence_parallel=True)
    assumed = (*run.assumed, "sp: not stated, on assumed")
    return replace(run, layout=layout, assumed=assumed)


def with_recomputation(run: Run) -> Run:
    """Return the run with full recomputation where its row does not say and its era implies it.

    Scores were stored then, and Megatron-LM knew no other kind: without it these runs would need
    more than their devices had (smith2022, narayanan2021: MT-NLG and the ZeRO-3 rows).

    Args:
        run: A published run.
    """
    stated = run.row.recompute.strip() or not _of_2021(run.row)
    if stated:
        return run
    assumed = (*run.assumed, "recompute: not stated, full assumed, as was usual in 2021")
    return replace(run, layout=replace(run.layout, recompute="full"), assumed=assumed)


def shown_bytes(rank: RankMemory, reading: Reading) -> float:
    """Return what the source's tool would show: never more than a device has, if that is enough.

    Args:
        rank: The rank it reads.
        reading: How it reads.
    """
    parts = rank.parts_bytes
    loose = reading.facts.fragmentation * (
        parts["activations"] + parts["logits"] + parts["buffers"]
    )
    return min(rank.total_bytes, max(rank.total_bytes - loose, CEILING_BYTES))


def ran_in(run: Run) -> tuple[Reading, Memory]:
    """Return how a run's memory is read, and the memory.

    A run that would not fit with gathered inputs that stay is taken to have gathered them again.

    Args:
        run: A published run: it ran, so it fits.
    """
    reading = reading_of(run.row)
    memory = job_memory(run.job(), reading.facts, run.assumed)
    if reading.facts.gathered_inputs and memory.total_bytes > CEILING_BYTES:
        facts = replace(reading.facts, gathered_inputs=0.0)
        inferred = (*reading.inferred[:-1], "inputs are gathered again: it would not fit else")
        reading = replace(reading, facts=facts, inferred=inferred)
        memory = job_memory(run.job(), facts, run.assumed)
    return reading, memory


def memory_row(row: PublishedRow) -> MemoryRow:
    """Return the comparison for one row.

    Args:
        row: A row with ``mem_gb``.

    Raises:
        Incomplete: If the row prints no memory, or lacks what the model needs.
    """
    if row.mem_gb is None:
        raise Incomplete("mem_gb is not stated")
    run = with_recomputation(with_sequence_parallel(run_of(row)))
    reading, memory = ran_in(run)
    counted = memory.ranks[0] if reading.first_rank else memory.fullest
    return MemoryRow(
        id=row.id,
        run=run,
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
