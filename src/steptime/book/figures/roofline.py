"""Figures of §17, §17a and §17b."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from steptime.book import figures
from steptime.book.figures import colours
from steptime.book.study.roofline import RooflineStudy, years
from steptime.book.study.roofline_sweep import SweepStudy
from steptime.book.tables.sources import source_name
from steptime.evidence.ablation import Ablation
from steptime.evidence.residuals import DENSE, EXPERTS, NARROW

KIND_COLOURS = {
    DENSE: (colours.FORWARD, "o"),
    NARROW: (colours.BACKWARD, "s"),
    EXPERTS: (colours.OTHER, "^"),
}


def accuracy(study: RooflineStudy) -> Figure:
    """Return predicted against published step time of all left-out runs, both on log scales.

    Args:
        study: Left-out errors.
    """
    figure = figures.new(6.4, 5.0)
    axes = figure.add_subplot()
    published = study.result.runs.step_time_s
    predicted = published * np.exp(study.result.errors)
    kinds = study.result.runs.column(lambda sample: sample.kind)
    both = np.concatenate([published, predicted])
    ends = np.array([both.min() / 1.5, both.max() * 1.5])
    axes.plot(ends, ends, color=colours.MUTED, label="equal")
    axes.fill_between(ends, ends / 1.1, ends * 1.1, color=colours.IDLE, label="within 10 %")
    for kind, (colour, marker) in KIND_COLOURS.items():
        here = kinds == kind
        axes.plot(
            published[here], predicted[here], marker, ms=3.5, color=colour, alpha=0.7, label=kind
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_xlabel("published step time (s)")
    axes.set_ylabel("predicted, source left out (s)")
    axes.legend(loc="upper left")
    return figure


def against(study: RooflineStudy) -> Figure:
    """Return the left-out error against model size, width, t, p and year.

    Args:
        study: Left-out errors.
    """
    figure = figures.new(6.4, 6.4)
    jobs = study.result.runs.jobs
    kinds = study.result.runs.column(lambda sample: sample.kind)
    size = study.result.runs.column(
        lambda sample: sample.inputs.run.row.params_b or float("nan"),
    )
    shown = (
        ("parameters (billion)", size, True),
        ("hidden size", jobs.hidden_size, True),
        ("tensor-parallel size t", jobs.tp, True),
        ("pipeline stages p", jobs.pp, True),
        ("devices", jobs.tp * jobs.cp * jobs.pp * jobs.dp, True),
        ("year", years(study), False),
    )
    for at, (label, values, log) in enumerate(shown):
        axes = figure.add_subplot(3, 2, at + 1)
        for kind, (colour, marker) in KIND_COLOURS.items():
            here = kinds == kind
            axes.plot(
                values[here],
                100.0 * np.expm1(study.result.errors[here]),
                marker,
                ms=2.5,
                color=colour,
                alpha=0.6,
                label=kind,
            )
        axes.axhline(0.0, color=colours.MUTED)
        if log:
            axes.set_xscale("log", base=2 if "size t" in label or "stages" in label else 10)
        axes.set_xlabel(label)
        axes.set_ylim(-60, 60)
        if at % 2 == 0:
            axes.set_ylabel("error (%)")
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=3)
    return figure


def rivals(study: RooflineStudy) -> Figure:
    """Return the mean left-out error by source: constant share, baseline, roofline.

    Args:
        study: Left-out errors.
    """
    figure = figures.new(6.4, 4.4)
    axes = figure.add_subplot()
    chosen = [one for one in study.sources if one.kind == DENSE]
    places = np.arange(len(chosen))
    series = (
        ("one share of the peak", [one.constant_mean for one in chosen], colours.IDLE),
        ("baseline", [one.baseline_mean for one in chosen], colours.SKY),
        ("roofline", [one.roofline.mean for one in chosen], colours.FORWARD),
    )
    for at, (label, values, colour) in enumerate(series):
        axes.barh(
            places + 0.27 * (at - 1), 100.0 * np.array(values), 0.25, color=colour, label=label
        )
    axes.set_yticks(places, [source_name(one.source) for one in chosen])
    axes.invert_yaxis()
    axes.set_xlabel("mean error on step time, left out (%)")
    figure.legend(loc="outside upper left", ncols=3)
    return figure


def ablation(found: Sequence[Ablation]) -> Figure:
    """Return the mean error without each effect.

    Args:
        found: The whole model first.
    """
    figure = figures.new(6.4, 5.4)
    axes = figure.add_subplot()
    names = [one.name for one in found[1:]]
    axes.barh(names, [100.0 * one.mean for one in found[1:]], color=colours.SKY)
    axes.axvline(100.0 * found[0].mean, color=colours.OTHER, label="the whole model")
    axes.invert_yaxis()
    axes.set_xlabel("mean error without the effect, the rest fitted again (%)")
    figure.legend(loc="outside upper left", ncols=3)
    return figure


def sweep(study: SweepStudy) -> Figure:
    """Return the error on the playbook's sweep by number of GPUs.

    Args:
        study: The sweep.
    """
    figure = figures.new()
    axes = figure.add_subplot()
    gpus = [one.gpus for one in study.sizes]
    axes.plot(gpus, [100.0 * one.median for one in study.sizes], "o-", label="median error")
    axes.plot(
        gpus, [100.0 * one.quarter for one in study.sizes], "s--", label="a quarter stays under"
    )
    axes.plot(
        gpus,
        [100.0 * (one.pick - 1.0) for one in study.sizes],
        "^:",
        label="the pick's measured time over the best",
    )
    axes.set_xscale("log", base=2)
    axes.set_xticks(gpus, [str(count) for count in gpus])
    axes.set_yscale("symlog", linthresh=5.0)
    axes.set_ylim(0, None)
    axes.set_xlabel("GPUs")
    axes.set_ylabel("percent")
    axes.legend(loc="upper left")
    return figure
