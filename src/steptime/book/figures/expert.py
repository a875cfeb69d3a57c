"""Figure of §15: tokens per expert as routing becomes uneven."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from steptime.book import figures
from steptime.book.figures import colours
from steptime.book.study.expert import Routed


def tokens_per_expert(routed: Sequence[Routed]) -> Figure:
    """Return kept and dropped tokens of each expert, one panel a skew.

    Args:
        routed: Where the tokens went, one entry a skew.
    """
    figure = figures.new(6.4, 3.2)
    panels = np.atleast_1d(figure.subplots(1, len(routed), sharey=True))
    for axes, one in zip(panels, routed, strict=True):
        kept, chosen = one.load.kept.sum(0), one.load.chosen.sum(0)
        names = [str(expert) for expert in range(len(kept))]
        axes.bar(names, kept, color=colours.FORWARD, label="kept")
        over = np.flatnonzero(chosen > kept)
        axes.bar(
            over,
            (chosen - kept)[over],
            bottom=kept[over],
            facecolor="none",
            edgecolor=colours.OTHER,
            hatch="////",
            label="dropped",
        )
        places = one.load.capacity * len(one.load.kept)
        axes.axhline(places, color="black", linestyle="--", label="places")
        axes.set(title=f"skew {one.skew:g}", xlabel="expert")
    panels[0].set_ylabel("tokens, all devices")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure
