"""`steptime validate`: a model against published runs, or against your own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from steptime.answer.known import DEFAULT
from steptime.answer.predictor import PREDICTORS
from steptime.cli import options as opt
from steptime.cli.options import AsJson
from steptime.cli.output import console, print_json, waiting
from steptime.cli.validate_fit import NO_FIT, fit_dict, print_fit
from steptime.cli.validation_tables import print_open, print_validation
from steptime.cli.validation_words import (
    not_understood,
    print_doubts,
    print_likely,
    print_not_understood,
    print_notes,
)
from steptime.evidence.baseline import chapter_rows
from steptime.evidence.contradictions import contradictions
from steptime.evidence.diagnose import diagnoses
from steptime.evidence.fitted import NOTHING_LEFT, check_fits, fitted_validation
from steptime.evidence.judge import validation
from steptime.evidence.open_rows import OpenRow, open_rows
from steptime.evidence.own_rows import OwnRows, own_rows, with_said
from steptime.evidence.schema import PublishedRow
from steptime.evidence.validate import RowResult, Validation
from steptime.inputs.constants import RooflineConstants, published_constants
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.written import write_output

EXAMPLES = """
A file of runs is a table, one run a row: CSV with commas, semicolons or tabs, or parquet, in the
columns of data/published_runs.csv or under usual other names (`num_layers`, `world_size`, `MFU`).

- What a step needs: `model` (a preset's name, or `layers`, `hidden`, `heads`, `ffn`, `vocab`),
  `gpu`, `gpus`, `tp`, `pp`, `vpp`, `mbs`, `gbs` (sequences), `seq_len`, `recompute`, `precision`

- What was measured, one of: `step_time_s`, `tokens_per_s_per_gpu`, `tflops_per_gpu` (say how FLOP
  count in `flop_convention`: model-full, model-causal, hardware-full, 6N), `mfu_pct`, `hfu_pct`

- What helps: `software`, `date` (YYYY-MM), `network` (Gb/s per GPU), `zero`, `overlap`, `ep`,
  `attention_kernel`, `dispatcher`, `compiled`, `source`; data/README.md lists the words they take

What a row lacks and a default can stand for is listed under `assumed` in --json; a word that is
not understood stands in its row, and nothing is read from `notes`. A row that leaves micro-batch,
chunks, recomputation or ZeRO open gets the bounds that every choice spans; one that lacks more is
skipped with its reason. A row that no device can have measured, in time or in memory, counts in no
mean, here or in `validate-memory`. Rows that stand out are named, with the reading that would fit.

Examples:

- `steptime validate`: the 13 rows of §11; as the chapter has them with `--predictor chapter`

- `steptime validate my_runs.csv`: your own runs, with intervals

- `steptime validate my_runs.csv --fit my_cluster.toml`: constants of your
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
        "rows": [_row_dict(row) for row in result.rows],
        "not_understood": [
            {"id": name, "column": one.what, "word": one.word, "taken": one.value}
            for name, one in not_understood(result)
        ],
        "skipped": [{"id": name, "reason": reason} for name, reason in result.skipped],
        "kept_out": [{"id": name, "reason": reason} for name, reason in result.kept_out],
        "summary": asdict(result.summary),
        "by_source": [{"source": name} | asdict(one) for name, one in result.by_source.items()],
    }


def _row_dict(row: RowResult) -> dict[str, Any]:
    unread = {one.what: one.word for one in row.assumed if one.word}
    return asdict(row) | {"assumed": list(map(str, row.assumed)), "not_understood": unread}


def check_scored(result: Validation, bounded: Sequence[OpenRow]) -> None:
    """Refuse a file of which no row could be scored or bounded.

    Args:
        result: A model's results.
        bounded: Rows that leave something open.

    Raises:
        ConfigError: With the first reason.
    """
    if bounded or len(result.rows) > len(result.kept_out):
        return
    reasons = [*result.kept_out, *result.skipped]
    why = f": {reasons[0][0]}: {reasons[0][1]}" if reasons else ": the file has no row"
    raise ConfigError(f"no row could be scored{why}")


