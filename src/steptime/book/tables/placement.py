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
    return f"{count.crossing:,} / {count.inside + count.crossing:,}"


def groups_table(study: Sequence[Placed]) -> Markdown:
    """Return, for each job, order and domain, how many groups of each kind cross.

    Args:
        study: All jobs.
    """
    columns = ["job", "order", "domain", *(f"{kind} across" for kind in KINDS[:4])]
    columns += ["hops across", "left over"]
    rows = []
    for one in study:
        for size, placement in one.placements.items():
            hops = placement.num_hops
            rows.append(
                [
                    one.example.name,
                    one.order,
                    str(size),
                    *(_crossing(one, size, kind) for kind in KINDS[:4]),
                    f"{placement.hops_crossing:,} / {hops:,}" if hops else MISSING,
                    f"{placement.left_over:,}",
                ]
            )
    return tables.show(
        "Jobs by parameters and by t x c x p x d (c where over 1): GPT-3, Llama 3, DeepSeek-V3. "
        "Across: groups with a rank outside their NVLink domain, of all of the kind; data groups "
        "are c d ranks. Hops: between pipeline stages, the last handing over to the first where "
        "a device holds several chunks. Left over: GPUs of the domains in use. All counted. "
        "Orders, nearest first: megatron tp-cp-dp-pp, llama3 tp-cp-pp-dp.",
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
            one.order,
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
