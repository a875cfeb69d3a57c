"""Tables of §16."""

from __future__ import annotations

from steptime.book import tables
from steptime.book.study.training import TrainingStudy
from steptime.book.tables.claims import numbers_table, traffic_table
from steptime.book.tables.markdown import Markdown, fixed, markdown_table


def claims_table(study: TrainingStudy) -> Markdown:
    """Return claim, formula, compiled and equal, then the numbers.

    Args:
        study: What was run.
    """
    return tables.show(
        traffic_table(study.claims),
        numbers_table(study.claims),
        "ZeRO-3 with the whole step in one program, where the compiler gathers each layer once "
        "and keeps it:",
        traffic_table([study.merged]),
    )


def checks_table(study: TrainingStudy) -> Markdown:
    """Return numbers of the step model beside the same ones counted.

    Args:
        study: What was run.
    """
    columns = ["counted", "model", "compiled", "equal"]
    rows = [
        [one.text, f"{one.model:,.0f}", f"{one.compiled:,.0f}", one.equal] for one in study.checks
    ]
    return tables.show(markdown_table(columns, rows))


def losses_table(study: TrainingStudy) -> Markdown:
    """Return the losses of the three-way transformer; those of one device are the same.

    Args:
        study: What was run.
    """
    rows = [[str(step), fixed(loss, 6)] for step, loss in enumerate(study.losses, 1)]
    return tables.show(markdown_table(["step", "loss, three ways at once"], rows))
