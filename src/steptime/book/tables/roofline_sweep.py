"""Tables and words of §17b."""

from __future__ import annotations

from steptime.book.study.roofline_sweep import SweepStudy
from steptime.book.tables.markdown import Markdown, markdown_table, percent, signed_percent
from steptime.book.tables.sources import source_name


def sweep_table(study: SweepStudy) -> Markdown:
    """Return the errors on the playbook's sweep and the worth of the model's picks.

    Args:
        study: The sweep.
    """
    named = [(str(one.gpus), one) for one in study.sizes]
    named.append((f"all up to {study.whole.gpus}", study.whole))
    rows = [
        [
            name,
            f"{one.runs:,}",
            percent(one.median),
            percent(one.quarter),
            percent(one.stalled, 0),
            percent(one.healthy_median),
            signed_percent(one.pick_excess),
            f"{one.stalled_picks} of {one.picks}",
        ]
        for name, one in named
    ]
    columns = [
        "GPUs",
        "layouts",
        "median error",
        "a quarter stays under",
        "stalled: over twice the prediction",
        "median error of the others",
        "measured time of the pick over the best, median",
        "picks that stalled",
    ]
    return Markdown(markdown_table(columns, rows))


def sweep_alt(study: SweepStudy) -> str:
    """Return what the figure of the sweep shows, in words.

    Args:
        study: The sweep.
    """
    first, last, worst = study.sizes[0], study.sizes[-1], study.worst_pick
    healthy = next(one for one in study.sizes if one.gpus == study.whole.gpus)
    return (
        f"The median error grows from {percent(first.median)} on {first.gpus} GPUs to "
        f"{percent(healthy.median)} on {healthy.gpus} and {percent(last.median)} on {last.gpus}. "
        f"The picks cost at most {percent(worst.pick_excess)}, on {worst.gpus} GPUs, but "
        f"{percent(last.pick_excess)} on {last.gpus}."
    )


def floor_table(study: SweepStudy) -> Markdown:
    """Return how far the same layout moves when it is measured again.

    Sources that measured on one release alone have one row.

    Args:
        study: The repeats.
    """
    rows = []
    renewed = tuple(one for one in study.renewed if one not in study.repeated)
    for name, group in (("same", study.repeated), ("newer or older", renewed)):
        rows += [
            [
                source_name(one.source),
                one.kind,
                name,
                str(one.layouts),
                str(one.runs),
                percent(one.spread),
                percent(one.largest, 0),
            ]
            for one in group
        ]
    columns = [
        "source",
        "runs",
        "software release",
        "layouts",
        "measurements",
        "mean distance from their mean",
        "largest difference",
    ]
    return Markdown(markdown_table(columns, rows))
