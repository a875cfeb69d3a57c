"""Tables of §13."""

from __future__ import annotations

from steptime.book import tables
from steptime.book.study.tensor import TensorStudy
from steptime.book.tables.claims import numbers_table, traffic_table
from steptime.book.tables.markdown import Markdown, markdown_table


def claims_table(study: TensorStudy) -> Markdown:
    """Return claim, formula, compiled and equal, then the numbers.

    Args:
        study: What was run.
    """
    return tables.show(
        traffic_table(study.claims),
        "*Merged* means that the compiler put several arrays into one instruction: the same bytes.",
        numbers_table(study.claims),
    )


def annotations_table(study: TensorStudy) -> Markdown:
    """Return what the compiler finds without being told where to send anything.

    Args:
        study: What was run.
    """
    return tables.show(
        "The unsplit program, compiled with nothing but the cut of its inputs and outputs:",
        traffic_table(study.annotated, "program", "split by hand"),
    )


def layer_table(study: TensorStudy) -> Markdown:
    """Return the all-reduces of a layer, as the step model counts them and as compiled.

    Args:
        study: What was run.
    """
    columns = ["recomputation", "all-reduces, step model", "all-reduces, compiled", "equal"]
    rows = [
        [name, str(model), str(found), model == found] for name, model, found in study.layer_counts
    ]
    return tables.show("Per layer and micro-batch:", markdown_table(columns, rows))
