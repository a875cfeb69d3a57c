"""`steptime validate`: a model against published runs, or against your own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from steptime.cli.options import AsJson
from steptime.cli.output import console, percent, print_json, print_table, seconds
from steptime.evidence.baseline import chapter_rows
from steptime.evidence.diagnose import Diagnosis, diagnoses
from steptime.evidence.open_rows import OpenRow, open_rows
from steptime.evidence.roofline import roofline_validation
from steptime.evidence.schema import PublishedRow, read_rows
from steptime.evidence.validate import RowResult, Validation, baseline_validation
from steptime.inputs.constants import RooflineConstants, roofline_constants
from steptime.inputs.errors import ConfigError, check_choice

MODELS = ("baseline", "roofline")

EXAMPLES = """
Examples:

- `steptime validate`: the 13 rows of §11

- `steptime validate my_runs.csv --json`: your own runs, in the columns of data/published_runs.csv

- `steptime validate my_runs.csv --model roofline --fit my_cluster.toml`: constants of your
  cluster; `steptime --constants my_cluster.toml predict ...` uses them, as every command does
"""


def register(app: typer.Typer) -> None:
    """Add the command to the application.

    Args:
        app: The application.
    """
    app.command("validate", epilog=EXAMPLES)(validate)


def as_dict(result: Validation) -> dict[str, Any]:
    """Return a validation as JSON holds it.

    Args:
        result: The validation.
    """
    return {
        "model": result.model,
        "constants": result.constants,
        "rows": [asdict(row) for row in result.rows],
        "skipped": [{"id": name, "reason": reason} for name, reason in result.skipped],
        "summary": asdict(result.summary),
    }


def _cells(row: RowResult) -> tuple[str, ...]:
    others = [(time_s, part) for part, time_s in row.breakdown_s.items() if part != "compute"]
    largest = sorted((pair for pair in others if pair[0]), reverse=True)[:2]
    rest = ", ".join(f"{part.replace('_', ' ')} {seconds(time_s)}" for time_s, part in largest)
    return (
        row.id,
        seconds(row.published_step_time_s),
        seconds(row.step_time_s),
        f"{row.published_tflops_per_gpu:.1f}",
        f"{row.tflops_per_gpu:.1f}",
        "fitted" if row.fitted else f"{row.error_fraction * 100:+.1f} %",
        rest,
    )


def print_validation(result: Validation) -> None:
    """Print a validation as a table.

    Args:
        result: The validation.
    """
    columns = (
        ("run", "left"),
        ("published", "right"),
        ("predicted", "right"),
        ("TFLOP/s publ.", "right"),
        ("pred.", "right"),
        ("error", "right"),
        ("largest parts beside compute", "left"),
    )
    print_table(f"{result.model} model", columns, (_cells(row) for row in result.rows))
    out = console()
    for name, reason in result.skipped:
        out.print(f"skipped {name}: {reason}", markup=False)
    summary = result.summary
    if summary.rows:
        shown = "undefined" if summary.correlation is None else f"{summary.correlation:.3f}"
        out.print(
            f"{summary.rows} predictions: mean error {percent(summary.mean_abs_error_fraction)}, "
            f"largest {percent(summary.max_abs_error_fraction)}, bias "
            f"{percent(summary.mean_error_fraction)}, correlation of TFLOP/s {shown} "
            "(error: predicted over published throughput, less one)"
        )
    else:
        out.print("no row could be predicted")


def write_csv(result: Validation, path: Path) -> None:
    """Write the results to a file, whole or not at all.

    Args:
        result: A model's results.
        path: Where to.

    Raises:
        ConfigError: If it cannot be written there.
    """
    from steptime.evidence.frames import results_frame

    part = path.with_name(path.name + ".part")
    try:
        part.write_text(results_frame(result).to_csv(lineterminator="\n"), encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write --csv {path}: {error.strerror or error}") from None


def print_doubts(doubts: Sequence[Diagnosis], bounded: Sequence[OpenRow]) -> None:
    """Print which rows stand out, and what open rows lie between.

    Args:
        doubts: Rows that look mis-measured or mis-described.
        bounded: Rows that leave something open.
    """
    out = console()
    for doubt in doubts:
        out.print(f"{doubt.id} looks {doubt.suspicion}: {doubt.why}", markup=False)
    for row in bounded:
        ends = f"{seconds(row.step_time_low_s)} to {seconds(row.step_time_high_s)}"
        place = "inside" if row.inside else "outside"
        out.print(
            f"{row.id} leaves something open: {ends} over {row.choices} choices, published "
            f"{seconds(row.published_step_time_s)} lies {place}",
            markup=False,
        )


def _fitted(rows: Sequence[PublishedRow], path: Path, *, quiet: bool) -> RooflineConstants:
    from steptime.evidence.own_fit import own_fit, write_fit

    fit = own_fit(rows)
    write_fit(fit, path)
    if not quiet:
        cells = [
            (one.name, f"{one.value:.4g}", f"{one.low:.4g} to {one.high:.4g}", f"{one.published:g}")
            for one in fit.fitted
        ]
        heads = (("constant", "left"), ("fitted", "right"), ("90 %", "right"), ("kept", "right"))
        print_table(f"fitted to {fit.rows} rows, written to {path}", heads, cells)
        console().print(
            f"mean error {percent(fit.mean_before)} with the published constants, "
            f"{percent(fit.mean_after)} with these, {percent(fit.mean_left_out)} left out"
        )
    return fit.constants


def validate(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE.csv]", help="Your runs; the 13 rows of §11 if left out."),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", help="Which model: " + " or ".join(MODELS) + ".")
    ] = "baseline",
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Also write the results to this file.")
    ] = None,
    fit: Annotated[
        Path | None,
        typer.Option("--fit", help="Fit the roofline model to these runs; write constants here."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare a model with published step times, row by row."""
    check_choice("model", model, MODELS)
    rows = read_rows(file) if file else chapter_rows()
    if model == "baseline":
        if fit is not None:
            raise ConfigError("--fit belongs to --model roofline")
        result = baseline_validation(rows)
        doubts: Sequence[Diagnosis] = ()
        bounded: Sequence[OpenRow] = ()
    else:
        used = roofline_constants() if fit is None else _fitted(rows, fit, quiet=as_json)
        result = roofline_validation(rows, used)
        doubts = diagnoses(rows, result.rows, used)
        bounded = open_rows(rows, used)
    if csv is not None:
        write_csv(result, csv)
    if as_json:
        more = {"doubts": [asdict(one) for one in doubts], "open": [_open(one) for one in bounded]}
        print_json(as_dict(result) | (more if model == "roofline" else {}))
    else:
        print_validation(result)
        print_doubts(doubts, bounded)


def _open(row: OpenRow) -> dict[str, Any]:
    return asdict(row) | {"inside": row.inside}
