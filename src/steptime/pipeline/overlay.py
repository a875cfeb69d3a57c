"""A measured pipeline on the predicted one, rank by rank: as SVG and for Perfetto."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from steptime.pipeline.measure import bubble
from steptime.pipeline.svg import DEFINITIONS, MARGIN, ROW, STYLE, row
from steptime.pipeline.timeline import Timeline
from steptime.pipeline.trace import CATEGORIES, MICROSECONDS_PER_UNIT, trace

Rows = Sequence[Sequence[tuple[float, float, str]]]
"""For each rank, start and end in seconds, and F or B."""


def unit_s(timeline: Timeline, step_time_s: float) -> float:
    """Return the seconds of a unit of time that make the predicted step as long as a measured one.

    Args:
        timeline: The predicted one.
        step_time_s: Measured.
    """
    makespan = bubble(timeline.orders, timeline.result)["makespan"]
    return step_time_s / float(timeline.in_units(makespan))


def overlay_svg(
    timeline: Timeline, rows: Rows, step_time_s: float, unit: float, width: int = 960
) -> str:
    """Return a drawing: for each rank the predicted row, and the measured one under it.

    Args:
        timeline: The predicted one.
        rows: The measured ones.
        step_time_s: Measured.
        unit: Seconds of a unit of time.
        width: Pixels across.
    """
    makespan = bubble(timeline.orders, timeline.result)["makespan"]
    predicted_s = float(timeline.in_units(makespan)) * unit
    per_s = (width - MARGIN - 8) / max(predicted_s, step_time_s)
    scale = per_s * predicted_s / float(makespan)
    height = 2 * timeline.ranks * ROW + 40
    label = (
        f"{timeline.name}, {timeline.ranks} ranks: predicted {predicted_s:.4g} s above, "
        f"measured {step_time_s:.4g} s below"
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" aria-label="{escape(label)}">',
        f"<title>{escape(label)}</title><style>{STYLE}</style>",
        DEFINITIONS,
    ]
    for rank in range(timeline.ranks):
        top = 2 * rank * ROW + 4
        lines.extend(row(timeline, rank, scale, makespan, top))
        lines.extend(_measured(rows[rank], top + ROW - 2, per_s, step_time_s))
    foot = 2 * timeline.ranks * ROW + 26
    lines.append(f'<text x="{MARGIN}" y="{foot}">{escape(label)}</text></svg>')
    return "\n".join(lines) + "\n"


def _measured(
    pieces: Sequence[tuple[float, float, str]], top: int, per_s: float, step_s: float
) -> list[str]:
    lines = [
        f'<text x="4" y="{top + 13}">measured</text>',
        f'<rect class="idle" x="{MARGIN}" y="{top}" width="{step_s * per_s:.2f}" '
        f'height="{ROW - 8}"/>',
    ]
    for start, end, way in pieces:
        lines.append(
            f'<rect class="{way}" x="{MARGIN + start * per_s:.2f}" y="{top}" '
            f'width="{(end - start) * per_s:.2f}" height="{ROW - 8}"><title>{way}: '
            f"{start * 1e3:.3f} to {end * 1e3:.3f} ms</title></rect>"
        )
    return lines


def overlay_trace(timeline: Timeline, rows: Rows, unit: float) -> dict[str, Any]:
    """Return both pipelines as trace events, the predicted process first.

    Args:
        timeline: The predicted one.
        rows: The measured ones.
        unit: Seconds of a unit of time.
    """
    found = trace(timeline)
    factor = unit * 1e6 / MICROSECONDS_PER_UNIT
    for event in found["traceEvents"]:
        for key in ("ts", "dur"):
            if key in event:
                event[key] *= factor
    events = [
        {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}}
        for pid, name in enumerate(("predicted", "measured"))
    ]
    for rank, pieces in enumerate(rows):
        label = {"name": f"rank {rank}"}
        events.append({"ph": "M", "pid": 1, "tid": rank, "name": "thread_name", "args": label})
        for start, end, way in pieces:
            times = {"ts": start * 1e6, "dur": (end - start) * 1e6}
            name = {"name": way, "cat": CATEGORIES[way]}
            events.append({"ph": "X", "pid": 1, "tid": rank, **name, **times})
    found["traceEvents"] = events + found["traceEvents"]
    found["otherData"]["one unit of time"] = f"{unit * 1e3:.6g} ms"
    return found
