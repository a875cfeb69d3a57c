"""Figures of §19: racks with their pipeline stages, and what a larger domain saves."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from steptime.book import figures
from steptime.book.figures import Shown, colours
from steptime.book.study.placement import Placed
from steptime.planning.placement import Placement
from steptime.planning.racks import racks_svg, summary


def racks(placement: Placement, caption: str, most: int = 4) -> Shown:
    """Return a picture of racks, GPUs coloured by pipeline stage, for use inside a page.

    Args:
        placement: What to draw.
        caption: What to see.
        most: Domains to draw.
    """
    svg = racks_svg(placement, most=most)
    markup = (
        '<figure class="st-figure-box">\n<div class="st-scroll">\n'
        f"{svg}</div>\n<figcaption>{html.escape(caption)}</figcaption>\n</figure>"
    )
    return Shown(markup=markup, alt=summary(placement))


def saved(study: Sequence[Placed]) -> Figure:
    """Return the step time of each job on both kinds of domain, smaller domain as 100 %.

    Args:
        study: Jobs in one rank order.
    """
    figure = figures.new(6.4, 0.55 * len(study) + 1.2)
    axes = figure.add_subplot()
    places = np.arange(len(study))[::-1]
    sizes = sorted(study[0].step_s)
    for place, size in enumerate(sizes):
        shares = [100.0 * one.step_s[size] / one.step_s[sizes[0]] for one in study]
        axes.barh(
            places - 0.36 * place + 0.18,
            shares,
            height=0.34,
            color=(colours.FORWARD, colours.BACKWARD)[place % 2],
            label=f"domains of {size}",
        )
    axes.set_yticks(places, [one.example.name for one in study])
    axes.set(xlabel="step time (% of that on the smaller domains)", xlim=(0, 110))
    figure.legend(loc="outside lower center", ncols=len(sizes))
    return figure
