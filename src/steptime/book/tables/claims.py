"""Tables of §13 to §16: what was claimed, what the formula gives, what the compiler emitted."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.book.study.claims import Claim, own_sent_bytes
from steptime.book.tables.markdown import Markdown, fixed, markdown_table

KIND_NAMES = {
    "all_reduce": "all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "all_to_all": "all-to-all",
    "permute": "permute",
    "send": "send",
}


def traffic_table(claims: Sequence[Claim], first: str = "claim", formula: str = "formula") -> str:
    """Return one row for each kind and size of collective of each claim.

    Args:
        claims: What was tried.
        first: Head of the first column.
        formula: Head of the column with what should come out.
    """
    columns = [
        first,
        "pass",
        "collective",
        "over",
        "bytes each",
        f"{formula} (count)",
        "compiled (count)",
        "equal",
    ]
    rows = [
        [
            claim.text,
            line.phase,
            KIND_NAMES[line.kind],
            line.axis,
            f"{line.size_bytes:,.0f}",
            str(line.formula),
            f"{line.measured}{' (merged)' if line.merged else ''}",
            line.equal,
        ]
        for claim in claims
        for line in claim.lines
    ]
    return markdown_table(columns, rows)


def numbers_table(claims: Sequence[Claim]) -> str:
    """Return whether each program gives one device's numbers.

    The differences themselves are a few units in the last place and change with the
    processor, so only the verdict is printed.

    Args:
        claims: What was tried.
    """
    columns = [
        "program",
        "devices",
        "gradients or weights compared",
        "equal to one device within 1e-12",
    ]
    rows = [
        [
            claim.program.name,
            str(claim.program.mesh.devices.size),
            str(claim.num_compared),
            claim.exact,
        ]
        for claim in claims
    ]
    return markdown_table(columns, rows)


def effort_table(by_hand: Sequence[Claim], annotated: Sequence[Claim]) -> str:
    """Return what a device sends if split by hand, and if the compiler splits by annotations.

    Args:
        by_hand: Programs with their collectives written out.
        annotated: The same, in the same order, with nothing but the cut of inputs and outputs.
    """
    columns = [
        "program",
        "bytes a device sends, split by hand",
        "bytes a device sends, by annotations alone",
        "ratio",
    ]
    pairs = [
        (one, own_sent_bytes(one), own_sent_bytes(other))
        for one, other in zip(by_hand, annotated, strict=True)
    ]
    rows = [
        [one.program.name, f"{hand:,.0f}", f"{found:,.0f}", fixed(found / hand, 2)]
        for one, hand, found in pairs
    ]
    return markdown_table(columns, rows)


def verdict(claims: Sequence[Claim]) -> Markdown:
    """Return how many claims hold, in one sentence."""
    held = sum(claim.equal and claim.exact for claim in claims)
    return Markdown(
        f"{held} of {len(claims)} programs send exactly what the formulas say and give the "
        "numbers of one device."
    )
