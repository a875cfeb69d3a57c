"""`steptime trace`: a measured run beside the predicted one, part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from steptime.answer.answer import Prediction, answer
from steptime.answer.question import Question
from steptime.cli import options as opt
from steptime.cli.output import console, percent, print_json, print_table, reading, seconds
from steptime.cli.predict import as_dict as prediction_dict
from steptime.cli.schedule_files import write
from steptime.cli.trace_figure import figure
from steptime.cli.trace_log import print_interval, show_log
from steptime.cli.trace_question import takes_maybe_step
from steptime.evidence.trace_beside import Row, beside, predicted_parts
from steptime.evidence.trace_contradicts import contradictions
from steptime.evidence.trace_parts import MeasuredStep, measured_step
from steptime.inputs.errors import ConfigError
from steptime.inputs.in_number import counted
from steptime.inputs.layout import Layout
from steptime.inputs.training_step import TrainingStep
from steptime.planning.causes import Asker
from steptime.planning.part_causes import PartCause, part_causes
from steptime.readers.trace.events import is_trace
from steptime.readers.trace.rank import read_ranks
from steptime.readers.trace.run_log import read_log

EXAMPLES = """
Examples:

- `steptime trace my_rank0.json.gz my_rank1.json.gz -m llama3-8b -a h100 --tp 2 -s 4096 -B 8`

- `steptime trace my_trace.json --launch train.toml --accelerator h100 --figure beside.svg`

- `steptime trace my_megatron.log -m llama3-70b -a h100 --tp 8 --pp 4 --dp 16 -s 8192 -B 1024`

- `steptime trace my_rank*.json --json`
"""
_CAUSES_SHOWN, _ASKED_SHOWN = 3, 2
_UNKNOWN_SHOWN = 10
_TICK_S = 1e-9


def register(app: typer.Typer) -> None:
    """Add the command to the application.

    Args:
        app: The application.
    """
    app.command("trace", epilog=EXAMPLES)(trace_command)


@takes_maybe_step
def trace_command(
    step: TrainingStep | None,
    layout: Layout | None,
    how: opt.How,
    ruled_out: frozenset[str],
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Traces of the PyTorch profiler, a rank each, or the log of a run; or packed.",
            metavar="FILE...",
        ),
    ],
    figure_file: Annotated[
        Path | None,
        typer.Option("--figure", help="Write a drawing, measured beside predicted.", writable=True),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show your own run beside the prediction: a profiler's trace, or a log."""
    told = None
    if step is not None:
        told = answer(Question(step=step, predictor=how.predictor, constants=how.constants))
    kinds = {is_trace(path) for path in paths}
    if kinds == {False}:
        if len(paths) > 1 or figure_file is not None:
            raise ConfigError("one log at a time, and without --figure: it has no parts to draw")
        show_log(read_log(paths[0]), told, how.constants, as_json, ruled_out)
        return
    if kinds != {True}:
        raise ConfigError("give traces, or a log, not both at once")
    with reading(paths) as seen:
        ranks = read_ranks(paths, seen=seen)
    _refuse_twice(paths)
    measured = measured_step(ranks, layout)
    said = {} if told is None else predicted_parts(told, how.constants)
    rows = beside(measured.parts_s, measured.hidden_s, said)
    notes = () if told is None else contradictions(ranks, told)
    # The gap between two different runs has no cause to look for.
    causes = {} if told is None or notes else part_causes(rows, _asker(told, how, ruled_out))
    if figure_file is not None:
        write(
            figure_file,
            figure(rows, measured.step_time_s, None if told is None else told.step_time_s),
        )
    if as_json:
        print_json(as_dict(measured, rows, causes, told) | {"notes": list(notes)})
    else:
        for note in notes:
            console().print(f"{note}: their steps are not the same", markup=False)
        _print(measured, rows, causes, told)


def _refuse_twice(paths: Sequence[Path]) -> None:
    """Refuse a file that is given twice and does not say its rank: it would count as two."""
    for place, path in enumerate(paths):
        for other in paths[:place]:
            if path.exists() and other.exists() and path.samefile(other):
                raise ConfigError(
                    f"{path} is given twice, as {other} before: a trace of each rank, once"
                )


def _asker(told: Prediction, how: opt.How, ruled_out: frozenset[str]) -> Asker:
    """Return who asks the model what a gap could be, in the words of the software it runs on."""
    return Asker(
        own=told,
        software=told.software.stack.family,
        constants=how.constants,
        ruled_out=ruled_out,
    )


