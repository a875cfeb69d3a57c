"""Tables of §22: a run that is planned."""

from __future__ import annotations

from steptime.answer.answer import Prediction
from steptime.answer.peak import Memory
from steptime.book import tables
from steptime.book.tables.markdown import Markdown, fixed, markdown_table, percent
from steptime.book.tables.search import layout_cells
from steptime.inputs.chance import chance_text
from steptime.planning.cost import Run
from steptime.planning.placement import Placement
from steptime.planning.result import SearchResult


def layouts_table(found: SearchResult, most: int) -> Markdown:
    """Return the fastest layouts with their time and memory.

    Args:
        found: A search.
        most: Layouts to show.
    """
    rows = [
        [
            layout_cells(one),
            fixed(one.step_time_s, 2),
            fixed(one.memory_bytes / 1e9, 1),
            chance_text(one.fit_probability),
        ]
        for one in found.best[:most]
    ]
    columns = ["layout", "step (s), model", "memory (GB), model", "chance that it fits"]
    return tables.show(
        "t c p v d e: tensor, context, pipeline, chunks, data, expert; b micro-batch; Z ZeRO "
        "stage.",
        markdown_table(columns, rows),
    )


def parts_table(step: Prediction) -> Markdown:
    """Return where the time of a step goes.

    Args:
        step: The answer for it.
    """
    rows = [
        [part["part"].replace("_", " "), fixed(part["time_s"], 3), percent(part["share"])]
        for part in step.records()
        if part["time_s"]
    ]
    return tables.show("", markdown_table(["part", "time (s), model", "share"], rows))


def ranks_table(memory: Memory) -> Markdown:
    """Return what each pipeline rank holds.

    Args:
        memory: Of a step.
    """
    parts = [name for name, size in memory.fullest.parts_bytes.items() if size]
    rows = [
        [
            str(one.rank),
            *(fixed(one.parts_bytes[name] / 1e9, 1) for name in parts),
            fixed(one.total_bytes / 1e9, 1),
        ]
        for one in memory.ranks
    ]
    columns = ["rank", *(f"{name} (GB)" for name in parts), "all (GB)"]
    return tables.show("", markdown_table(columns, rows))


def groups_table(placed: Placement) -> Markdown:
    """Return which groups stay inside an NVLink domain.

    Args:
        placed: A job on real servers.
    """
    rows = [
        [str(cell) if cell is not None else "-" for cell in row.values()]
        for row in placed.records()
    ]
    return tables.show(
        "", markdown_table(["groups", "size", "inside a server", "over the network"], rows)
    )


def run_table(plain: Run, real: Run) -> Markdown:
    """Return what the whole run takes, without failures and with them.

    Args:
        plain: With no stop and no restart.
        real: With what is usual.
    """
    rows = [
        [
            name,
            fixed(run.days, 1),
            f"{fixed(run.days_low, 1)} to {fixed(run.days_high, 1)}",
            fixed(run.gpu_hours / 1e6, 2),
            percent(1.0 if run.goodput is None else run.goodput.fraction),
        ]
        for name, run in (("none", plain), ("as usual", real))
    ]
    columns = ["failures", "days, model", "90 %", "million GPU hours", "goodput"]
    return tables.show("", markdown_table(columns, rows))
