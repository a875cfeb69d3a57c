"""The roofline model on published runs: what it assumes of each, and its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from steptime.evidence.intervals import kind_of, step_interval_s
from steptime.evidence.outcome import flop_convention
from steptime.evidence.row_stack import run_stack, stack_name
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import PublishedRow
from steptime.evidence.validate import RowResult, Validation, row_result, validate
from steptime.formulas.roofline import roofline_step
from steptime.inputs.constants import RooflineConstants, roofline_constants
from steptime.inputs.errors import ConfigError
from steptime.inputs.job import Job, job
from steptime.inputs.stack import StackFacts

_SEQUENCE_PARALLEL = ("megatron-bridge", "megatron-core", "torchtitan", "nanotron")


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineInputs:
    """A published run as the roofline model takes it.

    Attributes:
        run: The run.
        job: Flat record of model, batch, layout and device.
        stack: Flat record of the software.
        stack_name: Key of the stack in ``data/stacks.toml``.
        assumed: A sentence for each thing that the row does not say.
    """

    run: Run
    job: Job
    stack: StackFacts
    stack_name: str
    assumed: tuple[str, ...]


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
    if not run.vpp_stated and run.row.schedule.lower() not in ("1f1b", "gpipe"):
        raise Incomplete("chunks per device (vpp) are not stated: they set the bubble")
    name, _ = stack_name(run)
    if name == "deepspeed-zero3-2021" and not run.row.recompute:
        raise Incomplete("recomputation is not stated beside ZeRO-3 of 2021")
    stack, notes = run_stack(run)
    layout, assumed = run.layout, [*run.assumed, *notes]
    if run.row.sp is None and layout.tp > 1 and name in _SEQUENCE_PARALLEL:
        layout = replace(layout, sequence_parallel=True)
        assumed.append("sp: not stated, on assumed with this software")
    if not run.row.recompute and flop_convention(run.row.flop_convention) == "hardware":
        layout = replace(layout, recompute="full")
        assumed = [note for note in assumed if not note.startswith("recompute:")]
        assumed.append("recompute: full, implied by how the source counts FLOP")
    try:
        record = job(run.model, run.accelerator, layout, run.batch)
    except ConfigError as error:
        raise Incomplete(str(error)) from None
    return RooflineInputs(run=run, job=record, stack=stack, stack_name=name, assumed=tuple(assumed))


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
    guessed = any(note.startswith("software:") for note in inputs.assumed)
    kind = kind_of(run.model.experts is not None, run.layout.precision)
    ends = step_interval_s(parts, kind, assumed=guessed)
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
