"""How a published row's memory was measured, and what its software keeps."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.evidence.memory_nanotron import gathered_share
from steptime.evidence.row_stack import MEMORY, software_stack, stated_facts, year_of
from steptime.evidence.row_text import precision_of, recomputed, zero_stage
from steptime.evidence.row_words import is_blank, word_of
from steptime.evidence.runs import Incomplete
from steptime.evidence.schema import PublishedRow
from steptime.inputs.assumed import Assumed, not_stated, not_understood
from steptime.inputs.errors import ConfigError
from steptime.inputs.memory_facts import MemoryFacts, memory_facts
from steptime.inputs.stack import memory_stack

GIB = float(2**30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a source measures memory, and what its software keeps.

    Attributes:
        stack: Key of `steptime.inputs.memory_facts.STACKS`.
        facts: The facts themselves.
        first_rank: Whether the number is the first rank's, not the fullest one's.
        unit_bytes: What its GB is.
        inferred: A record of each fact that the row does not state.
    """

    stack: str
    facts: MemoryFacts
    first_rank: bool
    unit_bytes: float
    inferred: tuple[Assumed, ...]


def _memory_stack(row: PublishedRow) -> tuple[str, tuple[Assumed, ...]]:
    """Return what a row's software keeps, as a key of `STACKS`, and what was assumed for it."""
    if not is_blank(row.memory_stack):
        try:
            return memory_stack(row.memory_stack, "bf16"), ()
        except ConfigError as error:
            raise Incomplete(f"memory_stack: {error}") from None
    precision = precision_of(row.precision)[0]
    zero = zero_stage(row.zero)[0]
    name = software_stack(row.software, year_of(row), zero)
    if name:
        return memory_stack(name, precision), ()
    kept = "fsdp" if zero == 3 else "megatron"
    if is_blank(row.software):
        record = not_stated("software", kept)
    else:
        record = not_understood("software", row.software, kept)
    return kept, (record,)


def _held_by_nanotron(row: PublishedRow) -> tuple[dict[str, float], Assumed]:
    """Return what stays of gathered inputs, and its record."""
    kept = gathered_share(row)
    why = f"{kept:.0%} of the gathered inputs stay" if kept else "inputs are gathered again"
    return {"gathered_inputs": kept}, gathered(kept, why)


_HELD = {"nanotron": _held_by_nanotron}
"""What stays beyond need by the software's own timing, by what it keeps."""


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
        how="memory.gathered_inputs=SHARE in column facts",
    )


def _reading_word(column: str, text: str, otherwise: str) -> tuple[str, tuple[Assumed, ...]]:
    word = word_of(column, text)
    if word is not None:
        return word.value, ()
    if is_blank(text):
        return otherwise, ()
    return otherwise, (not_understood(column, text, otherwise),)


def _inferred(row: PublishedRow) -> tuple[Assumed, ...]:
    """Return what `data/run_facts.csv` infers of a row's memory."""
    told = ("mem_unit", "mem_rank", "memory_stack")
    return tuple(
        Assumed(what=fact.fact, value=fact.value, why=f"{fact.value}, {fact.place}")
        for fact in row.taken
        if fact.kind != "read" and (fact.fact in told or fact.fact.startswith(MEMORY))
    )


def reading_of(row: PublishedRow) -> Reading:
    """Return how a row's memory was measured and what its software keeps.

    Args:
        row: The published row.

    Raises:
        Incomplete: If it states facts or a stack that do not exist.
    """
    stack, assumed = _memory_stack(row)
    unit, unknown_unit = _reading_word("mem_unit", row.mem_unit, "GB")
    rank, unknown_rank = _reading_word("mem_rank", row.mem_rank, "fullest")
    inferred = [*assumed, *_inferred(row), *unknown_unit, *unknown_rank]
    changes = {
        fact.removeprefix(MEMORY): value
        for fact, value in recomputed(row.recompute).facts.items()
        if fact.startswith(MEMORY)
    }
    if stack in _HELD:
        held, record = _HELD[stack](row)
        changes |= held
        inferred.append(record)
    return Reading(
        stack=stack,
        facts=memory_facts(stack, **changes | stated_facts(row, memory=True)),
        first_rank=rank == "first",
        unit_bytes=GIB if unit == "GiB" else 1e9,
        inferred=tuple(inferred),
    )
