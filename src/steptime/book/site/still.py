"""The directive ``{still} PAGE``: the schedule figure's first picture, a link to the rest."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from steptime.book.schedule_page import MICRO_BATCHES, RANKS, boxes, timeline

if TYPE_CHECKING:
    from sphinx.application import Sphinx

BOX, PITCH = 22, 28
WIDE, NARROW = (18, 46, "GPU "), (9, 16, "")
"""Pixels of a unit of time, pixels before the first, and what stands before a GPU's number."""

_HATCH = (
    '<defs><pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<path d="M-1 1 1-1M0 6 6 0M5 7 7 5" stroke="var(--st-muted)" fill="none"/></pattern></defs>'
)
FILLS = {"F": ("var(--st-forward)", "var(--st-ground)"), "B": ("var(--st-backward)", "#111111")}


def _box(box: dict[str, Any], unit: int, left: int) -> str:
    """Return one action; its number only where there is room for it."""
    x, wide = left + unit * box["start"], unit * (box["end"] - box["start"])
    y = PITCH * box["rank"]
    fill, ink = FILLS[box["letter"]]
    shape = (
        f'<rect x="{x}" y="{y}" width="{wide}" height="{BOX}" fill="{fill}" stroke="currentColor"/>'
    )
    if wide < 14:
        return shape
    return (
        f'{shape}<text x="{x + wide / 2:g}" y="{y + 15}" text-anchor="middle" style="fill:{ink}">'
        f"{box['micro_batch'] + 1}</text>"
    )


def still_svg(line: dict[str, Any], verdict: str, size: tuple[int, int, str], kind: str) -> str:
    """Return the picture.

    Args:
        line: From `timeline`.
        verdict: Its name for those who hear it.
        size: `WIDE` or `NARROW`.
        kind: Its class.
    """
    unit, left, word = size
    width = unit * line["makespan"]
    name = f"{kind}-hatch"
    parts = [
        f'<svg class="st-figure {kind}" role="img" aria-label="{escape(verdict)}" '
        f'viewBox="0 -1 {left + width + 1} {PITCH * RANKS - 4}" font-size="12">',
        _HATCH.format(name=name),
    ]
    for rank in range(RANKS):
        y = PITCH * rank
        parts.append(
            f'<text x="0" y="{y + 15}">{word}{rank}</text><rect x="{left}" y="{y}" '
            f'width="{width}" height="{BOX}" fill="url(#{name})" stroke="var(--st-muted)"/>'
        )
    parts += [_box(box, unit, left) for box in boxes(line)]
    return "".join([*parts, "</svg>"])


def still_html(address: str) -> str:
    """Return the picture in both sizes, and what to see in it.

    Args:
        address: Where it plays, from the page that shows it.
    """
    line = timeline()
    idle = f"{100 * line['bubble_fraction']:.1f} %"
    verdict = (
        f"Four GPUs as rows, time to the right: {MICRO_BATCHES} micro-batches pass from GPU to GPU "
        f"and back. Idle {idle} of GPU time, in two hatched triangles at the start and the end. "
        "Play the animation."
    )
    return (
        f'<figure class="st-still st-two"><a href="{escape(address)}">'
        f"{still_svg(line, verdict, WIDE, 'st-wide')}"
        f"{still_svg(line, verdict, NARROW, 'st-narrow')}</a>\n"
        f"<figcaption>Four GPUs hold a quarter of the layers each. Blue boxes go forward, orange "
        f"ones back, and where it is hatched a GPU waits: <b>{idle}</b> of all GPU time. "
        f'<a href="{escape(address)}">▶ Play it</a>, and try to shrink the wait.'
        "</figcaption></figure>"
    )


class Still(SphinxDirective):
    """Show the first picture of the schedule figure."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the picture."""
        return [nodes.raw("", still_html(self.arguments[0]), format="html")]


def setup(app: Sphinx) -> None:
    """Register the directive.

    Args:
        app: The running build.
    """
    app.add_directive("still", Still)
