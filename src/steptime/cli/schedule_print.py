"""What `steptime schedule` prints: a timeline drawn as text, and what it amounts to."""

from __future__ import annotations

import math

from rich.text import Text

from steptime.cli.output import console, print_table
from steptime.pipeline.draw import drawing
from steptime.pipeline.report import held_series, summary
from steptime.pipeline.timeline import Timeline

COLOURS = {"F": "white on blue", "B": "black on dark_orange", "I": "black on dark_orange"}
COLOURS |= {"W": "black on green", ".": "dim", "": ""}


def print_drawing(timeline: Timeline) -> None:
    """Print a timeline as text.

    Args:
        timeline: Any; of a deadlock, what ran is drawn.
    """
    out = console()
    columns = out.width if out.is_terminal else 80
    for line in drawing(timeline, columns):
        out.print(Text.assemble(*((text, COLOURS[kind]) for text, kind in line)), soft_wrap=True)


def print_summary(
    timeline: Timeline, unit_seconds: float | None, activation_bytes: float, kept: float
) -> None:
    """Print what a timeline amounts to.

    Args:
        timeline: Of orders that finish.
        unit_seconds: Seconds in its unit of time, if they are known.
        activation_bytes: Activations of one micro-batch in one chunk; 0 leaves bytes out.
        kept: Share of them that W needs after I.
    """
    out = console()
    numbers = summary(timeline)
    seconds = "" if unit_seconds is None else f" = {numbers['makespan'] * unit_seconds:.4g} s"
    out.print(
        f"\nmakespan {numbers['makespan']:g}{seconds}   idle {numbers['bubble_fraction']:.1%} of "
        f"the step = {numbers['bubble_overhead']:.2%} of useful work",
        soft_wrap=True,
    )
    columns = ["rank", "held", "idle", "fill", "drain", "send", "imbalance", "sends"]
    rows = []
    for rank, cause in enumerate(numbers["idle_by_cause"]):
        cells = [math.fsum(cause.values()), *(cause[key] for key in columns[3:7])]
        shown = [f"{value:.4g}" for value in cells]
        peak, sent = numbers["peak_in_flight"][rank], numbers["sends"][rank]
        row = [str(rank), str(peak), *shown, str(sent)]
        if activation_bytes:
            held = held_series(timeline, rank, activation_bytes, kept)["peak"]
            row.append(f"{held / 1e9:.4g}")
        rows.append(row)
    heads = [*columns, "GB"] if activation_bytes else columns
    print_table("idle time by cause, per rank", [(head, "right") for head in heads], rows)