def as_dict(
    measured: MeasuredStep,
    rows: tuple[Row, ...],
    causes: Mapping[str, PartCause],
    told: Prediction | None,
) -> dict[str, Any]:
    """Return a measured step as JSON holds it.

    Args:
        measured: The step.
        rows: Its parts beside the predicted ones.
        causes: Of their gaps, by part.
        told: The prediction; None without one.
    """
    return {
        "step": measured.steady.name,
        "how": measured.steady.how,
        "ranks": list(measured.ranks),
        "on_device": measured.on_device,
        "step_time_s": measured.step_time_s,
        "steps_s": list(measured.steady.durations_s),
        "parts": [_row(row, causes.get(row.part), told is not None) for row in rows],
        "ranks_s": [{k: v for k, v in one.items() if v} for one in measured.ranks_s],
        "unknown_s": measured.unknown_s,
        "prediction": None if told is None else prediction_dict(told),
    }


def _row(row: Row, cause: PartCause | None, compared: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"part": row.part, "measured_s": row.measured_s}
    found["hidden_s"] = row.hidden_s
    if compared:
        found |= {"predicted_s": row.predicted_s, "gap_s": row.gap_s}
        found["cause"] = None if cause is None else cause.usual
        found["try"] = None if cause is None else cause.remedy
        found["asked"] = [] if cause is None else [asdict(one) for one in cause.asked]
    return found


def _print(
    measured: MeasuredStep,
    rows: tuple[Row, ...],
    causes: Mapping[str, PartCause],
    told: Prediction | None,
) -> None:
    each = measured.steady.durations_s
    ranks = counted(len(measured.ranks), "ranks")
    title = (
        f"{seconds(measured.step_time_s)} a step, measured on {ranks} ({measured.steady.name}, "
        f"{measured.steady.how}; {len(each)} compared)"
    )
    heads = [("part", "left"), ("measured", "right"), ("hidden", "right")]
    if told is not None:
        title += f"; predicted: {seconds(told.step_time_s)}"
        heads += [("predicted", "right"), ("gap", "right"), ("of the step", "right")]
    print_table(title, heads, [_cells(row, told) for row in rows])
    if told is not None:
        print_interval(measured.step_time_s, told)
        _print_causes(rows, causes)
    _print_unknown(measured)


def _cells(row: Row, told: Prediction | None) -> tuple[str, ...]:
    # A profiler's clock ticks in nanoseconds: less is rounding.
    measured_s = row.measured_s if row.measured_s >= _TICK_S else 0.0
    found = (row.title, seconds(measured_s), seconds(row.hidden_s) if row.hidden_s else "")
    if told is None:
        return found
    gap_s = row.gap_s if abs(row.gap_s) >= _TICK_S else 0.0
    sign = "-" if gap_s < 0 else "+" if gap_s else ""
    gap, share = sign + seconds(abs(gap_s)), f"{gap_s / told.step_time_s * 100:+.1f} %"
    return (*found, seconds(row.predicted_s), gap, share)


def _print_causes(rows: tuple[Row, ...], causes: Mapping[str, PartCause]) -> None:
    known = [(row, causes[row.part]) for row in rows if row.part in causes][:_CAUSES_SHOWN]
    for row, cause in known:
        side = "not in the trace" if cause.side == "missing" else f"{cause.side} than predicted"
        console().print(f"{row.title}, {side}:", markup=False)
        for one in cause.asked[:_ASKED_SHOWN]:
            change = f" Change: {one.flag}" if one.flag else ""
            console().print(
                f"  could be: {one.title}. The model then says {seconds(one.part_s)}, "
                f"{percent(one.gap_fraction)} of the gap.{change}",
                markup=False,
            )
        if cause.usual:
            console().print(f"  usually: {cause.usual}. Try: {cause.remedy}", markup=False)


def _print_unknown(measured: MeasuredStep) -> None:
    shown = list(measured.unknown_s.items())[:_UNKNOWN_SHOWN]
    for name, time_s in shown:
        share = percent(time_s / len(measured.ranks) / measured.step_time_s)
        console().print(f"unknown kernel, {share} of the step: {name[:120]}", markup=False)
    if len(measured.unknown_s) > len(shown):
        console().print(f"and {len(measured.unknown_s) - len(shown)} more", markup=False)
