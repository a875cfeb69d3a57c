"""Figures of §13 to §16: who holds which slice, and who sends how much to whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from steptime.book import figures
from steptime.book.figures import colours
from steptime.book.figures.narrow import WIDE_ONLY
from steptime.book.study.claims import Slices

DARK_LETTER = "#111111"
LETTERS = {
    colours.BACKWARD: DARK_LETTER,
    colours.WEIGHT: DARK_LETTER,
    colours.SKY: DARK_LETTER,
}
"""Bands that need dark letters in both themes; on the others, letters have the page's ground."""


def slices_and_bytes(held: Sequence[Slices], sent: np.ndarray, unit: str = "kB") -> Figure:
    """Return each array with its slices coloured by device, and below it the heat map.

    Args:
        held: Arrays and who holds what of them.
        sent: Bytes from each device (row) to each other (column).
        unit: kB or B, of the heat map.
    """
    figure = figures.new(6.4, 5.6)
    upper, lower = np.asarray(figure.subfigures(2, 1, height_ratios=(1.0, 1.25)))
    draw_slices(upper, held)
    draw_heat_map(lower.subplots(), sent, unit, f"bytes sent ({unit})")
    return figure


def slices_and_maps(held: Sequence[Slices], sent: Sequence[tuple[str, np.ndarray]]) -> Figure:
    """Return each array with its slices, and below it a heat map for each of several programs.

    Args:
        held: Arrays and who holds what of them.
        sent: Name of the program, bytes from each device (row) to each other (column).
    """
    figure = figures.new(6.4, 4.4)
    figure.set_label(WIDE_ONLY)
    upper, lower = np.asarray(figure.subfigures(2, 1, height_ratios=(1.0, 1.3)))
    draw_slices(upper, held)
    for axes, (name, matrix) in zip(np.atleast_1d(lower.subplots(1, len(sent))), sent, strict=True):
        draw_heat_map(axes, matrix, "kB", f"{name} (kB)")
    return figure


def draw_slices(figure: Any, held: Sequence[Slices]) -> None:
    """Draw each array as a square cut into the slices of its devices.

    Args:
        figure: Where to draw.
        held: Arrays and who holds what of them.
    """
    for axes, one in zip(np.atleast_1d(figure.subplots(1, len(held))), held, strict=True):
        _slices(axes, one)


def _slices(axes: Any, one: Slices) -> None:
    for top, bottom, left, right, owners in one.parts:
        everywhere = len(one.parts) == 1 and len(owners) > 1
        colour = colours.IDLE if everywhere else colours.CYCLE[owners[0] % len(colours.CYCLE)]
        box = Rectangle(
            (left / one.columns, 1.0 - bottom / one.rows),
            (right - left) / one.columns,
            (bottom - top) / one.rows,
            facecolor=colour,
            edgecolor="black",
        )
        axes.add_patch(box)
        axes.text(
            (left + right) / 2 / one.columns,
            1.0 - (top + bottom) / 2 / one.rows,
            "all" if everywhere else ",".join(map(str, owners)),
            ha="center",
            va="center",
            color="black" if everywhere else LETTERS.get(colour, colours.GROUND),
        )
    axes.set_title(one.name, loc="center", fontsize=9.5)
    axes.set_xlabel(f"{one.rows} × {one.columns}", fontsize=9)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=[], yticks=[])
    axes.set_aspect("equal")
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def draw_heat_map(axes: Any, sent: np.ndarray, unit: str, title: str) -> None:
    """Draw the bytes that each device sends to each other, the values written in.

    Args:
        axes: Where to draw.
        sent: Bytes from each device (row) to each other (column).
        unit: kB or B.
        title: What to write above.
    """
    scale = 1e3 if unit == "kB" else 1.0
    shown = np.where(sent > 0, sent / scale, np.nan)
    ramp = LinearSegmentedColormap.from_list("sent", ["#CFE3F5", "#2A5CAA", "#12264A"])
    axes.pcolormesh(shown, cmap=ramp, vmin=0.0, edgecolors=colours.MUTED, linewidth=0.6)
    most = float(np.nanmax(shown)) if np.isfinite(shown).any() else 1.0
    for (row, column), value in np.ndenumerate(shown):
        if np.isfinite(value):
            letter = "#FEFEFE" if value > 0.35 * most else DARK_LETTER
            axes.text(
                column + 0.5,
                row + 0.5,
                f"{value:.3g}",
                ha="center",
                va="center",
                color=letter,
                fontsize=8,
            )
    places = np.arange(len(sent))
    axes.set_xticks(places + 0.5, [str(place) for place in places])
    axes.set_yticks(places + 0.5, [str(place) for place in places])
    axes.invert_yaxis()
    axes.set(xlabel="to device", ylabel="from device", title=title)
    axes.set_aspect("equal")
    axes.grid(visible=False)
    axes.spines[:].set_visible(True)
