"""From a published run to the question that it answers: one door for rows too."""

from __future__ import annotations

from dataclasses import dataclass, replace

from steptime.answer.question import Question
from steptime.evidence.row_said import said_of
from steptime.evidence.row_text import flop_convention, one_chunk
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import Contradiction, Unknown
from steptime.formulas.judgement import shares_weights
from steptime.formulas.records import TimeFacts
from steptime.inputs.assumed import Assumed, not_stated, taken
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.errors import ConfigError
from steptime.inputs.habits import (
    sharding,
    usual_recompute,
    usual_stack,
    usual_zero_stage,
)
from steptime.inputs.job import Job
from steptime.inputs.layout import Layout
from steptime.inputs.run_words import is_blank
from steptime.inputs.said import Said, in_its_time
from steptime.inputs.software import Software, check_known, software
from steptime.inputs.training_step import TrainingStep

COUNTS_RECOMPUTATION = "hardware"


class OpenLayout(Incomplete):
    """A row that leaves open what moves the step by a third: bounds can be given, no point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQuestion:
    """A published run as the door takes it.

    Attributes:
        run: The run.
        step: The training step that it is.
        job: The same as numbers.
        software: What it ran on.
        assumed: A record of each thing that the row does not say, or not in known words.
    """

    run: Run
    step: TrainingStep
    job: Job
    software: Software
    assumed: tuple[Assumed, ...]

    @property
    def stack(self) -> TimeFacts:
        """Return the facts of the software for the time of a step.

        Raises:
            Incomplete: If the roofline model does not know the device.
        """
        if self.software.time is None:
            raise Unknown(f"{self.run.accelerator.name} has no measured rate")
        return self.software.time

    def question(
        self, predictor: str | None, constants: RooflineConstants | None = None
    ) -> Question:
        """Return the run as a question.

        Args:
            predictor: Name of the model.
            constants: Of the roofline model; the published ones if None.
        """
        return Question(step=self.step, predictor=predictor, constants=constants)


def _with_counted_micro_batch(run: Run) -> Run:
    """Return a run whose micro-batch follows from how many there are, where that is stated."""
    count, ranks = run.row.num_microbatches, run.layout.dp
    if run.micro_batch_stated or count is None or run.batch.global_batch_size % (count * ranks):
        return run
    size = run.batch.global_batch_size // (count * ranks)
    return run_of(run.row.model_copy(update={"mbs": size}))


def check_complete(run: Run) -> None:
    """Refuse a run that leaves open what moves the step by a third or more.

    Args:
        run: The run.

    Raises:
        Incomplete: If its micro-batch or the chunks of an interleaved pipeline are not stated.
    """
    if not run.micro_batch_stated:
        raise OpenLayout("the micro-batch size (mbs) is not stated: it moves the step by a third")
    if not run.vpp_stated and not one_chunk(run.row.schedule):
        raise OpenLayout("chunks per device (vpp) are not stated: they set the bubble")


def _filled(run: Run, said: Said, assumed: list[Assumed]) -> Layout:
    """Return the layout with what is usual with its software where the row says nothing."""
    row, layout = run.row, run.layout
    if row.sp is None and layout.tp > 1 and usual_stack(said).sequence_parallel:
        layout = replace(layout, sequence_parallel=True)
        assumed.append(not_stated("sp", "on", whose="assumed with this software"))
    if is_blank(row.zero) and layout.dp * layout.cp > 1:
        stage, why = usual_zero_stage(said, run.model, layout.pp)
        layout = replace(layout, zero_stage=stage)
        assumed.append(not_stated("zero", stage, whose=", ".join(filter(None, ("assumed", why)))))
    if is_blank(row.recompute):
        mode, record = _recompute(row.flop_convention, said)
        layout = replace(layout, recompute=mode)
        assumed.append(record)
    return layout


def _recompute(convention: str, said: Said) -> tuple[str, Assumed]:
    try:
        mode = usual_recompute(said)
    except ConfigError as error:
        raise OpenLayout(str(error)) from None
    if flop_convention(convention) == COUNTS_RECOMPUTATION:
        how = "column recompute"
        return "full", taken("recompute", "full", "implied by how the source counts FLOP", how)
    return mode, not_stated("recompute", mode)


def question_of_run(run: Run) -> RunQuestion:
    """Return the question that a run answers.

    Args:
        run: The run.

    Raises:
        Incomplete: If the row states a fact that is none, or the layout does not fit.
    """
    run = _with_counted_micro_batch(run)
    try:
        said, notes = said_of(run.row)
    except Incomplete:
        raise
    except ConfigError as error:
        # A stated fact is out of its range.
        raise Contradiction(str(error)) from None
    open_fields = {"sp", "zero", "recompute"}
    assumed = [one for one in run.assumed if one.what not in open_fields or one.word]
    try:
        if not is_blank(run.row.zero):
            said = sharding(said, run.accelerator, run.layout.zero_stage)
        layout = _filled(run, in_its_time(said, run.accelerator), assumed)
        step = TrainingStep(
            model=run.model,
            accelerator=run.accelerator,
            layout=layout,
            batch=run.batch,
            said=said,
        )
        numbers = step.job()
        shared = bool(shares_weights(numbers) > 0.0)
        kept = software(said, run.accelerator, run.model, layout.precision, shared)
    except Incomplete:
        raise
    except ConfigError as error:
        raise Contradiction(str(error)) from None
    return RunQuestion(
        run=run,
        step=step,
        job=numbers,
        software=kept,
        assumed=(*assumed, *notes, *kept.assumed),
    )


def roofline_question(run: Run) -> RunQuestion:
    """Return the question of a run that the roofline model can answer.

    Args:
        run: The run.

    Raises:
        Incomplete: If it leaves open what moves the step by a third, or its device is unknown.
    """
    found = question_of_run(run)
    try:
        # First, as no cell that is filled would help where the device is unknown.
        check_known(run.accelerator)
    except ConfigError as error:
        raise Unknown(str(error)) from None
    check_complete(found.run)
    return found
