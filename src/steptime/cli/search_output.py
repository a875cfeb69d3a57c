"""How a search prints: table, CSV or JSON."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from steptime.cli.output import console, percent, seconds
from steptime.cli.predict import assumptions, print_unstated
from steptime.cli.search_table import ALWAYS, Line, print_goodput, print_layouts, print_runs
from steptime.inputs.ability import NOT_RUN, not_had
from steptime.inputs.chance import chance_text
from steptime.inputs.fields import BY_NAME, SIZES
from steptime.inputs.layout import STAGE_FIELDS
from steptime.inputs.rank_order import rank_order
from steptime.planning.cost import Run
from steptime.planning.placement import domains_needed, in_use
from steptime.planning.question import Question

if TYPE_CHECKING:
    from steptime.planning.result import Candidate, SearchResult


def candidate_dict(question: Question, one: Candidate, run: Run | None) -> dict[str, Any]:
    """Return one layout as JSON and CSV hold it, without nesting.

    Args:
        question: What was asked.
        one: The layout.
        run: What the whole training takes at this speed, if that was asked.
    """
    from steptime.planning.result import candidate_row

    row = candidate_row(question, one)
    if run is None:
        return row
    names = ("days", "gpu_hours", "cost", "energy_mwh")
    more = ("days_low", "days_high", "cost_low", "cost_high")
    return row | {name: getattr(run, name) for name in (*names, *more)}


def layout_text(one: Candidate) -> str:
    """Return a layout in one line, as a sentence would name it.

    Args:
        one: The layout.
    """
    layout = one.layout
    sizes = {name: getattr(layout, name) for name in SIZES}
    parts = [
        f"{BY_NAME[name].label} {size}"
        for name, size in sizes.items()
        if size > 1 or name in ALWAYS
    ]
    ends = [f"{BY_NAME[name].label} {getattr(layout, name)}" for name in STAGE_FIELDS]
    parts += (
        [f"layers: {' '.join(ends)}"]
        if layout.first_stage_layers + layout.last_stage_layers
        else []
    )
    parts.append(f"micro-batch {one.batch.micro_batch_size}")
    parts.append(f"ZeRO-{layout.zero_stage}")
    parts.append(f"recompute {layout.recompute}")
    if layout.sequence_parallel:
        parts.append("sequence parallel")
    return ", ".join(parts)


def print_result(result: SearchResult, shown: list[Line], runs: list[Run | None]) -> None:
    """Print a search's best layouts, and what became of the rest.

    Args:
        result: The search.
        shown: The layouts to print.
        runs: What the training takes with each, or None.
    """
    print_layouts(result, shown)
    _print_first(result, shown[0].one)
    _print_not_run(result, shown)
    known = [run for run in runs if run is not None]
    if known:
        print_runs(shown, known)
        if known[0].goodput is not None:
            print_goodput(known[0].goodput)
    _print_ties(result)
    out = console()
    if result.caution:
        out.print(result.caution, markup=False)
        _print_trade_off(result)
    out.print(
        f"{result.num_evaluated:,} layouts timed, {result.num_fitting:,} fit{_sure(result)}; "
        f"{len(result.front)} on the front of time and memory"
    )
    if result.splits.timed:
        remark = f"; {result.splits.remark}" if result.splits.remark else ""
        out.print(
            f"{result.splits.timed:,} splits of layers over stages timed for the fastest{remark}"
        )
    out.print(f"timed in {seconds(result.elapsed_s)}, {result.layouts_per_s:,.0f} a second")
    for reason, count in result.dropped.items():
        out.print(f"  dropped {count:,}: {reason}")


def _print_trade_off(result: SearchResult) -> None:
    """Print what a smaller chance to fit would save."""
    rows = result.trade_off
    for one in rows if len(rows) > 1 else ():
        chance, size = chance_text(one.fit_probability), f"{one.memory_bytes / 1e9:.1f} GB"
        console().print(
            f"  fits with {chance}: {seconds(one.step_time_s)}, {size}: {layout_text(one)}",
            markup=False,
        )


def _sure(result: SearchResult) -> str:
    """Return the chance with which ranked layouts fit, as a sentence goes on."""
    asked = result.question.fits_with
    return f" with {asked * 100:g} % and more" if asked else " in memory"


def _print_first(result: SearchResult, first: Candidate) -> None:
    from steptime.planning.result import answered

    question, out = result.question, console()
    domain = question.accelerator.nvlink_domain
    domains, used = domains_needed(first.layout, domain, rank_order(question.order))
    left = domains * domain - question.num_devices
    works = in_use(used, domains, question.num_devices)
    if domains == 1:
        out.print(f"the first is inside one domain, of {domain:,}: {works}")
    else:
        out.print(f"the first fills {domains:,} domains of {domain:,}, {works}, {left:,} left over")
    found = answered(question, first)
    if found.step_time_low_s is not None and found.step_time_high_s is not None:
        low, high = seconds(found.step_time_low_s), seconds(found.step_time_high_s)
        out.print(f"90 % interval of the first: {low} to {high}; layouts share most of that error")
    # What the software does not run is said of every layout, with its place.
    taken = [str(one) for one in found.assumed if one not in found.beyond and one.what != NOT_RUN]
    if taken:
        out.print("assumed of the first: " + "; ".join(taken), markup=False)
    for beyond in found.beyond:
        out.print(str(beyond), markup=False)
    print_unstated(found.unstated)


def _print_not_run(result: SearchResult, shown: list[Line]) -> None:
    """Print which of the layouts ask more than the named software runs, and what."""
    places: dict[str, list[str]] = {}
    for line in shown:
        for one in not_had(result.question.said, line.one.layout, line.one.batch):
            places.setdefault(one.why, []).append(f"{line.choice:,}")
    for why, choices in places.items():
        console().print(f"{NOT_RUN}: layout {', '.join(choices)}: {why}", markup=False)


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
    best, run = result.best[0], runs[0]
    found = answered(question, best)
    return question.summary() | {
        "order": question.order,
        "fits_with": question.fits_with,
        "num_evaluated": result.num_evaluated,
        "num_fitting": result.num_fitting,
        "num_splits": result.splits.timed,
        "splits": asdict(result.splits),
        "caution": result.caution,
        "trade_off": [candidate_dict(question, one, None) for one in result.trade_off],
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
        "goodput": None if run is None or run.goodput is None else asdict(run.goodput),
        "layouts": [
            candidate_dict(question, one, run) for one, run in zip(shown, runs, strict=True)
        ],
        "not_run": [
            [lack.why for lack in not_had(question.said, one.layout, one.batch)] for one in shown
        ],
    }
