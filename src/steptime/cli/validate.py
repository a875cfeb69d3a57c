"""`steptime validate`: a model against published runs, or against your own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from steptime.cli.options import AsJson
from steptime.cli.output import console, percent, print_json, print_table, seconds
from steptime.evidence.baseline import chapter_rows
from steptime.evidence.roofline import roofline_validation
from steptime.evidence.schema import PublishedRow, read_rows
from steptime.evidence.validate import RowResult, Validation, baseline_validation
from steptime.inputs.errors import ConfigError, check_choice

MODELS: dict[str, Callable[[Sequence[PublishedRow]], Validation]] = {
    "baseline": baseline_validation,
    "roofline": roofline_validation,
}

EXAMPLES = """
Examples:

- `steptime validate`: the chapter's 13 rows

- `steptime validate my_runs.csv --json`: your own runs, in the columns of data/published_runs.csv
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
        shown = "-" if summary.correlation is None else f"{summary.correlation:.3f}"
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
        raise ConfigError(f"--csv {path}: {error.strerror or error}") from None


def validate(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE.csv]", help="Your runs; the chapter's 13 rows if left out."),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", help="Which model: " + " or ".join(MODELS) + ".")
    ] = "baseline",
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Also write the results to this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare a model with published step times, row by row."""
    check_choice("model", model, MODELS)
    result = MODELS[model](read_rows(file) if file else chapter_rows())
    if csv is not None:
        write_csv(result, csv)
    if as_json:
        print_json(as_dict(result))
    else:
        print_validation(result)
