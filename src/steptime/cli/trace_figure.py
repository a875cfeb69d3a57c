"""A measured step and a predicted one as a drawing: two bars, a colour a part."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from steptime.cli.output import seconds
from steptime.evidence.trace_beside import Row

_WIDTH, _LEFT, _BAR, _LINE = 960, 96, 34, 20
_COLOURS = (
    *("#2a5caa", "#e69f00", "#44aa99", "#cc6677", "#999933", "#882255", "#88ccee", "#117733"),
    *("#aa4499", "#ddcc77", "#6f6f6f", "#332288", "#bbbbbb", "#000000"),
)
_STYLE = """text{font:13px system-ui,sans-serif;fill:#1b1b1b}rect{stroke:#fff;stroke-width:.7}
@media (prefers-color-scheme:dark){text{fill:#e8e8e8}rect{stroke:#222}}"""


def figure(rows: Sequence[Row], measured_s: float, predicted_s: float | None) -> str:
    """Return a drawing of a step, measured over predicted, to one scale.

    Args:
        rows: The parts, in the order in which they are drawn and explained.
        measured_s: The step.
        predicted_s: Likewise; None without a prediction.
    """
    scale = (_WIDTH - _LEFT - 100) / max(measured_s, predicted_s or 0.0)
    bars = [("measured", measured_s, [row.measured_s for row in rows])]
    if predicted_s is not None:
        bars.append(("predicted", predicted_s, [row.predicted_s for row in rows]))
    label = ", ".join(f"{name} step: {seconds(total)}" for name, total, _ in bars)
    top = len(bars) * (_BAR + 10) + 16
    height = top + len(rows) * _LINE + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" aria-label="{escape(label)}">',
        f"<title>{escape(label)}</title><style>{_STYLE}</style>",
    ]
    for i, (name, total, lengths) in enumerate(bars):
        lines.extend(_bar(name, total, lengths, i * (_BAR + 10) + 8, scale, rows))
    for i, row in enumerate(rows):
        y = top + i * _LINE
        text = f"{row.title}: {seconds(row.measured_s)}"
        if predicted_s is not None:
            text += f" measured, {seconds(row.predicted_s)} predicted"
        lines.append(
            f'<rect x="{_LEFT}" y="{y}" width="13" height="13" fill="{_colour(i)}"/>'
            f'<text x="{_LEFT + 20}" y="{y + 11}">{escape(text)}</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def _colour(place: int) -> str:
    return _COLOURS[place % len(_COLOURS)]


def _bar(
    name: str, total: float, lengths: Sequence[float], top: int, scale: float, rows: Sequence[Row]
) -> list[str]:
    lines = [f'<text x="4" y="{top + 22}">{name}</text>']
    left = float(_LEFT)
    for i, (length, row) in enumerate(zip(lengths, rows, strict=True)):
        wide = length * scale
        if wide > 0.0:
            lines.append(
                f'<rect x="{left:.2f}" y="{top}" width="{wide:.2f}" height="{_BAR}" '
                f'fill="{_colour(i)}"><title>{escape(row.title)}: {seconds(length)}</title></rect>'
            )
        left += wide
    lines.append(f'<text x="{left + 6:.2f}" y="{top + 22}">{seconds(total)}</text>')
    return lines
