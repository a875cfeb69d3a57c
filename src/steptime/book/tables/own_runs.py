"""Tables of §17e: the error after a few own runs, in all and by source."""

from __future__ import annotations

from steptime.book.study.own_runs import OwnRunsStudy
from steptime.book.tables.markdown import Markdown, markdown_table, percent
from steptime.book.tables.sources import source_name
from steptime.evidence.own_steps import STEPS


def curve_table(study: OwnRunsStudy) -> Markdown:
    """Return the error after each count of own runs, each source weighing the same.

    Args:
        study: Errors of left-out sources.
    """
    columns = ["own runs", "mean error", "worst source", "draws that made it worse"]
    columns += [f"learned the {name}" for name in STEPS]
    rows = [
        [
            str(point.count),
            percent(point.mean),
            percent(point.worst),
            percent(point.worse, 0),
            *(percent(point.learned[name], 0) for name in STEPS),
        ]
        for point in study.points()
    ]
    return Markdown(markdown_table(columns, rows))


def sources_table(study: OwnRunsStudy) -> Markdown:
    """Return the mean error of each source after each count of own runs.

    Args:
        study: Errors of left-out sources.
    """
    counts = [point.count for point in study.points()]
    columns = ["source", *(f"own runs: {count}" for count in counts)]
    rows = []
    for source in study.sources:
        curve = study.by_source(source)
        rows.append([source_name(source), *(percent(curve[count]) for count in counts)])
    return Markdown(markdown_table(columns, rows))
