"""Figure of §14: who does how much of a causal attention."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from steptime.book import figures
from steptime.book.figures import colours
from steptime.book.study.context import Work


def work_per_device(work: Sequence[Work]) -> Figure:
    """Return the pairs of each device, stacked by ring step, one panel an order.

    Args:
        work: One entry for each order of tokens.
    """
    figure = figures.new(6.4, 3.4)
    panels = figure.subplots(1, len(work), sharey=True)
    for axes, one in zip(np.atleast_1d(panels), work, strict=True):
        names = [str(device) for device in range(len(one.by_step))]
        base = np.zeros(len(one.by_step))
        for step, pairs in enumerate(one.by_step.T):
            colour = colours.CYCLE[step % len(colours.CYCLE)]
            axes.bar(names, pairs, bottom=base, color=colour, label=f"step {step}")
            base = base + pairs
        axes.axhline(one.ring_pairs, color="black", linestyle="--", label="ring waits for")
        axes.set(title=one.order, xlabel="device")
    panels[0].set_ylabel("(query, key) pairs")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(5, len(labels)))
    return figure
