"""nanotron's inferred numbers, set without the model that they are then used on."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from steptime.evidence.memory_nanotron import SHOWN
from steptime.evidence.memory_reading import GIB
from steptime.evidence.memory_rows import MemoryRow
from steptime.formulas.memory import rank_memory_bytes

LOOSE = (0.1, 0.12, 0.14, 0.15, 0.16, 0.18, 0.2)
SHARES = (0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0)

Setting = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One model, predicted with numbers set on the others.

    Attributes:
        model: Its name.
        setting: Share held beyond need; share that shows of gathered inputs that stay.
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
    published: float

    def error(self, setting: Setting) -> float:
        """Return predicted over measured, less one."""
        loose, share = setting
        moving = self.moving + share / SHOWN * self.gathered
        return (self.states + moving * (1.0 + loose)) / self.published - 1.0


def _terms(row: MemoryRow) -> _Terms:
    record = row.job
    facts = replace(row.reading.facts, fragmentation=0.0)
    kept = rank_memory_bytes(record, facts, 0.0)
    bare = rank_memory_bytes(record, replace(facts, gathered_inputs=0.0), 0.0)
    states = bare["weights"] + bare["gradients"] + bare["optimizer"] + bare["reserve"]
    return _Terms(
        states=float(states) / GIB,
        moving=float(bare["total"] - states) / GIB,
        gathered=float(kept["total"] - bare["total"]) / GIB,
        published=row.published_gb,
    )


def left_out(rows: Sequence[MemoryRow]) -> list[LeftOut]:
    """Return each model's errors with the two numbers set on the other models.

    Args:
        rows: Rows of the sweep; those with t ≤ 8 are used.
    """
    by_model: dict[str, list[_Terms]] = {}
    for row in rows:
        if row.run.layout.tp <= 8:
            by_model.setdefault(row.run.model.name, []).append(_terms(row))
    settings = list(product(LOOSE, SHARES))
    sums = {
        name: [math.fsum(abs(term.error(setting)) for term in terms) for setting in settings]
        for name, terms in by_model.items()
    }
    found = []
    for name, terms in by_model.items():
        others = [
            math.fsum(sums[other][at] for other in by_model if other != name)
            for at in range(len(settings))
        ]
        best = settings[others.index(min(others))]
        errors = tuple(term.error(best) for term in terms)
        found.append(LeftOut(model=name, setting=best, errors=errors))
    return found
