"""Figures of §12."""

from __future__ import annotations

from matplotlib.figure import Figure

from steptime.book import figures
from steptime.book.figures import colours
from steptime.book.study.bubble import BubbleStudy
from steptime.formulas.bubble import bubble_fraction


def idle_share(study: BubbleStudy) -> Figure:
    """Return the idle share of the step against micro-batches: formula lines, simulated dots.

    Args:
        study: The grid.
    """
    figure = figures.new()
    axes = figure.add_subplot()
    stages = sorted({row.stages for row in study.rows})
    chunks = sorted({row.chunks for row in study.rows})
    markers = "os^Dv"
    for v, colour in zip(chunks, colours.CYCLE, strict=False):
        for p, marker in zip(stages, markers, strict=False):
            # GPipe and 1F1B lie on one another: one of them is enough to see.
            cells = [
                row
                for row in study.rows
                if (row.stages, row.chunks) == (p, v) and row.schedule != "gpipe"
            ]
            if not cells:
                continue
            counts = [row.micro_batches for row in cells]
            least, most = min(counts), max(counts)
            line = [least * (most / least) ** (i / 60) for i in range(61)]
            axes.plot(
                line,
                [100 * float(bubble_fraction(float(p), m, float(v))) for m in line],
                color=colour,
            )
            axes.plot(
                counts,
                [100 * row.simulated_fraction for row in cells],
                marker,
                color=colour,
                label=f"p = {p}, v = {v}",
            )
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted({row.micro_batches for row in study.rows}))
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.minorticks_off()
    axes.set_xlabel("micro-batches per step, m")
    axes.set_ylabel("idle share of the step (%)")
    axes.set_ylim(bottom=0)
    axes.legend(ncols=2)
    return figure
