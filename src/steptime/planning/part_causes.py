"""What makes a part of a measured step differ from the predicted one: asked, then what is usual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steptime.evidence.trace_beside import Row, predicted_parts
from steptime.inputs.datafiles import data_table
from steptime.planning.cause_flags import FILE, causes_known
from steptime.planning.causes import MOST_SHARE, Asker, wide_slowdown

_COMPUTE = "compute"
_SPEAKS_FOR_COMPUTE = "products"
"""Where computing is one part, its largest kind speaks for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A cause that the model was asked about.

    Attributes:
        name: Its key in ``data/causes.toml``.
        title: A sentence.
        part_s: What the part takes with it, or without it where the run is faster.
        gap_fraction: Share of the part's gap that it explains; over 1 where it explains more.
        flag: What to change; empty where the run has the better side already.
    """

    name: str
    title: str
    part_s: float
    gap_fraction: float
    flag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCause:
    """What a part's gap could be.

    Attributes:
        part: Name of the part.
        side: ``slower`` or ``faster`` than predicted, or ``missing`` from the trace.
        asked: What the model was asked, what explains the gap best first.
        usual: What usually causes it; empty if nothing is known.
        remedy: What to try then.
        source: Who says so.
    """

    part: str
    side: str
    asked: tuple[Asked, ...]
    usual: str
    remedy: str
    source: str


def part_causes(rows: Sequence[Row], asker: Asker) -> dict[str, PartCause]:
    """Return what each gap that is large enough to speak of could be, by part.

    Args:
        rows: Of the step, beside the answer's.
        asker: Has the answer, and asks the model again.
    """
    usual = data_table(FILE)["usual"]
    least_s = usual["least"] * asker.own.step_time_s
    found = {}
    for row in rows:
        if abs(row.gap_s) < least_s:
            continue
        part = _SPEAKS_FOR_COMPUTE if row.part == _COMPUTE else row.part
        sides = usual.get(part, {})
        side = "slower" if row.gap_s > 0.0 else "faster"
        if row.measured_s == 0.0 and row.hidden_s == 0.0 and "missing" in sides:
            side = "missing"
        words = sides.get(side, {})
        asked = () if side == "missing" else _asked(row, part, asker, least_s)
        if asked or words:
            found[row.part] = PartCause(
                part=row.part,
                side=side,
                asked=asked,
                usual=words.get("cause", ""),
                remedy=words.get("try", ""),
                source=words.get("source", ""),
            )
    return found


def _asked(row: Row, part: str, asker: Asker, least_s: float) -> tuple[Asked, ...]:
    """Return the causes that bring a part nearer to what was measured, the nearest first."""
    found = []
    for name, entry in causes_known().items():
        if part not in entry["parts"] or asker.rules_out(name, entry):
            continue
        part_s = _part_s(row, asker, name)
        # What leaves more of a gap than it closes explains nothing.
        if part_s is None or abs(part_s - row.predicted_s) < least_s:
            continue
        share = (part_s - row.predicted_s) / row.gap_s
        if not 0.0 < share < MOST_SHARE:
            continue
        slower = row.gap_s > 0.0
        found.append(
            Asked(
                name=name,
                title=entry["title"] if slower else f"not so in the run: {entry['title']}",
                part_s=part_s,
                gap_fraction=share,
                flag=asker.flag(name) if slower else "",
            )
        )
    return tuple(sorted(found, key=lambda one: abs(1.0 - one.gap_fraction)))


def _part_s(row: Row, asker: Asker, name: str) -> float | None:
    """Return what the model says of a part with a cause, or without it if the run is faster."""
    entry = causes_known()[name]
    if row.gap_s > 0.0 and entry.get("wide"):
        factor = wide_slowdown(asker.own)
        return None if factor is None else row.predicted_s * factor
    told = asker.with_cause(entry) if row.gap_s > 0.0 else asker.without_cause(entry)
    if told is None or isinstance(told, float):
        return None
    return predicted_parts(told, asker.constants).get(row.part)
