"""How far the same layout moves when it is measured again: nobody can predict closer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from steptime.evidence.row_said import dated
from steptime.evidence.samples import Sample

_DATED = ("old_experts",)


@dataclass(frozen=True, slots=True)
class Repeats:
    """Repeated measurements of the same layouts by one source.

    Attributes:
        source: Who measured.
        kind: Of the runs.
        layouts: Layouts that were measured more than once.
        runs: Measurements of them.
        spread: Mean difference of a run from its layout's mean, as a fraction.
        largest: Largest difference between two runs of one layout.
    """

    source: str
    kind: str
    layouts: int
    runs: int
    spread: float
    largest: float


def _layout_key(sample: Sample, *, across_releases: bool) -> Any:
    stack = replace(sample.inputs.stack, **dict.fromkeys(_DATED, 0.0))
    when = None if across_releases else dated(sample.inputs.run.row)[0]
    return (
        sample.source,
        tuple(asdict(sample.inputs.job).values()),
        tuple(asdict(stack).values()),
        sample.inputs.run.accelerator.name,
        when,
    )


def repeats(samples: Iterable[Sample], *, across_releases: bool) -> tuple[Repeats, ...]:
    """Return the spread of repeated measurements, by source and kind.

    Args:
        samples: Published runs.
        across_releases: Whether the software's release may differ.
    """
    groups: dict[Any, list[Sample]] = {}
    for sample in samples:
        key = _layout_key(sample, across_releases=across_releases)
        groups.setdefault(key, []).append(sample)
    again = [group for group in groups.values() if len(group) > 1]
    again.sort(key=lambda group: (group[0].kind, group[0].source))
    found = []
    for (kind, source), same in itertools.groupby(again, lambda g: (g[0].kind, g[0].source)):
        logs = [[math.log(sample.step_time_s) for sample in group] for group in same]
        offsets = [value - math.fsum(group) / len(group) for group in logs for value in group]
        found.append(
            Repeats(
                source,
                kind,
                len(logs),
                len(offsets),
                math.fsum(abs(offset) for offset in offsets) / len(offsets),
                max(math.exp(max(group) - min(group)) - 1.0 for group in logs),
            )
        )
    return tuple(found)
