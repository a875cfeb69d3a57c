"""Figures of the book: one file per topic, one style, shown inline in the page.

In a notebook::

    from steptime.book import figures

    with figures.style():
        figures.show(drawing, alt="Idle share falls from 75 % to 9 % as …")

Each figure is laid out twice, for a column of a page and for a phone, and the page shows the
one that fits: text that is scaled to half its size cannot be read.
"""

from __future__ import annotations

import html
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from steptime.book.figures.narrow import LONG_BYTES, narrowed
from steptime.book.figures.svg import inline_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Shown", "new", "show", "style"]

STYLE_FILE = Path(__file__).resolve().parents[4] / "book" / "figures.mplstyle"


@dataclass(frozen=True, slots=True)
class Shown:
    """A finished figure, as a notebook displays it.

    Attributes:
        markup: The ``<figure>`` element.
        alt: The text alternative.
    """

    markup: str
    alt: str

    def _repr_html_(self) -> str:
        return self.markup

    def __repr__(self) -> str:
        return f"Figure: {self.alt}"


def style() -> AbstractContextManager[None]:
    """Return a context in which matplotlib draws in the book's one style."""
    import matplotlib as mpl
    import matplotlib.style

    mpl.use("agg")
    context: AbstractContextManager[None] = matplotlib.style.context(STYLE_FILE)
    return context


def new(width_in: float = 6.4, height_in: float = 3.6) -> Figure:
    """Return an empty figure in the book's style, known to no pyplot window.

    Args:
        width_in: Width in inches; the page scales it to its column.
        height_in: Height in inches.
    """
    from matplotlib.figure import Figure

    return Figure(figsize=(width_in, height_in), layout="constrained")


def show(figure: Figure, caption: str = "", alt: str = "") -> Shown:
    """Return ``figure`` as inline SVG that follows the page's light and dark theme.

    Draw and show inside ``with figures.style():``. Black turns into the text colour,
    the colours of `steptime.book.figures.colours` into their dark partners.

    Args:
        figure: The drawing; axes carry their units.
        caption: What to see, in one sentence. Leave empty if the cell's metadata has it.
        alt: Text alternative with the finding in it. Falls back on the caption.

    Returns:
        Something that a notebook displays.

    Raises:
        ValueError: If there is neither a caption nor a text alternative.
    """
    spoken = alt or caption
    if not spoken:
        raise ValueError("a figure needs alt= or caption=: some readers cannot see it")
    below = f"<figcaption>{html.escape(caption)}</figcaption>\n" if caption else ""
    drawn = inline_svg(figure, spoken)
    kind = ""
    if len(drawn) <= LONG_BYTES and narrowed(figure):
        kind = " st-two"
        drawn += inline_svg(figure, spoken).replace('"st-figure"', '"st-figure st-narrow"', 1)
    # Where the box scrolls, the page's script lets the keyboard reach it.
    markup = (
        f'<figure class="st-figure-box{kind}">\n'
        '<div class="st-scroll">\n'
        f"{drawn}</div>\n{below}</figure>"
    )
    return Shown(markup=markup, alt=spoken)
