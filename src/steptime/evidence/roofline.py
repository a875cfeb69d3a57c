"""The roofline model on published runs: what it assumes of each, and its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from steptime.evidence.habits import usual
from steptime.evidence.intervals import kind_of, step_interval_s
from steptime.evidence.outcome import flop_convention
from steptime.evidence.row_stack import run_stack
from steptime.evidence.row_text import one_chunk
from steptime.evidence.row_words import is_blank
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import PublishedRow
from steptime.evidence.validate import RowResult, Validation, row_result, validate
from steptime.formulas.roofline import roofline_step
from steptime.inputs.assumed import Assumed, not_stated
from steptime.inputs.constants import RooflineConstants, roofline_constants
from steptime.inputs.errors import ConfigError
from steptime.inputs.job import Job, job
from steptime.inputs.stack import StackFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineInputs:
    """A published run as the roofline model takes it.

    Attributes:
        run: The run.
        job: Flat record of model, batch, layout and device.
        stack: Flat record of the software.
        stack_name: Key of the stack in ``data/stacks.toml``.
        stack_known: Whether the row names its software, itself or its family.
        assumed: A record of each thing that the row does not say, or not in known words.
    """

    run: Run
    job: Job
    stack: StackFacts
    stack_name: str
    stack_known: bool
    assumed: tuple[Assumed, ...]


def _with_counted_micro_batch(run: Run) -> Run:
    """Return a run whose micro-batch follows from how many there are, where that is stated."""
    count, ranks = run.row.num_microbatches, run.layout.dp
    if run.micro_batch_stated or count is None or run.batch.global_batch_size % (count * ranks):
        return run
    size = run.batch.global_batch_size // (count * ranks)
    return run_of(run.row.model_copy(update={"mbs": size}))


def roofline_inputs(run: Run) -> RooflineInputs:
    """Return what the roofline model takes of a run.

    Args:
        run: The run.

    Raises:
        Incomplete: If it leaves open what moves the step by a third or more: the micro-batch,
            the chunks of an interleaved pipeline, or recomputation beside ZeRO-3.
    """
    run = _with_counted_micro_batch(run)
    if not run.micro_batch_stated:
        raise Incomplete("the micro-batch size (mbs) is not stated: it moves the step by a third")
    if not run.vpp_stated and not one_chunk(run.row.schedule):
        raise Incomplete("chunks per device (vpp) are not stated: they set the bubble")
    stack, named = run_stack(run)
    silent = is_blank(run.row.recompute)
    if silent and usual("recomputation_needed", named.name):
        raise Incomplete("recomputation is not stated beside ZeRO-3 of 2021")
    layout, assumed = run.layout, [*run.assumed, *named.assumed]
    if run.row.sp is None and layout.tp > 1 and usual("sequence_parallel", named.name):
        layout = replace(layout, sequence_parallel=True)
        assumed.append(not_stated("sp", "on", whose="assumed with this software"))
    if silent and flop_convention(run.row.flop_convention) == "hardware":
        layout = replace(layout, recompute="full")
        why = "full, implied by how the source counts FLOP"
        record = Assumed(what="recompute", value="full", why=why, how="column recompute")
        assumed = [*(note for note in assumed if note.what != "recompute"), record]
    try:
        numbers = job(run.model, run.accelerator, layout, run.batch)
    except ConfigError as error:
        raise Incomplete(str(error)) from None
    return RooflineInputs(
        run=run,
        job=numbers,
        stack=stack,
        stack_name=named.name,
        stack_known=named.known,
        assumed=tuple(assumed),
    )


def roofline_result(run: Run, constants: RooflineConstants) -> RowResult:
    """Return the roofline model's result on one run.

    Args:
        run: The run.
        constants: Of the model.

    Raises:
        Incomplete: If the run lacks what the model needs.
    """
    inputs = roofline_inputs(run)
    parts = roofline_step(inputs.job, inputs.stack, constants)
    result = replace(row_result(run, parts), assumed=inputs.assumed)
    kind = kind_of(run.model.experts is not None, run.layout.precision)
    ends = step_interval_s(parts, kind, assumed=not inputs.stack_known)
    if ends is None:
        return result
    return replace(result, step_time_low_s=ends[0], step_time_high_s=ends[1])


def roofline_validation(
    rows: Sequence[PublishedRow], constants: RooflineConstants | None = None
) -> Validation:
    """Return the roofline model's results on rows.

    Args:
        rows: Published runs.
        constants: The ones in ``data/`` if None.
    """
    used = constants or roofline_constants()
    return validate(
        rows,
        model="roofline",
        constants=asdict(used),
        result=lambda run: roofline_result(run, used),
    )
