"""`steptime trace`: a measured run beside the predicted one, part by part."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from steptime.answer.answer import Prediction, answer
from steptime.answer.question import Question
from steptime.cli import options as opt
from steptime.cli.output import console, percent, print_json, print_table, seconds
from steptime.cli.predict import as_dict as prediction_dict
from steptime.cli.schedule_files import write
from steptime.cli.trace_figure import figure
from steptime.cli.trace_question import takes_maybe_step
from steptime.evidence.trace_beside import Row, beside, predicted_parts
from steptime.evidence.trace_parts import MeasuredStep, measured_step
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Layout
from steptime.inputs.training_step import TrainingStep
from steptime.readers.run_log import RunLog, read_log
from steptime.readers.trace_events import is_trace
from steptime.readers.trace_rank import read_ranks

EXAMPLES = """
Examples:

- `steptime trace my_rank0.json.gz my_rank1.json.gz -m llama3-8b -a h100 --tp 2 -s 4096 -B 8`

- `steptime trace my_trace.json --launch train.toml --accelerator h100 --figure beside.svg`

- `steptime trace my_megatron.log -m llama3-70b -a h100 --tp 8 --pp 4 --dp 16 -s 8192 -B 1024`

- `steptime trace my_rank*.json --json`
"""
_CAUSES_SHOWN = 3
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
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Traces of the PyTorch profiler, a rank each, or the log of a run; or packed.",
            metavar="FILE...",
        ),
    ],
    figure_file: Annotated[
        Path | None, typer.Option("--figure", help="Write a drawing, measured beside predicted.")
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
        _log(read_log(paths[0]), told, as_json)
        return
    if kinds != {True}:
        raise ConfigError("give traces, or a log, not both at once")
    measured = measured_step(read_ranks(paths), layout)
    said = {} if told is None else predicted_parts(told, how.constants)
    rows = beside(measured.parts_s, measured.hidden_s, said)
    if figure_file is not None:
        write(
            figure_file,
            figure(rows, measured.step_time_s, None if told is None else told.step_time_s),
        )
    if as_json:
        print_json(as_dict(measured, rows, told))
    else:
        _print(measured, rows, told)


def as_dict(
    measured: MeasuredStep, rows: tuple[Row, ...], told: Prediction | None
) -> dict[str, Any]:
    """Return a measured step as JSON holds it.

    Args:
        measured: The step.
        rows: Its parts beside the predicted ones.
        told: The prediction; None without one.
    """
    return {
        "step": measured.steady.name,
        "how": measured.steady.how,
        "ranks": list(measured.ranks),
        "on_device": measured.on_device,
        "step_time_s": measured.step_time_s,
        "steps_s": list(measured.steady.durations_s),
        "parts": [_row(row, told is not None) for row in rows],
        "ranks_s": [{k: v for k, v in one.items() if v} for one in measured.ranks_s],
        "unknown_s": measured.unknown_s,
        "prediction": None if told is None else prediction_dict(told),
    }


def _row(row: Row, compared: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"part": row.part, "measured_s": row.measured_s}
    found["hidden_s"] = row.hidden_s
    if compared:
        cause = row.cause
        found |= {"predicted_s": row.predicted_s, "gap_s": row.gap_s}
        found["cause"] = None if cause is None else cause.cause
        found["try"] = None if cause is None else cause.remedy
    return found


def _log(log: RunLog, told: Prediction | None, as_json: bool) -> None:
    measured = {
        "step_time_s": log.step_time_s,
        "tokens_per_s_per_gpu": log.tokens_per_s_per_gpu,
        "flop_per_s_per_gpu": log.flop_per_s_per_gpu,
    }
    said: dict[str, float] = {}
    if told is not None:
        said = {
            "step_time_s": told.step_time_s,
            "tokens_per_s_per_gpu": told.tokens_per_s_per_gpu,
            "flop_per_s_per_gpu": told.tflops_per_gpu * 1e12,
        }
        if measured["step_time_s"] is None and log.tokens_per_s_per_gpu:
            batch, layout = told.step.batch, told.step.layout
            tokens = batch.global_batch_size * batch.seq_length / layout.num_devices
            measured["step_time_s"] = tokens / log.tokens_per_s_per_gpu
    if as_json:
        prediction = None if told is None else prediction_dict(told)
        about = {"software": log.title, "lines": log.lines}
        print_json(about | measured | {"prediction": prediction})
        return
    rows = [
        (
            _LOGGED[name][0],
            _shown(name, value),
            _shown(name, said.get(name)),
            _ratio(value, said.get(name)),
        )
        for name, value in measured.items()
        if value is not None
    ]
    heads = [("", "left"), ("measured", "right"), ("predicted", "right"), ("ratio", "right")]
    title = f"{log.title}: {log.lines} lines of steps after warm-up, the middle one of each number"
    print_table(title, heads if told else heads[:2], [row if told else row[:2] for row in rows])
    if told is not None:
        _print_interval(measured["step_time_s"], told)


_LOGGED = {
    "step_time_s": ("step", 1.0, "s"),
    "tokens_per_s_per_gpu": ("tokens/s per GPU", 1.0, ""),
    "flop_per_s_per_gpu": ("FLOP/s per GPU, as each counts", 1e12, "TFLOP/s"),
}


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    _, scale, unit = _LOGGED[name]
    return seconds(value) if unit == "s" else f"{value / scale:,.1f} {unit}".rstrip()


def _ratio(measured: float | None, predicted: float | None) -> str:
    return f"{measured / predicted:.2f}" if measured and predicted else "-"


def _print(measured: MeasuredStep, rows: tuple[Row, ...], told: Prediction | None) -> None:
    each = measured.steady.durations_s
    ranks = f"{len(measured.ranks)} rank{'s' if len(measured.ranks) > 1 else ''}"
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
        _print_interval(measured.step_time_s, told)
        _print_causes(rows)
    _print_unknown(measured)


def _cells(row: Row, told: Prediction | None) -> tuple[str, ...]:
    found = (row.title, seconds(row.measured_s), seconds(row.hidden_s) if row.hidden_s else "")
    if told is None:
        return found
    # A profiler's clock ticks in nanoseconds: less is rounding.
    gap_s = row.gap_s if abs(row.gap_s) >= _TICK_S else 0.0
    sign = "-" if gap_s < 0 else "+" if gap_s else ""
    gap, share = sign + seconds(abs(gap_s)), f"{gap_s / told.step_time_s * 100:+.1f} %"
    return (*found, seconds(row.predicted_s), gap, share)


def _print_interval(step_s: float | None, told: Prediction) -> None:
    low, high = told.step_time_low_s, told.step_time_high_s
    if step_s is None or low is None or high is None:
        return
    inside = low <= step_s <= high
    place = "inside" if inside else "outside"
    console().print(
        f"measured is {place} the 90 % interval, {seconds(low)} to {seconds(high)}", markup=False
    )


def _print_causes(rows: tuple[Row, ...]) -> None:
    known = [row for row in rows if row.cause is not None][:_CAUSES_SHOWN]
    for row in known:
        assert row.cause is not None
        side = "slower" if row.gap_s > 0 else "faster"
        console().print(
            f"{row.title}, {side} than predicted: usually {row.cause.cause}. "
            f"Try: {row.cause.remedy}",
            markup=False,
        )


def _print_unknown(measured: MeasuredStep) -> None:
    shown = list(measured.unknown_s.items())[:_UNKNOWN_SHOWN]
    for name, time_s in shown:
        share = percent(time_s / len(measured.ranks) / measured.step_time_s)
        console().print(f"unknown kernel, {share} of the step: {name[:120]}", markup=False)
    if len(measured.unknown_s) > len(shown):
        console().print(f"and {len(measured.unknown_s) - len(shown)} more", markup=False)
