"""§18: the memory model against measured peaks, and what each of its terms buys."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from steptime.answer.peak import rank_memory
from steptime.evidence.memory_reading import shown_bytes
from steptime.evidence.memory_rows import (
    MemoryRow,
    MemorySummary,
    memory_row,
    memory_rows,
    memory_summary,
)
from steptime.evidence.nanotron_sweep import nanotron_sweep
from steptime.evidence.schema import published_rows
from steptime.formulas.memory import memory_bytes, rank_memory_bytes
from steptime.formulas.records import MemoryFacts

NEAR = 0.06
BLOOM, NANOTRON = "bloom", "nanotron-playbook"
"""Software of the two sources that print peaks, as ``data/stacks.toml`` calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows of one source and kind.

    Attributes:
        name: Shown in tables.
        rows: The comparisons.
        summary: Their errors.
        plain: The same with what the rows do not state left at zero.
        floor: Median distance of runs that should need the same memory from their middle.
    """

    name: str
    rows: tuple[MemoryRow, ...]
    summary: MemorySummary
    plain: float
    floor: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStudy:
    """The memory model on every measured peak.

    Attributes:
        published: Rows of the table of published runs.
        sweep: Rows of the sweep.
        groups: Both, by source and width.
    """

    published: tuple[MemoryRow, ...]
    sweep: tuple[MemoryRow, ...]
    groups: tuple[Group, ...]

    def group(self, name: str) -> Group:
        """Return a group by its name.

        Args:
            name: As in tables.
        """
        return next(group for group in self.groups if group.name == name)


def plain_facts(facts: MemoryFacts) -> MemoryFacts:
    """Return facts without those that no source states: what was set after seeing errors.

    These are the allocator's share, gathered inputs that stay, DeepSpeed's flat copy of 16-bit
    gradients, nanotron's constant, and what communicators take beside the device's stated
    1,573 MiB.

    Args:
        facts: Of a stack.
    """
    copied = facts.stage_outputs > 0.0
    return replace(
        facts,
        fragmentation=0.0,
        gathered_inputs=0.0,
        extra_gradient_bytes=facts.extra_gradient_bytes - (2.0 if copied else 0.0),
        reserve_bytes=min(facts.reserve_bytes, 1573.0 * 2**20) if copied else 0.0,
    )


def predicted_gb(row: MemoryRow, facts: MemoryFacts) -> float:
    """Return the memory of a row's rank under other facts, in the source's GB.

    Args:
        row: The comparison.
        facts: What the software is taken to keep.
    """
    record = row.job
    found = (
        rank_memory_bytes(record, facts, 0.0)
        if row.reading.first_rank
        else memory_bytes(record, facts)
    )
    reading = replace(row.reading, facts=facts)
    return shown_bytes(rank_memory(found), reading) / reading.unit_bytes


def mean_error(rows: Sequence[MemoryRow], change: Callable[[MemoryFacts], MemoryFacts]) -> float:
    """Return the mean size of the errors with the facts changed.

    Args:
        rows: Comparisons.
        change: From a stack's facts to others.
    """
    return statistics.fmean(
        abs(predicted_gb(row, change(row.reading.facts)) / row.published_gb - 1.0) for row in rows
    )


def _held_alike(row: MemoryRow) -> tuple[object, ...]:
    layout, batch = row.run.layout, row.run.batch
    sizes = (layout.tp, layout.pp, batch.micro_batch_size, batch.seq_length)
    return (row.run.model.num_layers, row.run.model.hidden_size, *sizes, row.counted.in_flight)


def floor_error(rows: Iterable[MemoryRow]) -> float | None:
    """Return how far apart runs are that differ in data parallelism alone.

    States that data parallelism shards are taken off as the model has them; the rest should
    be equal. None where no two rows are alike.

    Args:
        rows: Comparisons.
    """
    alike: dict[tuple[object, ...], list[MemoryRow]] = {}
    for row in rows:
        alike.setdefault(_held_alike(row), []).append(row)
    distances = []
    for group in alike.values():
        if len(group) < 2:
            continue
        ratios = [row.published_gb / row.predicted_gb for row in group]
        middle = statistics.median(ratios)
        distances += [abs(ratio / middle - 1.0) for ratio in ratios]
    return statistics.fmean(distances) if distances else None


def group_of(name: str, rows: Iterable[MemoryRow]) -> Group:
    """Return a group with its summaries.

    Args:
        name: Shown in tables.
        rows: The comparisons; at least one.
    """
    known = tuple(rows)
    summary = memory_summary(known)
    if summary is None:
        raise ValueError(f"no rows in {name}")
    return Group(
        name=name,
        rows=known,
        summary=summary,
        plain=mean_error(known, plain_facts),
        floor=floor_error(known),
    )


def memory_study(most_sweep_rows: int) -> MemoryStudy:
    """Return the memory model on every measured peak.

    Args:
        most_sweep_rows: Rows of the sweep to take, evenly spread.
    """
    published, _ = memory_rows(published_rows())
    rows = nanotron_sweep()
    step = max(1, -(-len(rows) // most_sweep_rows))
    sweep = tuple(memory_row(row) for row in rows[::step])
    bloom = [row for row in published if row.reading.stack == BLOOM]
    best = [row for row in published if row.reading.stack == NANOTRON]
    groups = [
        group_of("BLOOM rehearsals", bloom),
        group_of("nanotron, t ≤ 8", (row for row in best if row.run.layout.tp <= 8)),
        group_of("nanotron, t > 8", (row for row in best if row.run.layout.tp > 8)),
        group_of("sweep, t = 1", (row for row in sweep if row.run.layout.tp == 1)),
        group_of("sweep, t = 2 to 8", (row for row in sweep if 1 < row.run.layout.tp <= 8)),
        group_of("sweep, t > 8", (row for row in sweep if row.run.layout.tp > 8)),
    ]
    return MemoryStudy(published=published, sweep=sweep, groups=tuple(groups))


def cause(row: MemoryRow, others: Sequence[MemoryRow]) -> str:
    """Return the most likely cause of a miss, from what the rows themselves show.

    Args:
        row: The comparison.
        others: All rows of its source.
    """
    twins = [
        other.published_gb
        for other in others
        if other.run.layout == row.run.layout
        and other.run.batch == row.run.batch
        and other.run.model.num_layers == row.run.model.num_layers
        and other.run.model.num_attention_heads == row.run.model.num_attention_heads
    ]
    if max(twins) / min(twins) > 1.0 + NEAR:
        return f"measured more than once: {min(twins):g} to {max(twins):g} GB"
    if row.predicted_gb * row.reading.unit_bytes > 85e9:
        return "more than the device has: it ran with less held loosely"
    facts = row.reading.facts
    for share, text in ((1.0, "as if gathered inputs stayed"), (0.0, "as if none stayed")):
        if row.run.layout.tp > 1 and row.reading.stack == NANOTRON:
            again = predicted_gb(row, replace(facts, gathered_inputs=share))
            if abs(again / row.published_gb - 1.0) < NEAR:
                return text
    if row.reading.stack == BLOOM and row.error_fraction > 0.0:
        return "nvidia-smi read once in the second iteration: it can miss the peak"
    loose = predicted_gb(row, plain_facts(facts))
    if loose < row.published_gb < row.predicted_gb:
        return "the allocator held less beyond need than assumed"
    if row.error_fraction < 0.0:
        return "the allocator held more beyond need than assumed"
    return "below what the parts add up to: not explained"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """What one term of the model buys.

    Attributes:
        name: The term taken out.
        bloom: Mean error on the BLOOM rows without it.
        nanotron: Mean error on the sweep's rows with t ≤ 8 without it.
    """

    name: str
    bloom: float
    nanotron: float


ABLATIONS: tuple[tuple[str, dict[str, float]], ...] = (
    ("nothing", {}),
    ("logits", {"logit_bytes": 0.0}),
    ("the second copy of the gradients", {"extra_gradient_bytes": 0.0}),
    ("32-bit gradients for the optimizer's shard", {"update_bytes": 0.0}),
    ("a flat copy to exchange", {"exchange_bytes": 0.0}),
    ("cutting stages by cost", {"balance_by_cost": 0.0, "first_stage_extra": 0.0}),
    ("whole sequences for a moment", {"whole_sequences": 0.0}),
    ("outputs that a stage has sent", {"stage_outputs": 0.0}),
    ("gathered inputs that stay", {"gathered_inputs": 0.0}),
    ("what the allocator holds beyond need", {"fragmentation": 0.0}),
    ("device context and communicators", {"reserve_bytes": 0.0}),
)


def ablations(study: MemoryStudy) -> list[Ablation]:
    """Return the mean errors with one term at a time taken out.

    Args:
        study: The comparisons.
    """
    bloom = study.group("BLOOM rehearsals").rows
    narrow = [row for row in study.sweep if row.run.layout.tp <= 8]

    def without(changes: dict[str, float]) -> Callable[[MemoryFacts], MemoryFacts]:
        return lambda facts: replace(facts, **changes)

    return [
        Ablation(
            name=name,
            bloom=mean_error(bloom, without(changes)),
            nanotron=mean_error(narrow, without(changes)),
        )
        for name, changes in ABLATIONS
    ]
