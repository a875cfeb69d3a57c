"""Table of the large runs that readers know."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.book.tables.markdown import Markdown, fixed, markdown_table, signed_percent
from steptime.evidence.headline import Headline


def headline_table(runs: Sequence[Headline]) -> Markdown:
    """Return measured and predicted step times; a range where a report leaves chunks open.

    Args:
        runs: From `steptime.evidence.headline.headlines`.
    """
    columns = [
        "run",
        "devices",
        "step, s (published)",
        "step, s (model)",
        "90 % interval, s",
        "error",
        "inside",
        "source",
    ]
    rows = [
        [
            run.title,
            f"{run.num_devices:,}",
            fixed(run.measured_s, 1),
            _span(*run.predicted_s),
            _span(*run.interval_s),
            signed_percent(run.error),
            "yes" if run.inside else run.miss,
            f"{{cite:p}}`{run.source.split(',')[0]}`",
        ]
        for run in runs
    ]
    return Markdown(markdown_table(columns, rows))


def _span(low: float, high: float) -> str:
    same = fixed(low, 1) == fixed(high, 1)
    return fixed(low, 1) if same else f"{fixed(low, 1)} to {fixed(high, 1)}"
