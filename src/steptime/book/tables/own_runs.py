"""Tables of §17e: the error after a few own runs, in all and by source."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.book.study.own_runs import OwnRunsStudy
from steptime.book.tables.knowledge import TITLES
from steptime.book.tables.markdown import Markdown, markdown_table, percent
from steptime.book.tables.sources import source_name
from steptime.evidence.own_steps import STEPS


def curve_table(studies: Sequence[OwnRunsStudy]) -> Markdown:
    """Return the error after each count of own runs, each source weighing the same.

    Args:
        studies: Errors of left-out sources, one for each rung of knowledge.
    """
    columns = ["known of the software", "own runs", "mean error", "worst source"]
    columns += ["draws that made it worse", *(f"learned the {name}" for name in STEPS)]
    rows = [
        [
            TITLES[study.rung],
            str(point.count),
            percent(point.mean),
            percent(point.worst),
            percent(point.worse, 0),
            *(percent(point.learned[name], 0) for name in STEPS),
        ]
        for study in studies
        for point in study.points()
    ]
    return Markdown(markdown_table(columns, rows))


def spreads_table(studies: Sequence[OwnRunsStudy]) -> Markdown:
    """Return how far sources differ, how far runs of one do, and what one run can tell of it.

    Args:
        studies: Errors of left-out sources, one for each rung of knowledge.
    """
    columns = ["known of the software", "sources differ by", "runs of one differ by"]
    columns.append("share of its error that one run teaches")
    rows = []
    for study in studies:
        known = study.spreads
        rows.append(
            [
                TITLES[study.rung],
                percent(known.steps[0]),
                percent(known.runs),
                percent(study.first_share, 0),
            ]
        )
    return Markdown(markdown_table(columns, rows))


def sources_table(studies: Sequence[OwnRunsStudy]) -> Markdown:
    """Return the mean error of each source after each count of own runs, least known last.

    Args:
        studies: Errors of left-out sources, one for each rung of knowledge.
    """
    counts = [point.count for point in studies[0].points()]
    columns = ["known of the software", "source", *(f"own runs: {count}" for count in counts)]
    rows = []
    for study in studies:
        for source in study.sources:
            curve = study.by_source(source)
            errors = (percent(curve[count]) for count in counts)
            rows.append([TITLES[study.rung], source_name(source), *errors])
    return Markdown(markdown_table(columns, rows))
