"""Figures of §11 and §11a."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from steptime.book import figures
from steptime.book.figures import colours
from steptime.book.study.baseline import BaselineStudy, Sensitivity
from steptime.evidence.frames import results_frame
from steptime.evidence.validate import Summary


def accuracy(study: BaselineStudy) -> Figure:
    """Return published against predicted TFLOP/s of every row, and the line of equality.

    Args:
        study: The baseline and its rows.
    """
    figure = figures.new(6.4, 4.4)
    axes = figure.add_subplot()
    groups = (
        ("nar21", "Megatron-LM on A100", colours.FORWARD, "o"),
        ("llama3", "Llama 3 405B on H100", colours.BACKWARD, "s"),
    )
    ends = (100.0, 480.0)
    axes.plot(ends, ends, color=colours.MUTED, label="equal")
    for prefix, label, colour, marker in groups:
        rows = [row for row in study.validation.rows if row.id.startswith(prefix)]
        predicted = [row for row in rows if not row.fitted]
        axes.plot(
            [row.published_tflops_per_gpu for row in predicted],
            [row.tflops_per_gpu for row in predicted],
            marker,
            color=colour,
            label=label,
        )
    first = next(row for row in study.validation.rows if row.fitted)
    axes.plot(
        first.published_tflops_per_gpu,
        first.tflops_per_gpu,
        "D",
        markerfacecolor="none",
        color=colours.OTHER,
        label="1.7B, fitted",
    )
    axes.set_xlabel("published (TFLOP/s per GPU)")
    axes.set_ylabel("baseline model (TFLOP/s per GPU)")
    axes.set_xlim(ends)
    axes.set_ylim(ends)
    axes.legend(loc="upper left")
    return figure


def step_parts(study: BaselineStudy) -> Figure:
    """Return where each predicted step goes, as shares of it.

    Args:
        study: The baseline and its rows.
    """
    figure = figures.new(6.4, 4.6)
    axes = figure.add_subplot()
    shown = (
        ("compute", "compute", colours.FORWARD),
        ("tensor_parallel", "tensor-parallel messages", colours.BACKWARD),
        ("context_parallel", "context-parallel messages", colours.SKY),
        ("bubble", "bubble", colours.IDLE),
        ("pipeline_sends", "pipeline sends", colours.WEIGHT),
        ("data_parallel", "data-parallel messages", colours.OTHER),
    )
    frame = results_frame(study.validation)
    names = [
        run.model.name + (f" {run.batch.seq_length // 1024}k" if run.id.startswith("llama") else "")
        for run in study.runs
    ]
    shares = frame[[f"{part}_s" for part, _, _ in shown]].div(frame["step_time_s"], axis=0) * 100.0
    starts = shares.cumsum(axis=1).sub(shares)
    for part, label, colour in shown:
        column = f"{part}_s"
        axes.barh(names, shares[column], left=starts[column], color=colour, label=label)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of the step (%)")
    axes.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.4, -0.14))
    return figure


def sensitivity(base: Summary, changed: Sequence[Sensitivity]) -> Figure:
    """Return by how much each changed assumption moves the mean error, the farthest on top.

    Args:
        base: Errors as the chapter has it.
        changed: Errors under each alternative.
    """
    figure = figures.new(6.4, 4.6)
    axes = figure.add_subplot()
    mean = 100.0 * (base.mean_abs_error_fraction or 0.0)
    moved = {
        item.assumption.name: 100.0 * (item.summary.mean_abs_error_fraction or 0.0) - mean
        for item in changed
    }
    names = sorted(moved, key=lambda name: abs(moved[name]))
    for word, colour, sign in (
        ("error grows", colours.BACKWARD, 1.0),
        ("error shrinks", colours.FORWARD, -1.0),
    ):
        lengths = [moved[name] if sign * moved[name] > 0.0 else 0.0 for name in names]
        axes.barh(names, lengths, left=mean, color=colour, label=word)
    axes.axvline(mean, color=colours.OTHER, label="nothing changed")
    axes.set_xlabel("mean error of the 12 predictions (%)")
    figure.legend(loc="outside upper left", ncols=3)
    return figure
