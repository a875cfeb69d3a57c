"""Tables of §14."""

from __future__ import annotations

from steptime.book import tables
from steptime.book.study.context import ContextStudy
from steptime.book.tables.claims import effort_table, numbers_table, traffic_table
from steptime.book.tables.markdown import Markdown, markdown_table, percent


def claims_table(study: ContextStudy) -> Markdown:
    """Return claim, formula, compiled and equal, then the numbers.

    Args:
        study: What was run.
    """
    claims = [*study.sequence, *study.attention]
    return tables.show(traffic_table(claims), numbers_table(claims))


def annotations_table(study: ContextStudy) -> Markdown:
    """Return what a device sends by hand and by annotations.

    Args:
        study: What was run.
    """
    return tables.show(
        "The unsplit program, compiled with nothing but the cut of its inputs and outputs:",
        effort_table(study.by_hand, study.annotated),
    )


def memory_table(study: ContextStudy) -> Markdown:
    """Return activations kept by one device, by the formula and by the compiler.

    Args:
        study: What was run.
    """
    columns = [
        "sequence parallel",
        "recomputation",
        "t",
        "formula (bytes)",
        "compiler's account (bytes)",
        "equal",
    ]
    rows = [
        [
            one.sequence_parallel,
            one.recompute,
            str(one.tensor_parallel_size),
            f"{one.formula_bytes:,.0f}",
            f"{one.compiled_bytes:,}",
            one.equal,
        ]
        for one in study.memory
    ]
    return tables.show(
        "Activations that one device keeps of one layer and micro-batch, in bf16 with dropout, "
        "without flash attention; weights taken off:",
        markdown_table(columns, rows),
    )


def work_table(study: ContextStudy) -> Markdown:
    """Return the work of each device under a causal mask, counted and by the formula.

    Args:
        study: What was run.
    """
    columns = [
        "order of tokens",
        "device",
        "formula (pairs)",
        "counted (pairs)",
        "equal",
    ]
    rows = [
        [one.order, str(device), f"{wanted:,.0f}", f"{counted:,}", bool(wanted == counted)]
        for one in study.work
        for device, (wanted, counted) in enumerate(
            zip(one.formula, one.by_step.sum(1), strict=True)
        )
    ]
    rows += [
        [
            one.order,
            "the ring waits for",
            f"{one.ring_formula:,.0f}",
            f"{one.ring_pairs:,}",
            bool(one.ring_formula == one.ring_pairs),
        ]
        for one in study.work
    ]
    said = ", ".join(f"{one.order} {percent(one.efficiency)}" for one in study.work)
    return tables.show(
        "Pairs of a query and a key that it sees, by device:",
        markdown_table(columns, rows),
        f"Mean work over what the ring waits for: {said}.",
    )
