"""Runs compared with a model, asked from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from steptime.answer.known import DEFAULT
from steptime.answer.predictor import PREDICTORS
from steptime.evidence.baseline import chapter_rows
from steptime.evidence.fitted import NOTHING_LEFT, check_fits, fitted_validation
from steptime.evidence.judge import validation
from steptime.evidence.own_rows import OwnRows, own_rows, with_said
from steptime.evidence.schema import PublishedRow
from steptime.evidence.validate import Validation
from steptime.inputs.constants import RooflineConstants, constants_named
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.fact import Value
from steptime.inputs.said import Said, fact_pairs
from steptime.inputs.signed import checked_names
from steptime.inputs.written import output_path


@checked_names
def validate(
    file: str | Path | None = None,
    *,
    network_gbit: float | None = None,
    stack: str | None = None,
    date: str | None = None,
    facts: Mapping[str, Value] | None = None,
    predictor: str = DEFAULT,
    constants: RooflineConstants | str | Path | None = None,
    fit: str | Path | None = None,
) -> Validation:
    """Return a model's error on each of your runs, or on the chapter's.

    Args:
        file: CSV or Parquet, a run a row: ``steptime validate --help`` lists the columns; the
            rows of the chapter's table if None.
        network_gbit: Gb/s of a device's share of the network, for rows that do not say.
        stack: Software, for rows that do not say.
        date: Month in which it was current, likewise.
        facts: Single facts of the software, by name.
        predictor: roofline, baseline or chapter.
        constants: Of the roofline model, or the .toml file with yours; the published ones if None.
        fit: Where constants of your cluster are written, fitted to these runs; they answer, and
            stand in the result's ``fit``. Where runs gain nothing by them, nothing is written and
            the published ones answer.

    Raises:
        ConfigError: If the file cannot be read, an input cannot be used, or what fits best is
            like no cluster.

    Example:
        >>> import steptime
        >>> result = steptime.validate(predictor="chapter")
        >>> len(result.rows), result.summary.rows
        (13, 12)
    """
    check_choice("predictor", predictor, PREDICTORS)
    if file is not None and not isinstance(file, (str, Path)):
        raise ConfigError(f"file must be the path of a table of runs, got {file!r:.60}")
    given = OwnRows(tuple(chapter_rows()), (), ()) if file is None else own_rows(Path(file))
    said = Said(stack=stack, date=date, facts=fact_pairs(facts))
    rows = [with_said(row, said, network_gbit) for row in given.rows]
    if fit is None:
        result = validation(rows, predictor, constants_named(constants))
    else:
        check_fits("fit", predictor, "predictor='roofline'")
        result = _fitted(rows, output_path("fit", fit, file=file))
    return replace(result, skipped=(*given.faults, *result.skipped))


def _fitted(rows: Sequence[PublishedRow], path: Path) -> Validation:
    """Return rows compared with the constants that are fitted to them."""
    result, found = fitted_validation(rows, path)
    refused = NOTHING_LEFT if found is None else found.refused
    if refused:
        raise ConfigError(f"fit: {refused}")
    return replace(result, fit=found)
