"""Figures of §20: the front of time against memory, and how far to trust an order."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from steptime.book import figures
from steptime.book.figures import colours
from steptime.book.study.search import Suggestion


def fronts(suggestions: Sequence[Suggestion]) -> Figure:
    """Return the front of each search, with the authors' layout and the memory limit.

    Args:
        suggestions: The searches.
    """
    figure = figures.new(6.4, 3.4)
    panels = figure.subplots(1, len(suggestions))
    for axes, one in zip(panels, suggestions, strict=True):
        front = one.result.front
        memory = [candidate.memory_bytes / 1e9 for candidate in front]
        times = [candidate.step_time_s for candidate in front]
        axes.step(memory, times, where="post", color=colours.FORWARD, label="front")
        axes.plot(memory[:1], times[:1], "o", color=colours.FORWARD, label="fastest")
        own = one.published
        axes.plot(
            [own.memory_bytes / 1e9],
            [own.step_time_s],
            "D",
            color=colours.BACKWARD,
            label="the authors'",
        )
        limit = one.result.question.memory_limit_bytes / 1e9
        axes.axvline(limit, color="black", linestyle="--", label="memory of a device")
        axes.set(title=one.name, xlabel="memory on the fullest device (GB)", xlim=(0, None))
        axes.set_ylim(0, 2.5 * times[0])
    panels[0].set_ylabel("step time (s)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure
