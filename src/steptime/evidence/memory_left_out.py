"""nanotron's inferred numbers, set without the model that they are then used on."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from steptime.evidence.memory_rows import GIB, MemoryRow
from steptime.formulas.memory import rank_memory_bytes

FILLING = (0.1, 0.12, 0.15, 0.18, 0.2)
TURNS = (0.2, 0.25, 0.3, 0.35)
ALONE = (0.15, 0.2, 0.25, 0.3)
GATHERED = (0.0, 0.3, 0.5, 0.7, 0.85, 1.0)

Setting = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One model, predicted with numbers set on the others.

    Attributes:
        model: Its name.
        setting: Share held beyond need while filling, in turns, without a pipeline; share of
            gathered inputs that stays without a pipeline.
        errors: Predicted over measured, less one, a row each.
    """

    model: str
    setting: Setting
    errors: tuple[float, ...]

    @property
    def mean_fraction(self) -> float:
        """Return the mean size of the errors."""
        return statistics.fmean(abs(error) for error in self.errors)

    @property
    def median_fraction(self) -> float:
        """Return the median size of the errors."""
        return statistics.median(abs(error) for error in self.errors)


@dataclass(frozen=True, slots=True)
class _Terms:
    """What a row's peak is made of: fixed states, what moves, and more if inputs stay."""

    states: float
    moving: float
    gathered: float
    kind: int
    published: float

    def error(self, setting: Setting) -> float:
        """Return predicted over measured, less one."""
        moving = self.moving + (setting[3] * self.gathered if self.kind == 2 else 0.0)
        return (self.states + moving * (1.0 + setting[self.kind])) / self.published - 1.0


def _terms(row: MemoryRow) -> _Terms:
    record = row.run.job()
    facts = replace(row.reading.facts, fragmentation=0.0, gathered_inputs=0.0)
    bare = rank_memory_bytes(record, facts, 0.0)
    full = rank_memory_bytes(record, replace(facts, gathered_inputs=1.0), 0.0)
    states = bare["weights"] + bare["gradients"] + bare["optimizer"]
    filling = record.tp == 1.0 or row.run.row.num_microbatches <= record.pp
    return _Terms(
        states=states / GIB,
        moving=(bare["total"] - states) / GIB,
        gathered=(full["total"] - bare["total"]) / GIB,
        kind=0 if filling else 2 if record.pp == 1.0 else 1,
        published=row.published_gb,
    )


def left_out(rows: Sequence[MemoryRow]) -> list[LeftOut]:
    """Return each model's errors with the four numbers set on the other models.

    Args:
        rows: Rows of the sweep; those with t ≤ 8 are used.
    """
    by_model: dict[str, list[_Terms]] = {}
    for row in rows:
        if row.run.layout.tp <= 8:
            by_model.setdefault(row.run.model.name, []).append(_terms(row))
    settings = list(product(FILLING, TURNS, ALONE, GATHERED))
    sums = {
        name: [sum(abs(term.error(setting)) for term in terms) for setting in settings]
        for name, terms in by_model.items()
    }
    found = []
    for name, terms in by_model.items():
        others = [
            sum(sums[other][at] for other in by_model if other != name)
            for at in range(len(settings))
        ]
        best = settings[others.index(min(others))]
        errors = tuple(term.error(best) for term in terms)
        found.append(LeftOut(model=name, setting=best, errors=errors))
    return found
