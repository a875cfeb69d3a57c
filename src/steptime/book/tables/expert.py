"""Tables of §15."""

from __future__ import annotations

from steptime.book import tables
from steptime.book.study.expert import ExpertStudy
from steptime.book.tables.claims import effort_table, numbers_table, traffic_table
from steptime.book.tables.markdown import Markdown, fixed, markdown_table, percent


def claims_table(study: ExpertStudy) -> Markdown:
    """Return claim, formula, compiled and equal, then the numbers.

    Args:
        study: What was run.
    """
    return tables.show(
        traffic_table(study.claims),
        "The all-reduces sum the gradients of what every device holds: the router, and the "
        "shared expert if there is one.",
        numbers_table(study.claims),
    )


def annotations_table(study: ExpertStudy) -> Markdown:
    """Return what a device sends by hand and by annotations.

    Args:
        study: What was run.
    """
    return tables.show(
        "The unsplit program, compiled with nothing but the cut of its inputs and outputs:",
        effort_table(study.claims[:1], [study.annotated]),
    )


def load_table(study: ExpertStudy) -> Markdown:
    """Return where the tokens went, by kind of router and skew.

    Args:
        study: What was run.
    """
    columns = [
        "router",
        "skew",
        "places per expert and device",
        "dropped, formula",
        "dropped, counted",
        "equal",
        "dropped share",
        "busiest device over mean",
        "places used",
    ]
    rows = [
        [
            one.kind,
            f"{one.skew:g}",
            str(one.load.capacity),
            str(one.load.dropped_by_formula),
            str(one.load.dropped),
            one.load.dropped == one.load.dropped_by_formula,
            percent(one.dropped_fraction),
            fixed(one.busiest_device, 2),
            percent(one.used_fraction),
        ]
        for one in study.routed
    ]
    return tables.show(
        "Where the tokens went, all devices together:", markdown_table(columns, rows)
    )
