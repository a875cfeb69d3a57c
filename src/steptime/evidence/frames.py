"""Published runs and a model's results as pandas tables, for a notebook or a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from steptime.evidence.schema import PublishedRow, published_rows
from steptime.evidence.validate import RowResult, Validation

if TYPE_CHECKING:
    import pandas as pd


def runs_frame(rows: Sequence[PublishedRow] | None = None) -> pd.DataFrame:
    """Return published runs, one a row, indexed by id.

    Args:
        rows: Checked rows; those of ``data/published_runs.csv`` if None.

    Returns:
        Columns as in ``data/README.md``; a blank cell is missing.
    """
    import pandas as pd

    used = published_rows() if rows is None else rows
    frame = pd.DataFrame(
        [row.model_dump() for row in used], columns=list(PublishedRow.model_fields)
    )
    return frame.set_index("id").convert_dtypes()


def results_frame(result: Validation) -> pd.DataFrame:
    """Return a model's results, one row a run, indexed by id.

    Args:
        result: From `steptime.evidence.validate`.

    Returns:
        Predicted and published step time and rate, the error, and one column a part of the step,
        ``compute_s`` and so on; seconds throughout.
    """
    import pandas as pd

    records = []
    for row in result.rows:
        record = asdict(row)
        parts = record.pop("breakdown_s")
        record["assumed"] = "; ".join(map(str, row.assumed))
        records.append(record | {f"{part}_s": time_s for part, time_s in parts.items()})
    names = [entry.name for entry in fields(RowResult) if entry.name != "breakdown_s"]
    frame = pd.DataFrame(records) if records else pd.DataFrame(columns=names)
    return frame.set_index("id")


def errors_by_source(
    result: Validation, rows: Sequence[PublishedRow] | None = None
) -> pd.DataFrame:
    """Return what a model's errors amount to, by source.

    Args:
        result: A model's results.
        rows: The rows they were made from; those of ``data/published_runs.csv`` if None.

    Returns:
        Indexed by source: ``rows``, ``bias``, ``mean``, ``median`` and ``largest`` of the error
        as a fraction; rows that fixed a constant are left out.
    """
    import pandas as pd

    frame = results_frame(result).drop(columns="source").join(runs_frame(rows)["source"])
    frame = frame[~frame["fitted"]]
    error = frame["error_fraction"]
    grouped = error.groupby(frame["source"])
    sizes = error.abs().groupby(frame["source"])
    return pd.DataFrame(
        {
            "rows": grouped.size(),
            "bias": grouped.mean(),
            "mean": sizes.mean(),
            "median": sizes.median(),
            "largest": sizes.max(),
        }
    )
