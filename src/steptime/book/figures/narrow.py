"""Lay a finished figure out anew for a screen of 360 pixels."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH_IN = 4.1
"""A column of 328 pixels shows a figure of 295 points with text of 9 points as 10 pixels."""

LETTERS = 30
"""Letters of a label below an axis that takes half of such a column."""

LONG_BYTES = 110_000
"""A figure with many marks is not worth sending twice; on a phone it scrolls."""

WIDE_ONLY = "wide only"
"""Label of a figure whose panels a phone has no room for."""


def _legends(figure: Figure) -> Iterator[Any]:
    """Yield every legend of the figure and of its panels."""
    yield from figure.legends
    for axes in figure.axes:
        if axes.get_legend() is not None:
            yield axes.get_legend()


def narrowed(figure: Figure) -> bool:
    """Make a figure as wide as a phone's column, its text unchanged.

    Args:
        figure: A finished drawing, whose layout is worked out as it is saved.

    Returns:
        Whether it could be done; False for a figure that says it needs its width.
    """
    if figure.get_label() == WIDE_ONLY:
        return False
    width, height = figure.get_size_inches()
    if width <= WIDTH_IN:
        return False
    panels = len({round(axes.get_position().x0, 2) for axes in figure.axes})
    figure.set_size_inches(WIDTH_IN, height if panels == 1 else 0.9 * height)
    for axes in figure.axes:
        axes.set_xlabel(textwrap.fill(axes.get_xlabel(), LETTERS if panels == 1 else LETTERS // 2))
    for legend in _legends(figure):
        labels = [text.get_text() for text in legend.get_texts()]
        columns = min(legend._ncols, 2 if max(map(len, labels), default=0) > 8 else 3)
        if columns < legend._ncols:
            legend._ncols = columns
            legend._init_legend_box(legend.legend_handles, labels)
            legend._set_loc(legend._loc_real)
    return True
