"""Table of §17d: the large runs that readers know."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.book import tables
from steptime.book.tables.markdown import Markdown, fixed, markdown_table, signed_percent
from steptime.evidence.headline import Headline

COLUMNS = (
    *("run", "devices", "step (s), published", "step (s), model", "90 % interval (s)"),
    *("error", "inside", "part in the fit", "source"),
)


def headline_table(runs: Sequence[Headline]) -> Markdown:
    """Return measured and predicted step times; a range where a report leaves chunks open.

    Args:
        runs: From `steptime.evidence.headline.headlines`.
    """
    rows = [
        [
            run.title,
            f"{run.num_devices:,}",
            fixed(run.measured_s, 1),
            _span(*run.predicted_s),
            _span(*run.interval_s),
            _errors(*run.errors),
            "yes" if run.inside else f"no: {run.miss}",
            "yes" if run.fitted_to else "no",
            run.source.split(",")[0],
        ]
        for run in runs
    ]
    said = dict.fromkeys(run.seen for run in runs if run.seen)
    notes = [f"{_titles(runs, note)}: {note}." for note in said]
    return tables.show(markdown_table(COLUMNS, rows), *notes)


def _titles(runs: Sequence[Headline], note: str) -> str:
    return ", ".join(run.title for run in runs if run.seen == note)


def _span(low: float, high: float) -> str:
    same = fixed(low, 1) == fixed(high, 1)
    return fixed(low, 1) if same else f"{fixed(low, 1)} to {fixed(high, 1)}"


def _errors(low: float, high: float) -> str:
    ends = signed_percent(low), signed_percent(high)
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)
