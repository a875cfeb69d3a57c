"""Tables of §19."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.book import tables
from steptime.book.study.placement import Placed
from steptime.book.tables.markdown import MISSING, Markdown, fixed, markdown_table, percent

KINDS = ("tensor", "context", "expert", "data", "pipeline")


def _crossing(one: Placed, size: int, kind: str) -> str:
    """Return crossing groups of all, or a dash where groups are of one rank."""
    count = one.placements[size].group(kind)
    if count.size == 1:
        return MISSING
    return f"{count.crossing:,} of {count.inside + count.crossing:,}"


def groups_table(study: Sequence[Placed]) -> Markdown:
    """Return, for each job, order and domain, how many groups of each kind cross.

    Args:
        study: All jobs.
    """
    columns = ["job", "order", "domain", *(f"{kind} groups that cross" for kind in KINDS[:4])]
    columns += ["pipeline hops that cross", "left over GPUs"]
    rows = []
    for one in study:
        for size, placement in one.placements.items():
            hops = placement.hops_inside + placement.hops_crossing
            rows.append(
                [
                    one.example.name,
                    "-".join(placement.order),
                    str(size),
                    *(_crossing(one, size, kind) for kind in KINDS[:4]),
                    f"{placement.hops_crossing:,} of {hops:,}" if hops else MISSING,
                    f"{placement.left_over:,}",
                ]
            )
    return tables.show(
        "Groups with a rank outside their NVLink domain, of all groups of the kind, and pipeline "
        "hops between domains (with several chunks a device, the last stage also hands over to "
        "the first). Counted, not fitted.",
        markdown_table(columns, rows),
    )


def times_table(study: Sequence[Placed]) -> Markdown:
    """Return the step times on each kind of domain.

    Args:
        study: All jobs.
    """
    sizes = sorted(study[0].step_s)
    columns = ["job", "order", *(f"step, domains of {size} (s), model" for size in sizes)]
    columns.append("saved by the larger domain")
    rows = [
        [
            one.example.name,
            "-".join(next(iter(one.placements.values())).order),
            *(fixed(one.step_s[size], 2) for size in sizes),
            percent(one.gain_fraction),
        ]
        for one in study
    ]
    return tables.show(
        "Step time by the baseline model on GB200, every kind of group on the slowest link that "
        "one of its groups crosses. Only the size of the domain differs.",
        markdown_table(columns, rows),
    )