def write_csv(result: Validation, path: Path) -> None:
    """Write the results to a file, whole or not at all.

    Args:
        result: A model's results.
        path: Where to.

    Raises:
        ConfigError: If it cannot be written there.
    """
    from steptime.evidence.frames import results_frame

    write_output("--csv", path, results_frame(result).to_csv(lineterminator="\n"))


@opt.takes_how
def validate(
    how: opt.How,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="Your runs, CSV or parquet; the 13 rows of §11 if left out."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="The same as --predictor.", hidden=True)
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", help="Also write the results to this file.", writable=True),
    ] = None,
    fit: Annotated[
        Path | None,
        typer.Option(
            "--fit",
            help="Fit the roofline model to these runs; write constants here.",
            writable=True,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare a model with published step times, row by row."""
    name = how.predictor or model or DEFAULT
    check_choice("predictor", name, PREDICTORS)
    if fit is not None:
        check_fits("--fit", name, "--predictor roofline")
    given = own_rows(file) if file else OwnRows(tuple(chapter_rows()), (), ())
    rows = [with_said(row, how.said, how.network_gbit) for row in given.rows]
    more: dict[str, Any] = {}
    bounded: Sequence[OpenRow] = ()
    show: Callable[[], None] | None = None
    with waiting(f"answering {len(rows):,} rows"):
        if PREDICTORS[name].uses_software:
            result, bounded, more, show = _roofline(rows, fit, how.constants)
        else:
            result = validation(rows, name)
    result = replace(result, skipped=(*given.faults, *result.skipped))
    conflicts = () if file is None else contradictions(rows)
    if csv is not None:
        write_csv(result, csv)
    if as_json:
        notes = [*given.notes, *(f"{name}: {why}" for name, why in conflicts)]
        print_json(as_dict(result) | {"notes": notes} | more)
    else:
        print_notes(given.notes, conflicts, dict(result.kept_out))
        print_validation(result)
        if show is not None:
            show()
    check_scored(result, bounded)
    if refused := more.get("fit", {}).get("refused"):
        raise ConfigError(f"--fit: {refused}")


def _roofline(
    rows: Sequence[PublishedRow], path: Path | None, constants: RooflineConstants | None
) -> tuple[Validation, tuple[OpenRow, ...], dict[str, Any], Callable[[], None]]:
    """Return the results, rows within bounds, what JSON shows besides, and what prints that."""
    from steptime.evidence.own_software import likeliest

    base = constants or published_constants()
    fit = None
    if path is None:
        result = validation(rows, DEFAULT, base)
    else:
        result, fit = fitted_validation(rows, path)
    used = base if fit is None else fit.constants
    doubts = diagnoses(rows, result.rows, used)
    likely = likeliest(rows, base)
    bounded = open_rows(rows, used)
    inside = {one.id for one in bounded}
    left = tuple(pair for pair in result.skipped if pair[0] not in inside)
    result = replace(result, skipped=left)

    def show() -> None:
        print_open(bounded)
        unread = ((row.id, one) for row in bounded for one in row.not_understood)
        print_not_understood(list(unread))
        print_doubts(doubts, dict(result.kept_out))
        if likely is not None:
            print_likely(likely)
        if fit is not None and path is not None:
            print_fit(fit, path)
        elif path is not None:
            why = f"{NOTHING_LEFT}; nothing is written to {path}"
            console().print(why, markup=False)

    more: dict[str, Any] = {
        "doubts": [asdict(one) for one in doubts],
        "open": [_open(one) for one in bounded],
        "likely_software": None if likely is None else asdict(likely),
    }
    if path is not None:
        more["fit"] = NO_FIT if fit is None else fit_dict(fit, path)
    return result, bounded, more, show


def _open(row: OpenRow) -> dict[str, Any]:
    unread = {one.what: one.word for one in row.not_understood}
    return asdict(row) | {"inside": row.inside, "not_understood": unread}
