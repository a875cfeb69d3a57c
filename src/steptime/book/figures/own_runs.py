"""Figure of §17e: the error after a few own runs."""

from __future__ import annotations

from matplotlib.figure import Figure

from steptime.book import figures
from steptime.book.figures import colours
from steptime.book.study.own_runs import OwnRunsStudy


def curve(study: OwnRunsStudy) -> Figure:
    """Return the mean error against the runs learned from: a thin line a source, one for all.

    Args:
        study: Errors of left-out sources.
    """
    figure = figures.new(6.4, 3.6)
    axes = figure.add_subplot()
    points = study.points()
    places = list(range(len(points)))
    for number, source in enumerate(study.sources):
        errors = study.by_source(source)
        sizes = [100.0 * errors[point.count] for point in points]
        label = "one source" if number == 0 else None
        axes.plot(places, sizes, "-", lw=1, color=colours.IDLE, label=label)
    means = [100.0 * point.mean for point in points]
    axes.plot(places, means, "o-", color=colours.FORWARD, label="all, each weighing the same")
    axes.set_xticks(places, [str(point.count) for point in points])
    axes.set_ylim(0, None)
    axes.set_xlabel("own runs that were learned from")
    axes.set_ylabel("mean error of the others (%)")
    figure.legend(loc="outside upper left", ncols=2)
    return figure
