"""Tables of §20."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.book import tables
from steptime.book.study.search import Chosen, Ordering, SearchStudy, Suggestion
from steptime.book.tables.markdown import Markdown, fixed, markdown_table, percent
from steptime.planning.result import Candidate


def layout_cells(one: Candidate) -> str:
    """Return a layout in one cell.

    Args:
        one: The layout.
    """
    layout = one.layout
    sizes = [f"t {layout.tp}", f"c {layout.cp}", f"p {layout.pp}", f"v {layout.vpp}"]
    sizes += [f"d {layout.dp}", f"e {layout.ep}"]
    kept = [text for text in sizes if not text.endswith(" 1")] or ["d 1"]
    kept.append(f"b {one.batch.micro_batch_size}")
    kept.append(f"Z{layout.zero_stage}")
    if layout.recompute != "none":
        kept.append(f"{layout.recompute} recompute")
    return ", ".join(kept)


def chosen_table(study: SearchStudy) -> Markdown:
    """Return the authors' layouts beside the best ones, and the predicted gain.

    Args:
        study: The searches.
    """
    columns = ["run", "GPUs", "the authors' layout", "step (s), model"]
    columns += ["found, recomputing alike", "gain, model", "found, all open", "gain, model (all)"]
    rows = [_chosen_row(one) for one in study.chosen]
    return tables.show(
        "t c p v d e: tensor, context, pipeline, chunks, data, expert; b micro-batch; Z ZeRO "
        "stage. Both layouts are timed by the same model, with today's software, on the devices "
        "of the run; the gain is time saved. = is a difference that the model cannot tell. Chunks "
        "that a source leaves out are as many as there can be: for Llama 3 they keep more "
        "micro-batches in flight than the single chunk of §18, hence the memory.",
        markdown_table(columns, rows),
    )


def _chosen_row(one: Chosen) -> list[str]:
    run = one.run
    alike, best = one.gain_fraction(one.alike), one.gain_fraction(one.best)
    over = "" if one.own.headroom_bytes >= 0 else " (over the memory limit)"
    return [
        f"{run.run.row.model}, {run.run.row.gpu.split()[0]}, {run.step.layout.precision}",
        f"{run.step.layout.num_devices:,}",
        layout_cells(one.own) + over,
        fixed(one.own.step_time_s, 2),
        layout_cells(one.alike),
        ("= " if alike <= one.tie_fraction else "") + percent(alike),
        layout_cells(one.best),
        ("= " if best <= one.tie_fraction else "") + percent(best),
    ]


def suggestion_table(one: Suggestion, most: int = 5) -> Markdown:
    """Return the best layouts of one search, and the published one below.

    Args:
        one: The search.
        most: Layouts to show.
    """
    result = one.result
    columns = ["layout", "step (s), model", "memory (GB), model", "schedule", "sequence parallel"]
    shown = [("", candidate) for candidate in result.best[:most]]
    shown.append((" (the authors')", one.published))
    rows = [
        [
            layout_cells(candidate) + note,
            fixed(candidate.step_time_s, 2),
            fixed(candidate.memory_bytes / 1e9, 1),
            candidate.layout.schedule,
            candidate.layout.sequence_parallel,
        ]
        for note, candidate in shown
    ]
    reasons = "; ".join(f"{count:,} for {reason}" for reason, count in result.dropped.items())
    return tables.show(
        f"**{one.name}**, {result.num_evaluated:,} layouts timed, {result.num_fitting:,} fit, "
        f"{_ties(result.num_ties, len(result.best))} within {percent(result.tie_fraction, 0)} of "
        f"the best; {len(result.front)} on the front of time against memory. All are timed with "
        "the facts of the authors' own software.",
        markdown_table(columns, rows),
        f"Dropped: {reasons}.",
    )


def _ties(ties: int, kept: int) -> str:
    return f"{'at least ' if ties == kept else ''}{ties:,}"


def ordering_table(orderings: Sequence[Ordering]) -> Markdown:
    """Return how often published layouts are in the order that each model says.

    Args:
        orderings: One for each model.
    """
    columns = ["predicted difference"]
    columns += [
        head for one in orderings for head in (f"{one.predictor}: pairs", f"{one.predictor}: right")
    ]
    rows = []
    for place, (low, high, _, _) in enumerate(orderings[0].bands):
        row = [f"{percent(low, 0)} to {percent(high, 0)}"]
        for one in orderings:
            _, _, number, share = one.bands[place]
            row += [f"{number:,}", percent(share, 0)]
        rows.append(row)
    notes = " ".join(
        f"Choosing by the {one.predictor} model among the published layouts of {one.groups} runs "
        f"would have cost {percent(one.mean_regret_fraction)} of measured time on average, "
        f"{percent(one.worst_regret_fraction)} at worst."
        for one in orderings
    )
    return tables.show(
        "Pairs of published runs of one model, on the same devices with the same batch, that "
        "differ in their layout alone, both predicted within 1.5 times the best: how often the "
        "one predicted faster was measured faster.",
        markdown_table(columns, rows),
        notes,
    )
