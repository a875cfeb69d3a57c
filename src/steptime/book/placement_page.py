"""What the racks figure needs from Python: its arithmetic, and what stands there without it.

`write_placement` fills a folder that becomes part of the site's root: the generated
JavaScript, the fragment for pages without JavaScript, and a page of its own.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from steptime.book.alone_page import AlonePage
from steptime.book.figure_page import write_figure
from steptime.book.javascript import bundle
from steptime.inputs.layout import Layout
from steptime.planning.placement import Placement, place
from steptime.planning.racks import racks_svg

ROOTS = ("steptime.planning.groups", "steptime.formulas.placement:used_per_domain")
LAYOUT, DOMAIN, ORDER = Layout(tp=8, pp=16, dp=9), 72, "llama3"
MOST_DOMAINS = 2

PAGE = AlonePage(
    name="placement",
    element="racks",
    title="Racks and servers, group by group",
    heading="Racks and servers",
    about="Which groups of a parallel training job stay inside NVLink, and which cross.",
)


def write_placement(out: Path) -> None:
    """Write all generated files of the figure.

    Args:
        out: The folder that becomes part of the site's root.
    """
    write_figure(out, PAGE, fallback_html(), {"ranks.js": bundle(*ROOTS)})


def fallback_html() -> str:
    """Return the first story as a picture and a table, for readers without JavaScript."""
    placement = place(LAYOUT, domain_size=DOMAIN, order=ORDER)
    return (
        f"<p>{escape(verdict(placement))}</p>\n{racks_svg(placement, most=MOST_DOMAINS)}"
        "<table>\n<caption>Groups inside one NVLink domain, and groups that cross the network"
        '</caption>\n<thead><tr><th scope="col">groups</th><th scope="col">size</th>'
        '<th scope="col">inside</th><th scope="col">crossing</th></tr></thead>\n<tbody>\n'
        + "".join(
            f'<tr><th scope="row">{kind}</th><td>{size}</td><td>{stay:,}</td>'
            f"<td>{cross:,}</td></tr>\n"
            for kind, size, stay, cross in rows(placement)
        )
        + "</tbody>\n</table>"
    )


def rows(placement: Placement) -> list[tuple[str, str, int, int]]:
    """Return kind, size, inside and crossing of each kind of group, and of the hops.

    Args:
        placement: What was placed.
    """
    found = [(one.kind, str(one.size), one.inside, one.crossing) for one in placement.groups]
    return [*found, ("pipeline hops", "-", placement.hops_inside, placement.hops_crossing)]


def verdict(placement: Placement) -> str:
    """Return the sentence above the picture.

    Args:
        placement: What was placed.
    """
    hops = placement.num_hops
    inside = ", ".join(one.kind for one in placement.groups if not one.crossing)
    across = ", ".join(one.kind for one in placement.groups if one.crossing)
    return (
        f"Pipeline hops inside a domain: {placement.hops_inside:,} of {hops:,}. "
        f"Inside: all {inside} groups. Over the network: {across} groups."
    )
