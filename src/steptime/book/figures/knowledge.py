"""Figures of §17c and §17d: the ladder of knowledge, and large runs in their intervals."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from steptime.book import figures
from steptime.book.figures import colours
from steptime.book.study.knowledge import KnowledgeStudy
from steptime.book.tables.knowledge import TITLES
from steptime.book.tables.sources import source_name
from steptime.evidence.headline import Headline

MARKS = {
    "as told": ("o", colours.FORWARD),
    "family and date": ("s", colours.BACKWARD),
    "nothing": ("^", colours.OTHER),
}


def ladder(study: KnowledgeStudy, kind: str) -> Figure:
    """Return the mean error of each source of a kind on every rung.

    Args:
        study: Left-out errors.
        kind: Of the runs.
    """
    figure = figures.new(6.4, 4.6)
    axes = figure.add_subplot()
    lines = study.lines[kind]
    for place, line in enumerate(lines):
        sizes = [100.0 * rung.mean_size for rung in line.rungs.values()]
        axes.plot([min(sizes), max(sizes)], [place, place], "-", color=colours.IDLE, zorder=1)
    for name, (mark, colour) in MARKS.items():
        sizes = [100.0 * line.rungs[name].mean_size for line in lines]
        axes.plot(sizes, range(len(lines)), mark, ms=5, color=colour, label=TITLES[name])
    axes.set_yticks(range(len(lines)), [source_name(line.source) for line in lines])
    axes.invert_yaxis()
    axes.set_xlim(0, None)
    axes.set_xlabel("mean error on step time, left out (%)")
    figure.legend(loc="outside upper left", ncols=3)
    return figure


def large_runs(runs: Sequence[Headline]) -> Figure:
    """Return the interval of each large run over its measured step, and what was predicted.

    Args:
        runs: From `steptime.evidence.headline.headlines`.
    """
    figure = figures.new(6.4, 4.2)
    axes = figure.add_subplot()
    for place, run in enumerate(runs):
        low, high = (time / run.measured_s for time in run.interval_s)
        bar = "its 90 % interval" if place == 0 else None
        axes.plot([low, high], [place, place], "-", lw=5, color=colours.IDLE, zorder=1, label=bar)
        times = [one.step_time_s / run.measured_s for one in run.answers]
        dot = "predicted" if place == 0 else None
        axes.plot(times, [place] * len(times), "o", ms=5, color=colours.FORWARD, label=dot)
    axes.axvline(1.0, color=colours.OTHER)
    axes.set_yticks(range(len(runs)), [run.title for run in runs])
    axes.invert_yaxis()
    axes.set_xlabel("step time over the measured one")
    figure.legend(loc="outside upper left", ncols=2)
    return figure
