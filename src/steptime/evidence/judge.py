"""Published runs judged: each row's question through the door, and what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from steptime.answer.answer import answer
from steptime.answer.predictor import PREDICTORS
from steptime.evidence.baseline import FITTED_ON, chapter_question
from steptime.evidence.contradictions import no_measurement
from steptime.evidence.row_question import RunQuestion, question_of_run, roofline_question
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import PublishedRow
from steptime.evidence.validate import (
    RowResult,
    Validation,
    by_source,
    row_result,
    summary,
    validate,
)
from steptime.inputs.baseline_constants import baseline_constants
from steptime.inputs.constants import RooflineConstants, published_constants
from steptime.inputs.errors import ConfigError


def asked(run: Run, predictor: str) -> RunQuestion:
    """Return a run as a predictor is asked it.

    Args:
        run: The run.
        predictor: Name of the model; the chapter's takes one sequence a micro-batch and the most
            chunks, whatever the run did.

    Raises:
        Incomplete: If the run lacks what the model needs.
    """
    if PREDICTORS[predictor].most_chunks:
        return chapter_question(run)
    return roofline_question(run) if PREDICTORS[predictor].uses_software else question_of_run(run)


def run_result(
    run: Run, predictor: str = "roofline", constants: RooflineConstants | None = None
) -> RowResult:
    """Return a model's result on one run.

    Args:
        run: The run.
        predictor: Name of the model.
        constants: Of the roofline model; the published ones if None.

    Raises:
        Incomplete: If the run lacks what the model needs.
    """
    found = asked(run, predictor)
    try:
        told = answer(found.question(predictor, constants))
    except ConfigError as error:
        raise Incomplete(str(error)) from None
    fitted = PREDICTORS[predictor].sixteen_bits_only and run.id == FITTED_ON
    result = row_result(run, dict(told.breakdown_s), fitted=fitted)
    # The answer says itself what it took for the software, if it goes by software at all.
    of_the_row = tuple(one for one in found.assumed if one not in found.software.assumed)
    return replace(
        result,
        assumed=(*of_the_row, *told.assumed),
        step_time_low_s=told.step_time_low_s,
        step_time_high_s=told.step_time_high_s,
    )


def checked_result(
    run: Run, predictor: str = "roofline", constants: RooflineConstants | None = None
) -> RowResult:
    """Return a model's result on one run, kept out of means where nobody can have measured it.

    Args:
        run: The run.
        predictor: Name of the model.
        constants: Of the roofline model; the published ones if None.

    Raises:
        Incomplete: If the run lacks what the model needs.
    """
    result = run_result(run, predictor, constants)
    return replace(result, kept_out=no_measurement(run, result.step_time_s))


def why_kept_out(
    row: PublishedRow, predictor: str = "roofline", constants: RooflineConstants | None = None
) -> str:
    """Return why no mean counts a row, of times or of peaks; nothing where it is a measurement.

    Args:
        row: A row, which may leave its time or its peak out.
        predictor: Name of the model.
        constants: Of the roofline model; the published ones if None.
    """
    try:
        run = run_of(row)
    except Incomplete:
        return ""
    try:
        predicted_s = run_result(run, predictor, constants).step_time_s
    except (Incomplete, ArithmeticError):
        predicted_s = None
    try:
        return no_measurement(run, predicted_s)
    except ArithmeticError:
        return ""


def constants_of(predictor: str, constants: RooflineConstants | None) -> dict[str, float]:
    """Return name and value of a model's constants.

    Args:
        predictor: Name of the model.
        constants: Of the roofline model; the published ones if None.
    """
    if PREDICTORS[predictor].uses_software:
        return (constants or published_constants()).values()
    used = baseline_constants()
    return {"eta": float(used.eta), "latency_s": float(used.latency_s)}


def validation(
    rows: Sequence[PublishedRow],
    predictor: str = "roofline",
    constants: RooflineConstants | None = None,
) -> Validation:
    """Return a model's results on rows.

    Args:
        rows: Published runs.
        predictor: Name of the model.
        constants: Of the roofline model; the published ones if None.
    """
    return validate(
        rows,
        model=predictor,
        constants=constants_of(predictor, constants),
        result=lambda run: checked_result(run, predictor, constants),
    )


def kept_out_as(result: Validation, before: Validation) -> Validation:
    """Return results whose means leave out what others left out.

    Constants that were fitted to rows are no judge of which rows one may have measured.

    Args:
        result: With the constants of a fit.
        before: Of the same rows, with the constants that the fit began from.
    """
    kept = dict(before.kept_out)
    rows = tuple(replace(row, kept_out=kept.get(row.id, "")) for row in result.rows)
    return replace(result, rows=rows, summary=summary(rows), by_source=by_source(rows))
