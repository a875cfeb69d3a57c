"""Tables of §12b."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.book.study.schedule_claims import Claim
from steptime.book.study.schedule_forms import FormGap
from steptime.book.study.schedules import Distance, ScheduleRow
from steptime.book.tables.markdown import Markdown, fixed, markdown_table, number, percent
from steptime.pipeline.schedules import SCHEDULES
from steptime.pipeline.stage_times import Compared


def schedules_table(rows: Sequence[ScheduleRow]) -> Markdown:
    """Return every schedule at one size.

    Args:
        rows: From the study.
    """
    columns = [
        "schedule",
        "chunks v",
        "idle / useful",
        "idle / step",
        "idle / useful, no flush",
        "idle / useful, uneven F, I, W",
        "micro-batches held, fullest rank",
        "emptiest rank",
        "copies of the weights",
        "messages, busiest rank",
    ]
    cells = [
        [
            SCHEDULES[row.name].title,
            str(row.chunks),
            percent(row.overhead, 2),
            percent(row.fraction, 2),
            percent(row.span_overhead, 2),
            percent(row.uneven_overhead, 2),
            fixed(row.most_held, 1),
            fixed(row.least_held, 1),
            str(row.copies),
            str(row.messages),
        ]
        for row in rows
    ]
    return Markdown(markdown_table(columns, cells))


def claims_table(rows: Sequence[Claim]) -> Markdown:
    """Return what papers say beside what the simulator finds.

    Args:
        rows: From the study.
    """
    columns = ["source", "schedule", "quantity", "formula", "published", "simulated"]
    cells = [
        [
            row.source,
            SCHEDULES[row.schedule].title,
            row.quantity,
            row.formula,
            number(row.claimed, 3),
            number(row.simulated, 3),
        ]
        for row in rows
    ]
    return Markdown(markdown_table(columns, cells))


def distance_table(rows: Sequence[Distance]) -> Markdown:
    """Return how far each schedule is from the shortest step in its memory.

    Args:
        rows: From the study.
    """
    columns = [
        "schedule",
        "stages p",
        "micro-batches m",
        "held",
        "step (slots)",
        "shortest in that memory",
        "above it",
        "shortest in any memory",
    ]
    cells = [
        [
            SCHEDULES[row.name].title,
            str(row.stages),
            str(row.micro_batches),
            str(row.held),
            str(row.slots),
            str(row.best) if row.proven else f"{row.best} or more",
            percent(row.slots / row.best - 1),
            str(row.best_unbound),
        ]
        for row in rows
    ]
    return Markdown(markdown_table(columns, cells))


def equal_parameters_table(rows: Sequence[Compared]) -> Markdown:
    """Return the schedules where every device holds as many parameters, in seconds.

    Args:
        rows: From `steptime.pipeline.stage_times.compared`.
    """
    columns = ["schedule", "ranks", "micro-batches", "chunks v", "step (s)", "idle / step", "held"]
    cells = [
        [
            SCHEDULES[row.name].title,
            str(row.ranks),
            str(row.micro_batches),
            str(row.chunks),
            fixed(row.step, 3),
            percent(row.idle, 1),
            fixed(row.held, 1),
        ]
        for row in rows
    ]
    return Markdown(markdown_table(columns, cells))


def forms_table(rows: Sequence[FormGap]) -> Markdown:
    """Return how far each closed form is from the executor.

    Args:
        rows: From the study.
    """
    columns = ["schedule", "compared", "largest difference, m >= 2p", "m < 2p"]
    cells = [
        [
            SCHEDULES[row.name].title,
            str(row.compared),
            percent(row.many, 2),
            percent(row.few, 2),
        ]
        for row in rows
    ]
    return Markdown(markdown_table(columns, cells))
