"""`steptime validate`: a model against published runs, or against your own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from steptime.cli.options import AsJson
from steptime.cli.output import console, percent, print_json, print_table
from steptime.cli.validation_tables import print_doubts, print_validation
from steptime.evidence.baseline import chapter_rows
from steptime.evidence.diagnose import Diagnosis, diagnoses
from steptime.evidence.open_rows import OpenRow, open_rows
from steptime.evidence.own_rows import OwnRows, own_rows
from steptime.evidence.roofline import roofline_validation
from steptime.evidence.schema import PublishedRow
from steptime.evidence.validate import Validation, baseline_validation
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
        "by_source": [{"source": name} | asdict(one) for name, one in result.by_source.items()],
    }


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
    given = own_rows(file) if file else OwnRows(tuple(chapter_rows()), (), ())
    rows = given.rows
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
    result = replace(result, skipped=(*given.faults, *result.skipped))
    if csv is not None:
        write_csv(result, csv)
    if as_json:
        more = {"doubts": [asdict(one) for one in doubts], "open": [_open(one) for one in bounded]}
        answer = as_dict(result) | {"notes": list(given.notes)}
        print_json(answer | (more if model == "roofline" else {}))
    else:
        for note in given.notes:
            console().print(note, markup=False)
        print_validation(result)
        print_doubts(doubts, bounded)


def _open(row: OpenRow) -> dict[str, Any]:
    return asdict(row) | {"inside": row.inside}
