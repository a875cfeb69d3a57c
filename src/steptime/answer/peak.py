"""What one training step needs in memory: every rank by part, and whether it fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steptime.formulas.judgement import TIGHT, fit_outlook, fit_verdict
from steptime.formulas.memory import activation_parts, memory_bytes, rank_memory_bytes
from steptime.formulas.memory.total import PARTS
from steptime.formulas.records import ActivationParts, MemoryFacts, MemoryParts
from steptime.inputs.assumed import Assumed
from steptime.inputs.job import Job
from steptime.inputs.kept import kept
from steptime.inputs.shown import Row, Shown

MOST_RANKS = 4096
OUTLOOKS = ("does not fit", "likely does not fit", "fits tightly", "fits")
"""Words of `fit_outlook`, by its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankMemory:
    """What one pipeline rank holds; every rank of its tensor and data group holds the same.

    Attributes:
        rank: Pipeline rank, 0 is the first.
        num_layers: Layers on it.
        parameters: Parameters on it, before ZeRO divides them.
        in_flight: Micro-batches whose activations it holds at its peak.
        parts_bytes: Bytes by part, in the order of ``PARTS``.
        total_bytes: Their sum.
    """

    rank: int
    num_layers: float
    parameters: float
    in_flight: float
    parts_bytes: dict[str, float]
    total_bytes: float


@dataclass(frozen=True, kw_only=True)
class Memory(Shown):
    """The memory of a training step, against what a device has.

    Attributes:
        fullest: The rank that needs the most.
        ranks: Every pipeline rank, first to last.
        activations_bytes: The fullest rank's activations by what leaves them.
        limit_bytes: Memory that the device reports; what its data sheet prints where unknown.
        facts: What was taken for the software.
        assumed: What was not given, and what was taken for it.
        fit_probability: The chance that the measured peak fits; None where too few are known.
    """

    fullest: RankMemory
    ranks: tuple[RankMemory, ...]
    activations_bytes: ActivationParts
    limit_bytes: float
    facts: MemoryFacts
    assumed: tuple[Assumed, ...]
    fit_probability: float | None = None

    @property
    def total_bytes(self) -> float:
        """Return the bytes on the fullest rank."""
        return self.fullest.total_bytes

    @kept
    def verdict(self) -> float:
        """Return what `steptime.formulas.judgement.fit_verdict` says of the fullest rank."""
        return float(fit_verdict(self.total_bytes, self.limit_bytes))

    @property
    def fits(self) -> bool:
        """Return whether the fullest rank fits."""
        return self.verdict >= TIGHT

    @property
    def tight(self) -> bool:
        """Return whether it fits with under a tenth to spare."""
        return self.verdict == TIGHT

    @property
    def outlook(self) -> str:
        """Return how the fit is worded, of ``OUTLOOKS``: what was counted and how sure that is."""
        chance = 1.0 if self.fit_probability is None else self.fit_probability
        return OUTLOOKS[int(fit_outlook(self.total_bytes, self.limit_bytes, chance))]

    @property
    def reason(self) -> str:
        """Return one sentence: what decides."""
        name, largest = max(self.fullest.parts_bytes.items(), key=lambda part: part[1])
        needed, limit = self.total_bytes / 1e9, self.limit_bytes / 1e9
        return (
            f"{self.outlook}: {needed:.1f} of {limit:.1f} GB on pipeline rank {self.fullest.rank}, "
            f"most of it {name} ({largest / 1e9:.1f} GB)"
        )

    def title(self) -> str:
        """Return what decides."""
        return self.reason

    def records(self) -> list[Row]:
        """Return every pipeline rank with its bytes by part."""
        return [
            {"rank": one.rank, "num_layers": one.num_layers, "in_flight": one.in_flight}
            | {f"{part.replace(' ', '_')}_bytes": size for part, size in one.parts_bytes.items()}
            | {"total_bytes": one.total_bytes}
            for one in self.ranks
        ]

    def _draw(self, axes: Any) -> None:
        names = [str(one.rank) for one in self.ranks]
        below = [0.0] * len(names)
        for part in self.fullest.parts_bytes:
            sizes = [one.parts_bytes[part] / 1e9 for one in self.ranks]
            axes.bar(names, sizes, bottom=below, label=part)
            below = [low + size for low, size in zip(below, sizes, strict=True)]
        axes.axhline(self.limit_bytes / 1e9, color="black", linestyle="--", label="device")
        axes.set_xlabel("pipeline rank")
        axes.set_ylabel("memory (GB)")
        axes.legend()


def rank_memory(parts: MemoryParts) -> RankMemory:
    """Return a rank's memory from the formula's record.

    Args:
        parts: From `steptime.formulas.memory.rank_memory_bytes`.
    """
    by_name: Mapping[str, Any] = parts
    return RankMemory(
        rank=int(parts["rank"]),
        num_layers=float(parts["num_layers"]),
        parameters=float(parts["parameters"]),
        in_flight=float(parts["in_flight"]),
        parts_bytes={name: float(by_name[name]) for name in PARTS},
        total_bytes=float(parts["total"]),
    )


def job_memory(
    record: Job,
    facts: MemoryFacts,
    assumed: tuple[Assumed, ...] = (),
    fit_probability: float | None = None,
) -> Memory:
    """Return the memory of a flat record.

    Args:
        record: The training step as numbers.
        facts: What the software keeps.
        assumed: What was not given.
        fit_probability: The chance that it fits.
    """
    stages = int(record.pp)
    shown = range(stages) if stages <= MOST_RANKS else (0, 1, stages - 1)
    fullest = memory_bytes(record, facts)
    return Memory(
        fullest=rank_memory(fullest),
        ranks=tuple(rank_memory(rank_memory_bytes(record, facts, float(rank))) for rank in shown),
        activations_bytes=activation_parts(record, facts, fullest["rank"]),
        limit_bytes=float(record.hbm_bytes),
        facts=facts,
        assumed=assumed,
        fit_probability=fit_probability,
    )
