"""The picture that a message or a chat shows beside a link to the book."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from steptime.book.figures import colours
from steptime.book.schedule_page import MICRO_BATCHES, RANKS, boxes, timeline
from steptime.pipeline.schedules import SCHEDULES

NAME = "card.png"
WIDTH_PX, HEIGHT_PX = 1200, 630
INK = "#1F2328"
QUESTION = "Where does a training step's time go?"


def write_card(out: Path) -> None:
    """Draw the card into the folder that becomes part of the site's root.

    Args:
        out: The folder.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH_PX / 100, HEIGHT_PX / 100), dpi=100, facecolor=colours.GROUND)
    line = timeline()
    idle = f"{100 * line['bubble_fraction']:.1f} %"
    said = f"{SCHEDULES['1f1b'].title}, {RANKS} GPUs, {MICRO_BATCHES} micro-batches: {idle} idle"
    figure.text(0.06, 0.84, "steptime", fontsize=24, color=colours.FORWARD, weight="bold")
    figure.text(0.06, 0.7, QUESTION, fontsize=34, color=INK, weight="bold")
    figure.text(0.06, 0.09, said, fontsize=24, color=INK)
    axes = figure.add_axes((0.06, 0.19, 0.88, 0.42))
    _pipeline(axes, line)
    # No date and no version in the file: the same bytes each time.
    figure.savefig(out / NAME, metadata={"Software": None}, facecolor=colours.GROUND)


def _pipeline(axes: Any, line: dict[str, Any]) -> None:
    """Draw each action as a box in its GPU's row, on a ground that stands for idle time."""
    fills = {"F": colours.FORWARD, "B": colours.BACKWARD}
    for rank in range(RANKS):
        axes.barh(
            rank, line["makespan"], height=0.8, color="#ECEEF1", hatch="//", edgecolor="#C3C7CE"
        )
    for box in boxes(line):
        axes.barh(
            box["rank"],
            box["end"] - box["start"],
            left=box["start"],
            height=0.8,
            color=fills[box["letter"]],
            edgecolor=INK,
        )
        axes.text(
            (box["start"] + box["end"]) / 2,
            box["rank"],
            str(box["micro_batch"] + 1),
            ha="center",
            va="center",
            fontsize=15,
            color=colours.GROUND if box["letter"] == "F" else INK,
        )
    axes.set(xlim=(0, line["makespan"]), ylim=(RANKS - 0.5, -0.5))
    axes.axis("off")
