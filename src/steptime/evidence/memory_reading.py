"""How a published row's memory was measured, and what its software keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace

from steptime.answer.peak import Memory, RankMemory, job_memory
from steptime.evidence.memory_nanotron import gathered_share
from steptime.evidence.row_question import RunQuestion
from steptime.evidence.schema import PublishedRow
from steptime.formulas.records import MemoryFacts
from steptime.inputs.assumed import Assumed, not_understood
from steptime.inputs.run_words import is_blank, word_of
from steptime.inputs.software import with_facts

GIB = float(2**30)
DEVICE, RESERVED, ALLOCATED = "device", "reserved", "allocated"
CEILING_BYTES = 77.0 * GIB
"""What an 80 GB device shows when full (bigscience2022prequel); the allocator then gives back
what it held beyond need."""
CONTEXT_BYTES = 1e9
"""What a device's context takes, which an allocator does not see: reserve_bytes as usual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a source measures memory, and what its software keeps.

    Attributes:
        stack: Key of ``data/stacks.toml``.
        facts: The facts themselves.
        first_rank: Whether the number is the first rank's, not the fullest one's.
        unit_bytes: What its GB is.
        measures: What its tool reads: ``device``, ``reserved`` or ``allocated``.
        inferred: A record of each fact that the row does not state.
    """

    stack: str
    facts: MemoryFacts
    first_rank: bool
    unit_bytes: float
    measures: str
    inferred: tuple[Assumed, ...]


def _held_by_nanotron(found: RunQuestion) -> tuple[dict[str, float], Assumed]:
    """Return what stays of gathered inputs, and its record."""
    kept = gathered_share(found.run.row)
    why = f"{kept:.0%} of the gathered inputs stay" if kept else "inputs are gathered again"
    return {"gathered_inputs": kept}, gathered(kept, why)


_HELD = {"nanotron": _held_by_nanotron}
"""What stays beyond need by the software's own timing, by its family."""


def gathered(share: float, why: str) -> Assumed:
    """Return the record of the share of gathered inputs that stays.

    Args:
        share: Of them.
        why: In words.
    """
    return Assumed(
        what="gathered_inputs",
        value=f"{share:g}",
        why=why,
        how="gathered_inputs=SHARE in column facts",
    )


def _reading_word(column: str, text: str, otherwise: str) -> tuple[str, tuple[Assumed, ...]]:
    word = word_of(column, text)
    if word is not None:
        return word.value, ()
    if is_blank(text):
        return otherwise, ()
    return otherwise, (not_understood(column, text, otherwise),)


def _inferred(found: RunQuestion) -> tuple[Assumed, ...]:
    """Return what `data/run_facts.csv` infers of a row's memory."""
    kept = ("mem_unit", "mem_rank", "mem_reading", *found.software.lines)
    return tuple(
        Assumed(what=fact.fact, value=fact.value, why=f"{fact.value}, {fact.place}")
        for fact in found.run.row.taken
        if fact.kind != "read" and fact.fact in kept
    )


def read_bytes(rank: RankMemory, measures: str) -> float:
    """Return what a tool reads of a rank.

    Args:
        rank: The rank.
        measures: ``device``, ``reserved`` or ``allocated``.
    """
    reserve = rank.parts_bytes["reserve"]
    unseen = {DEVICE: 0.0, RESERVED: min(CONTEXT_BYTES, reserve), ALLOCATED: reserve}
    return rank.total_bytes - unseen[measures]


def _unit_of(row: PublishedRow) -> tuple[float, tuple[Assumed, ...]]:
    word, unknown = _reading_word("mem_unit", row.mem_unit, "GB")
    return GIB if word == "GiB" else 1e9, unknown


def unit_bytes(row: PublishedRow) -> float:
    """Return what a row's GB is, in bytes.

    Args:
        row: A row with ``mem_gb``.
    """
    return _unit_of(row)[0]


def reading_of(found: RunQuestion) -> Reading:
    """Return how a row's memory was measured and what its software keeps.

    Args:
        found: The row's question.
    """
    row, kept = found.run.row, found.software
    unit, unknown_unit = _unit_of(row)
    rank, unknown_rank = _reading_word("mem_rank", row.mem_rank, "fullest")
    measures, unknown = _reading_word("mem_reading", row.mem_reading, DEVICE)
    inferred = [*kept.assumed, *_inferred(found), *unknown_unit, *unknown_rank, *unknown]
    if kept.stack.family in _HELD:
        held, record = _HELD[kept.stack.family](found)
        kept = with_facts(kept, held)
        inferred.append(record)
    return Reading(
        stack=kept.stack.name,
        facts=kept.memory,
        first_rank=rank == "first",
        unit_bytes=unit,
        measures=measures,
        inferred=tuple(inferred),
    )


def shown_bytes(rank: RankMemory, reading: Reading) -> float:
    """Return what the source's tool would show: never more than a device has, if that is enough.

    Args:
        rank: The rank it reads.
        reading: How it reads.
    """
    parts, read = rank.parts_bytes, read_bytes(rank, reading.measures)
    loose = reading.facts.fragmentation * (
        parts["activations"] + parts["logits"] + parts["buffers"]
    )
    return float(min(read, max(read - loose, CEILING_BYTES)))


def ran_in(found: RunQuestion) -> tuple[Reading, Memory]:
    """Return how a run's memory is read, and the memory.

    A run that would not fit with gathered inputs that stay is taken to have gathered them again.

    Args:
        found: A published run's question: it ran, so it fits.
    """
    reading = reading_of(found)
    memory = job_memory(found.job, reading.facts, found.assumed)
    if reading.facts.gathered_inputs and memory.total_bytes > CEILING_BYTES:
        facts = replace(reading.facts, gathered_inputs=0.0)
        others = (one for one in reading.inferred if one.what != "gathered_inputs")
        why = "inputs are gathered again: it would not fit else"
        inferred = (*others, gathered(0.0, why))
        reading = replace(reading, facts=facts, inferred=inferred)
        memory = job_memory(found.job, facts, found.assumed)
    return reading, memory
