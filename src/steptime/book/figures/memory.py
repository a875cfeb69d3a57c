"""Figures of §18."""

from __future__ import annotations

from matplotlib.figure import Figure

from steptime.book import figures
from steptime.book.figures import colours
from steptime.book.study.memory import MemoryStudy

ENDS = (1.0, 90.0)


def peaks(study: MemoryStudy) -> Figure:
    """Return published against predicted peaks, and the line of equality.

    Args:
        study: The memory model on every measured peak.
    """
    figure = figures.new(6.4, 4.6)
    axes = figure.add_subplot()
    axes.plot(ENDS, ENDS, color=colours.MUTED, label="equal")
    narrow = [row for row in study.sweep if row.run.layout.tp <= 8]
    wide = [row for row in study.sweep if row.run.layout.tp > 8]
    bloom = [row for row in study.published if row.reading.stack.startswith("deepspeed")]
    for rows, label, colour, marker, size in (
        (wide, "nanotron sweep, t > 8", colours.IDLE, "x", 3.0),
        (narrow, "nanotron sweep, t ≤ 8", colours.SKY, ".", 3.0),
        (bloom, "BLOOM rehearsals", colours.BACKWARD, "s", 4.5),
    ):
        axes.plot(
            [row.published_gb for row in rows],
            [row.predicted_gb for row in rows],
            marker,
            markersize=size,
            color=colour,
            label=label,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(ENDS)
    axes.set_ylim(ENDS)
    ticks = [1, 2, 5, 10, 20, 40, 80]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, labels=[str(tick) for tick in ticks])
        axis.set_ticks([], minor=True)
    axes.set_xlabel("measured peak (GB, as the source counts)")
    axes.set_ylabel("memory model (GB, likewise)")
    axes.legend(loc="upper left")
    return figure
