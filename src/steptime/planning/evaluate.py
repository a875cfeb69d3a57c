"""Time and memory of layouts: the same formulas for one layout and for a block of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steptime.formulas.baseline import num_microbatches, step_s
from steptime.formulas.layout_terms import waits_for_whole_rounds
from steptime.formulas.memory import memory_total_bytes
from steptime.formulas.number import Number
from steptime.formulas.roofline import roofline_step_s
from steptime.formulas.schedule import schedule_fault
from steptime.formulas.validity import layout_fault
from steptime.inputs.baseline_constants import baseline_constants
from steptime.inputs.constants import roofline_constants
from steptime.inputs.job import Job, job
from steptime.inputs.layout import FAULTS, RECOMPUTE, SCHEDULES, Batch, Layout
from steptime.inputs.stack import default_stack, layout_changes, stack_facts, stack_named
from steptime.planning.placed import placed_baseline, placed_roofline
from steptime.planning.question import Question
from steptime.planning.space import ROW_FIELDS, Rows

Floats = NDArray[np.float64]
REASONS = (
    *(f"{field}: {text}" for field, text in (
        ("global_batch_size", "does not divide into dp x micro_batch_size"),
        ("pp", "more stages than layers"),
        ("vpp", "chunks without a layer"),
        ("tp", "does not divide the attention heads"),
        ("cp", "does not divide the sequence"),
        ("ep", "the model is dense"),
        ("ep", "does not divide the experts"),
        ("ep x etp", "does not divide the ranks of a stage"),
    )),
    "vpp: micro-batches are no multiple of the stages",
    "schedule: too few micro-batches, or an odd number of them or of stages",
)  # fmt: skip
"""Why a row is dropped before it is timed, by the rule's number less one."""

if len(REASONS) != len(FAULTS) + 2:
    raise AssertionError("a rule of the layout has no reason here")


@dataclass(frozen=True, slots=True)
class Switches:
    """The choices that every row is crossed with, shaped to broadcast against ``(rows, 1, 1, 1)``.

    Attributes:
        recompute_full: Shape ``(1, recompute, 1, 1)``.
        recompute_selective: The same.
        zero_stage: Shape ``(1, 1, zero, 1)``.
        sequence_parallel: Shape ``(1, 1, 1, sequence)``.
    """

    recompute_full: Floats
    recompute_selective: Floats
    zero_stage: Floats
    sequence_parallel: Floats

    @property
    def shape(self) -> tuple[int, int, int]:
        """Lengths of the three axes."""
        return (self.recompute_full.size, self.zero_stage.size, self.sequence_parallel.size)


def switches(question: Question) -> Switches:
    """Return the question's switches as arrays."""
    kinds = np.array([RECOMPUTE.index(name) for name in question.recompute], dtype=np.float64)
    full, selective = float(RECOMPUTE.index("full")), float(RECOMPUTE.index("selective"))
    return Switches(
        recompute_full=(kinds == full).astype(np.float64).reshape(1, -1, 1, 1),
        recompute_selective=(kinds == selective).astype(np.float64).reshape(1, -1, 1, 1),
        zero_stage=np.array(question.zero_stages, dtype=np.float64).reshape(1, 1, -1, 1),
        sequence_parallel=np.array(question.sequence_parallel, dtype=np.float64).reshape(
            1, 1, 1, -1
        ),
    )


def base_job(question: Question) -> Job:
    """Return the record of a question with a layout of one device, to be filled with arrays."""
    record = job(
        question.model,
        question.accelerator,
        Layout(precision=question.precision),
        Batch(global_batch_size=1, seq_length=question.seq_length),
    )
    record.global_batch_size = float(question.global_batch_size)
    return record


def rows_job(base: Job, rows: Rows) -> Job:
    """Return a record whose layout fields are flat arrays, one entry a row."""
    return replace(base, **{name: rows[:, place] for place, name in enumerate(ROW_FIELDS)})


def crossed_job(base: Job, rows: Rows, choices: Switches) -> Job:
    """Return a record in which rows and switches broadcast against each other."""
    columns = {
        name: np.ascontiguousarray(rows[:, place]).reshape(-1, 1, 1, 1)
        for place, name in enumerate(ROW_FIELDS)
    }
    return replace(
        base,
        **columns,
        recompute_full=choices.recompute_full,
        recompute_selective=choices.recompute_selective,
        zero_stage=choices.zero_stage,
        sequence_parallel=choices.sequence_parallel,
    )


def row_faults(record: Job) -> Number:
    """Return the number of the first rule that each row breaks, 0 if none."""
    micro = num_microbatches(record)
    rounds = waits_for_whole_rounds(record, micro)
    rule = layout_fault(record)["rule"]
    unfit = schedule_fault(record.schedule, record.pp, micro, record.vpp)
    last = np.where(unfit > 0.0, float(len(REASONS)), 0.0)
    last = np.where(rounds > 0.0, float(len(REASONS) - 1), last)
    return np.where(rule > 0.0, rule, last)


def parts_function(question: Question) -> Callable[[Job], Mapping[str, Number]]:
    """Return the function from a record to the parts of its step, in seconds."""
    if question.predictor == "roofline":
        stack = stack_named(default_stack(question.accelerator))
        layout = Layout(precision=question.precision)
        changes = layout_changes(question.model, layout)
        facts = stack_facts(stack, question.accelerator, **changes)
        values = roofline_constants()
        return lambda record: placed_roofline(record, facts, values)
    constants, inside = baseline_constants(), question.data_inside
    return lambda record: placed_baseline(record, constants, inside)


def sum_function(question: Question) -> Callable[[Any], Number]:
    """Return the function that adds the parts up, in one fixed order."""
    return roofline_step_s if question.predictor == "roofline" else step_s


def step_function(question: Question) -> Callable[[Job], Number]:
    """Return the function from a record to its step time."""
    parts, total = parts_function(question), sum_function(question)
    return lambda record: total(parts(record))


def memory_function(question: Question) -> Callable[[Job], Number]:
    """Return the function from a record to the bytes of its fullest device."""
    facts = question.facts
    return lambda record: memory_total_bytes(record, facts)


def layout_of(
    question: Question, row: Floats, recompute: int, zero: int, sequence: int
) -> tuple[Layout, Batch]:
    """Return the layout and batch of one row and one setting of the switches.

    Args:
        question: What was asked.
        row: One row of `ROW_FIELDS`.
        recompute: Place in the question's choices.
        zero: The same.
        sequence: The same.
    """
    values: dict[str, Any] = {name: int(row[place]) for place, name in enumerate(ROW_FIELDS)}
    micro = values.pop("micro_batch_size")
    values["schedule"] = SCHEDULES[values["schedule"]]
    layout = Layout(
        **values,
        recompute=question.recompute[recompute],
        zero_stage=question.zero_stages[zero],
        sequence_parallel=question.sequence_parallel[sequence],
        precision=question.precision,
    )
    batch = Batch(
        global_batch_size=question.global_batch_size,
        micro_batch_size=micro,
        seq_length=question.seq_length,
    )
    return layout, batch
