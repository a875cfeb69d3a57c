"""Figures of §12b."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from steptime.book import figures
from steptime.book.figures import colours
from steptime.book.study.schedules import ScheduleRow
from steptime.pipeline.schedules import SCHEDULES

# Where a name would run into another point, it moves; in points from its own.
_MOVED = {
    "dualpipe": (8, -8),
    "dualpipe-v": (-4, 12),
    "zb-h1": (-38, 2),
    "zb-1p": (-36, -9),
    "zb-h2": (-40, -4),
    "zb-v": (-24, -13),
    "interleaved-zb": (8, -4),
    "zb-auto": (-72, -13),
    "looped-bfs": (-96, -14),
    "gpipe": (-38, -4),
}


def memory_against_idle(rows: Sequence[ScheduleRow]) -> Figure:
    """Return idle time against micro-batches held, a point a schedule.

    Args:
        rows: From the study.
    """
    figure = figures.new(6.4, 4.0)
    axes = figure.add_subplot()
    groups = (
        ("backward in one piece", False, colours.FORWARD, "o"),
        ("backward split into I and W", True, colours.WEIGHT, "s"),
    )
    for label, split, colour, marker in groups:
        members = [row for row in rows if SCHEDULES[row.name].splits_backward is split]
        axes.plot(
            [row.most_held for row in members],
            [100 * row.overhead for row in members],
            marker,
            color=colour,
            label=label,
        )
    for row in rows:
        axes.annotate(
            SCHEDULES[row.name].title,
            (row.most_held, 100 * row.overhead),
            xytext=_MOVED.get(row.name, (6, 4)),
            textcoords="offset points",
            fontsize="small",
        )
    axes.set_xscale("log", base=2)
    axes.set_xticks([4, 8, 16, 32])
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.minorticks_off()
    axes.set_xlabel("micro-batches held by the fullest rank")
    axes.set_ylabel("idle time (% of useful work)")
    axes.set_ylim(bottom=0)
    axes.margins(x=0.12)
    figure.legend(loc="outside upper left", ncols=2)
    return figure
