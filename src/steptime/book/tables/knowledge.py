"""Tables of §17c: the ladder of knowledge, by kind of run and by source."""

from __future__ import annotations

from collections.abc import Mapping

from steptime.book.study.knowledge import KnowledgeStudy
from steptime.book.tables.markdown import Markdown, markdown_table, percent, signed_percent
from steptime.book.tables.sources import source_name
from steptime.evidence.ladder import RUNGS, Rung

TITLES = {
    "as told": "as its source tells it",
    "family and date": "family and date alone",
    "nothing": "nothing",
}
"""What is known of the software, by the ladder's own names."""


def rungs_table(study: KnowledgeStudy) -> Markdown:
    """Return mean error, bias and coverage of each kind of run on each rung.

    Args:
        study: Left-out errors.
    """
    columns = ["runs", "known of the software", "sources", "rows", "mean error", "bias"]
    columns.append("inside their interval")
    rows = []
    for kind in study.lines:
        sources, count = study.counts(kind)
        for name, rung in study.alike(kind).items():
            rows.append(
                [
                    kind,
                    TITLES[name],
                    str(sources),
                    str(count),
                    percent(rung.mean_size),
                    signed_percent(rung.bias),
                    percent(rung.inside, 0),
                ]
            )
    return Markdown(markdown_table(columns, rows))


def _cells(rungs: Mapping[str, Rung]) -> list[str]:
    sizes = [percent(rungs[name].mean_size) for name in RUNGS]
    return [*sizes, *(percent(rungs[name].inside, 0) for name in RUNGS)]


def by_source_table(study: KnowledgeStudy) -> Markdown:
    """Return mean error and coverage of each source on each rung.

    Args:
        study: Left-out errors.
    """
    columns = ["runs", "source", "rows", *(f"{TITLES[name]}: mean error" for name in RUNGS)]
    columns += [f"{TITLES[name]}: inside" for name in RUNGS]
    rows = [
        [kind, source_name(line.source), str(line.runs), *_cells(line.rungs)]
        for kind, lines in study.lines.items()
        for line in lines
    ]
    return Markdown(markdown_table(columns, rows))
