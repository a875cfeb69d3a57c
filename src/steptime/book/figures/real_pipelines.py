"""Figures of §12c."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from steptime.book import figures
from steptime.book.figures import colours
from steptime.book.study.pipeline_trades import Trade


def trade_of_chunks(rows: Sequence[Trade]) -> Figure:
    """Return lost time against chunks, a colour a network: formula lines, simulated marks.

    Args:
        rows: From the study.
    """
    figure = figures.new()
    axes = figure.add_subplot()
    shares = sorted({row.bandwidth_share for row in rows}, reverse=True)
    for share, colour in zip(shares, colours.CYCLE, strict=False):
        own = [row for row in rows if row.bandwidth_share == share]
        chunks = [row.chunks for row in own]
        name = f"1/{round(1 / share)} of it" if share < 1 else "the run's bandwidth"
        axes.plot(chunks, [row.formula_s for row in own], color=colour, label=name)
        axes.plot(chunks, [row.blocking_s for row in own], "o", color=colour)
        axes.plot(
            chunks, [row.overlapped_s for row in own], "s", color=colour, markerfacecolor="none"
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(sorted({row.chunks for row in rows}))
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.set_xlabel("chunks a rank holds, v")
    axes.set_ylabel("bubble and messages (s)")
    axes.legend()
    return figure
