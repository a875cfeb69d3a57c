"""Figure of §17e: the error after a few own runs."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from steptime.book import figures
from steptime.book.figures import colours
from steptime.book.study.own_runs import OwnRunsStudy
from steptime.book.tables.knowledge import TITLES


def curves(studies: Sequence[OwnRunsStudy]) -> Figure:
    """Return the mean error against the runs learned from, a line for what is known.

    Args:
        studies: Errors of left-out sources, one for each rung of knowledge.
    """
    figure = figures.new(6.4, 3.6)
    axes = figure.add_subplot()
    shades = (colours.FORWARD, colours.BACKWARD, colours.OTHER)
    for study, shade, mark in zip(studies, shades, "os^", strict=True):
        points = study.points()
        means = [100.0 * point.mean for point in points]
        label = f"known: {TITLES[study.rung]}"
        axes.plot(range(len(points)), means, f"{mark}-", color=shade, label=label)
        axes.set_xticks(range(len(points)), [str(point.count) for point in points])
    axes.set_ylim(0, None)
    axes.set_xlabel("own runs that were learned from")
    axes.set_ylabel("mean error of the others (%)")
    figure.legend(loc="outside upper left", ncols=2)
    return figure
