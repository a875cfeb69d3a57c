"""How a search prints: table, CSV or JSON."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from steptime.answer.predictor import PREDICTORS
from steptime.cli.output import console, percent, print_table, seconds
from steptime.cli.predict import assumptions, print_unstated
from steptime.inputs.fields import BY_NAME
from steptime.inputs.layout import SIZES
from steptime.inputs.rank_order import rank_order
from steptime.planning.cost import Run
from steptime.planning.placement import domains_needed, in_use
from steptime.planning.question import Question

if TYPE_CHECKING:
    from steptime.planning.result import Candidate, SearchResult

RECOMPUTE_WORDS = {"none": "no", "selective": "sel", "full": "full"}
LAYOUT_COLUMNS = SIZES
ALWAYS = ("tp", "cp", "pp", "dp")
"""Sizes that are told of every layout; the others where one is above 1."""
"""Counts of a layout, as JSON, CSV and the table name them."""


def candidate_dict(question: Question, one: Candidate, run: Run | None) -> dict[str, Any]:
    """Return one layout as JSON and CSV hold it, without nesting.

    Args:
        question: What was asked.
        one: The layout.
        run: What the whole training takes at this speed, if that was asked.
    """
    layout = one.layout
    row: dict[str, Any] = {name: getattr(layout, name) for name in LAYOUT_COLUMNS}
    domain = question.accelerator.nvlink_domain
    domains, _ = domains_needed(layout, domain, rank_order(question.order))
    row |= {
        "num_domains": domains,
        "left_over_gpus": domains * domain - layout.num_devices,
        "micro_batch_size": one.batch.micro_batch_size,
        "sequence_parallel": layout.sequence_parallel,
        "zero_stage": layout.zero_stage,
        "recompute": layout.recompute,
        "schedule": layout.schedule,
        "step_time_s": one.step_time_s,
        "memory_bytes": one.memory_bytes,
        "headroom_bytes": one.headroom_bytes,
        "fit_probability": one.fit_probability,
        "tokens_per_s": question.global_batch_size * question.seq_length / one.step_time_s,
    }
    if run is not None:
        row |= {
            "days": run.days,
            "gpu_hours": run.gpu_hours,
            "cost": run.cost,
            "energy_mwh": run.energy_mwh,
        }
    return row


def layout_text(one: Candidate) -> str:
    """Return a layout in one line, as a sentence would name it.

    Args:
        one: The layout.
    """
    layout = one.layout
    sizes = {name: getattr(layout, name) for name in LAYOUT_COLUMNS}
    parts = [
        f"{BY_NAME[name].label} {size}"
        for name, size in sizes.items()
        if size > 1 or name in ALWAYS
    ]
    parts.append(f"micro-batch {one.batch.micro_batch_size}")
    parts.append(f"ZeRO-{layout.zero_stage}")
    parts.append(f"recompute {layout.recompute}")
    if layout.sequence_parallel:
        parts.append("sequence parallel")
    return ", ".join(parts)


def print_result(result: SearchResult, shown: list[Candidate], runs: list[Run | None]) -> None:
    """Print a search's best layouts, and what became of the rest.

    Args:
        result: The search.
        shown: The layouts to print.
        runs: What the training takes with each, or None.
    """
    _print_layouts(result, shown, runs)
    _print_first(result, shown[0])
    _print_ties(result)
    out = console()
    out.print(
        f"{result.num_evaluated:,} layouts timed in {seconds(result.elapsed_s)} "
        f"({result.layouts_per_s:,.0f} a second), {result.num_fitting:,} fit in memory; "
        f"{len(result.front)} on the front of time and memory"
    )
    for reason, count in result.dropped.items():
        out.print(f"  dropped {count:,}: {reason}")


def _print_layouts(result: SearchResult, shown: list[Candidate], runs: list[Run | None]) -> None:
    question = result.question
    model = PREDICTORS[str(question.predictor)].title
    title = (
        f"{question.model.name} on {question.num_devices} x {question.accelerator.name}, "
        f"batch {question.global_batch_size} x {question.seq_length} ({model})"
    )
    sizes = [name for name in LAYOUT_COLUMNS if _shown(shown, name)]
    heads = [
        "step s",
        *(BY_NAME[name].label for name in sizes),
        "mb",
        "SP",
        "ZeRO",
        "redo",
        "GB",
        "full",
        "fits",
    ]
    if runs and runs[0] is not None:
        heads += ["days", "cost", "MWh"]
    tie = shown[0].step_time_s * (1.0 + result.tie_fraction)
    rows = []
    for one, run in zip(shown, runs, strict=True):
        mark = "=" if one.step_time_s <= tie and one is not shown[0] else ""
        row = [f"{mark}{one.step_time_s:.4g}", *_cells(question, one, sizes)]
        if run is not None:
            row += [f"{run.days:.1f}", amount(run.cost), amount(run.energy_mwh)]
        rows.append(row)
    print_table(title, [(head, "right") for head in heads], rows)
    console().print(
        "mb micro-batch, SP sequence parallel, redo recomputation, full share of the memory, "
        "fits chance that it fits"
    )


def _shown(shown: list[Candidate], name: str) -> bool:
    """Return whether a count is worth a column: not where it is 1 in all that are shown."""
    return name in ALWAYS or any(getattr(one.layout, name) > 1 for one in shown)


def _cells(question: Question, one: Candidate, sizes: list[str]) -> list[str]:
    layout = one.layout
    return [
        *(str(getattr(layout, name)) for name in sizes),
        str(one.batch.micro_batch_size),
        "yes" if layout.sequence_parallel else "no",
        str(layout.zero_stage),
        RECOMPUTE_WORDS[layout.recompute],
        f"{one.memory_bytes / 1e9:.1f}",
        f"{100 * one.memory_bytes / question.accelerator.hbm_bytes:.0f}%",
        "-" if one.fit_probability is None else f"{100 * one.fit_probability:.0f}%",
    ]


def _print_first(result: SearchResult, first: Candidate) -> None:
    from steptime.planning.result import answered

    question, out = result.question, console()
    domain = question.accelerator.nvlink_domain
    domains, used = domains_needed(first.layout, domain, rank_order(question.order))
    left = domains * domain - question.num_devices
    works = in_use(used, domains, question.num_devices)
    out.print(f"the first fills {domains:,} domains of {domain}, {works}, {left:,} left over")
    found = answered(question, first)
    if found.step_time_low_s is not None and found.step_time_high_s is not None:
        low, high = seconds(found.step_time_low_s), seconds(found.step_time_high_s)
        out.print(f"90 % interval of the first: {low} to {high}; layouts share most of that error")
    taken = [str(one) for one in found.assumed if one not in found.beyond]
    if taken:
        out.print("assumed of the first: " + "; ".join(taken), markup=False)
    for beyond in found.beyond:
        out.print(str(beyond), markup=False)
    print_unstated(found.unstated)


def _print_ties(result: SearchResult) -> None:
    out = console()
    at_least = "at least " if result.num_ties == len(result.best) > 1 else ""
    out.print(
        f"= cannot be told from the best: within {percent(result.tie_fraction)} of its time; "
        f"{at_least}{result.num_ties:,} layouts are"
    )
    roomy = result.best[result.roomiest]
    if result.roomiest:
        out.print(
            f"most memory to spare among them: {layout_text(roomy)}: "
            f"{seconds(roomy.step_time_s)}, {roomy.memory_bytes / 1e9:.1f} GB "
            f"(--choice {result.roomiest + 1})"
        )


def amount(value: float | None) -> str:
    """Return a large amount for the eye: in millions from ten million on."""
    if value is None:
        return "-"
    return f"{value / 1e6:,.2f}M" if value >= 1e7 else f"{value:,.0f}"


def csv_text(question: Question, shown: list[Candidate], runs: list[Run | None]) -> str:
    """Return the layouts as CSV, floats in full."""
    rows = [candidate_dict(question, one, run) for one, run in zip(shown, runs, strict=True)]
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def result_dict(
    result: SearchResult, shown: list[Candidate], runs: list[Run | None]
) -> dict[str, Any]:
    """Return a search as JSON holds it.

    Args:
        result: The search.
        shown: The layouts to list.
        runs: What the training takes with each, or None.
    """
    from steptime.planning.result import answered

    question = result.question
    best = result.best[0]
    found = answered(question, best)
    return question.summary() | {
        "order": question.order,
        "fits_with": question.fits_with,
        "num_evaluated": result.num_evaluated,
        "num_fitting": result.num_fitting,
        "elapsed_s": result.elapsed_s,
        "layouts_per_s": result.layouts_per_s,
        "tie_fraction": result.tie_fraction,
        "num_ties": result.num_ties,
        "roomiest_tie": candidate_dict(question, result.best[result.roomiest], None)
        | {"choice": result.roomiest + 1},
        "dropped": result.dropped,
        "best_step_time_low_s": found.step_time_low_s,
        "best_step_time_high_s": found.step_time_high_s,
        "best_breakdown_s": dict(found.breakdown_s),
        "best_memory_bytes": found.memory.fullest.parts_bytes,
        "software": found.software.stack.name,
        "assumptions": assumptions(found.assumed),
        "beyond": assumptions(found.beyond),
        "unstated": [asdict(one) for one in found.unstated],
        "layouts": [
            candidate_dict(question, one, run) for one, run in zip(shown, runs, strict=True)
        ],
    }
