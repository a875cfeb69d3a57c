"""Runs compared with a model, asked from Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from steptime.answer.known import DEFAULT
from steptime.answer.predictor import PREDICTORS
from steptime.evidence.baseline import chapter_rows
from steptime.evidence.judge import validation
from steptime.evidence.own_rows import OwnRows, own_rows, with_said
from steptime.evidence.validate import Validation
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.fact import Value
from steptime.inputs.said import Said
from steptime.inputs.signed import checked_names


@checked_names
def validate(
    file: str | Path | None = None,
    *,
    network_gbit: float | None = None,
    stack: str | None = None,
    date: str | None = None,
    facts: Mapping[str, Value] | None = None,
    predictor: str = DEFAULT,
    constants: RooflineConstants | None = None,
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
        constants: Of the roofline model; the published ones if None.

    Raises:
        ConfigError: If the file cannot be read, or an input cannot be used.

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
    said = Said(stack=stack, date=date, facts=tuple((facts or {}).items()))
    rows = [with_said(row, said, network_gbit) for row in given.rows]
    result = validation(rows, predictor, constants)
    return replace(result, skipped=(*given.faults, *result.skipped))
