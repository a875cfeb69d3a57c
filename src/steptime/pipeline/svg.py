"""A timeline as one SVG file, readable in light and in dark."""

from __future__ import annotations

from html import escape
from typing import Any

from steptime.inputs.in_number import counted
from steptime.pipeline.codes import action_name, kind_of, pair_code
from steptime.pipeline.measure import bubble
from steptime.pipeline.timeline import Timeline

ROW = 26
MARGIN = 64
STYLE = """
text{font:12px system-ui,sans-serif;fill:#1b1b1b}
rect{stroke:#333;stroke-width:.7}
.F{fill:#2a5caa}.B,.I{fill:#e69f00}.W{fill:#44aa99}
.idle{fill:url(#idle)}.idle-line{stroke:#777}
.tF{fill:#fff}.tB,.tI,.tW{fill:#000}
@media (prefers-color-scheme:dark){
text{fill:#e8e8e8}rect{stroke:#ddd}
.F{fill:#6fa8ff}.B,.I{fill:#ffb000}.W{fill:#b2df8a}
.tF,.tB,.tI,.tW{fill:#000}.idle-line{stroke:#aaa}}
"""


DEFINITIONS = (
    '<defs><pattern id="idle" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><line class="idle-line" x1="0" y1="0" x2="0" y2="6" '
    'stroke-width="1.5"/></pattern></defs>'
)
"""What fills idle time."""


def svg(timeline: Timeline, width: int = 960) -> str:
    """Return a drawing of a timeline that finishes: a row a rank, time to the right.

    Args:
        timeline: Any that finishes.
        width: Pixels across.
    """
    totals = bubble(timeline.orders, timeline.result)
    scale = (width - MARGIN - 8) / totals["makespan"]
    height = timeline.ranks * ROW + 40
    label = (
        f"{timeline.name}: {counted(timeline.ranks, 'ranks')}, "
        f"{counted(timeline.micro_batches, 'micro-batches')}, "
        f"{counted(timeline.chunks, 'chunks')} a rank. "
        f"Idle: {totals['bubble_fraction']:.1%} of the step, "
        f"{totals['bubble_overhead']:.1%} of useful work. "
        f"The step takes {timeline.in_units(totals['makespan']):g} units of time."
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" aria-label="{escape(label)}">',
        f"<title>{escape(label)}</title><style>{STYLE}</style>",
        DEFINITIONS,
    ]
    for rank in range(timeline.ranks):
        lines.extend(row(timeline, rank, scale, totals["makespan"], rank * ROW + 4))
    foot = timeline.ranks * ROW + 26
    lines.append(f'<text x="{MARGIN}" y="{foot}">{escape(label)}</text></svg>')
    return "\n".join(lines) + "\n"


def row(timeline: Timeline, rank: int, scale: float, makespan: Any, top: int) -> list[str]:
    """Return the lines of one rank.

    Args:
        timeline: Any.
        rank: Whose row it is.
        scale: Pixels a slot.
        makespan: Slots of the step.
        top: Pixels from above.
    """
    stages, count = timeline.stages, timeline.micro_batches
    lines = [
        f'<text x="4" y="{top + 15}">rank {rank}</text>',
        f'<rect class="idle" x="{MARGIN}" y="{top}" width="{makespan * scale:.2f}" '
        f'height="{ROW - 4}"/>',
    ]
    starts, ends = timeline.result["starts"][rank], timeline.result["ends"][rank]
    halves = 0
    for i, code in enumerate(timeline.orders[rank]):
        if code == pair_code(stages, count):
            # Run as one, the halves of a pair share their time: F above, backward below.
            halves = 2 if timeline.times["paired"] else 0
            continue
        name = action_name(code, stages, count)
        kind = "FBIW"[kind_of(code, stages, count)]
        left, wide = MARGIN + starts[i] * scale, (ends[i] - starts[i]) * scale
        high = (ROW - 4) / (2 if halves else 1)
        y = top + (high if halves == 1 else 0)
        lines.append(
            f'<rect class="{kind}" x="{left:.2f}" y="{y:g}" width="{wide:.2f}" height="{high:g}">'
            f"<title>{name}: {timeline.in_units(starts[i]):g} to "
            f"{timeline.in_units(ends[i]):g}</title></rect>"
        )
        text = str(code % count)
        if wide > 7 * len(text) + 4:
            lines.append(
                f'<text class="t{kind}" x="{left + wide / 2:.2f}" y="{y + high / 2 + 4:g}" '
                f'text-anchor="middle">{text}</text>'
            )
        halves = max(0, halves - 1)
    return lines
