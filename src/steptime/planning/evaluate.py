"""Time and memory of layouts: the same formulas for one layout and for a block of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steptime.formulas.memory import memory_total_bytes
from steptime.formulas.number import Number
from steptime.formulas.ranks import shard_ranks
from steptime.formulas.roofline.context import heads_left_over
from steptime.inputs.ability import Limit
from steptime.inputs.counted import COUNTED, OF_PARTS, OF_ROUNDS, OF_ROWS
from steptime.inputs.job import Job, job
from steptime.inputs.layout import RECOMPUTE, RULES, SCHEDULES, STAGE_FIELDS, Batch, Layout
from steptime.inputs.software import Software
from steptime.planning.grid import ROW_FIELDS, Grid, Rows
from steptime.planning.question import Question

Floats = NDArray[np.float64]
REASONS = (
    *(f"{rule.field}: {rule.short}" for rule in RULES),
    "schedule: too few micro-batches, an odd number of them or of stages, or uneven rounds",
    "cp: the software cuts attention by heads, and they do not fall to the ranks",
    "schedule: the software runs no such number of micro-batches over chunks",
    "cp: the software cuts a sequence into more parts, and they do not divide it",
)
"""Why a row is dropped before it is timed, by the rule's number less one."""
HEADS_LEFT, NO_ROUNDS, NO_PARTS = (float(len(REASONS) - back) for back in (2, 1, 0))
"""Numbers of the rules that the software makes: no mixture of the page's has any."""


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
        Layout(precision=question.precision, order=question.order),
        Batch(global_batch_size=1, seq_length=question.seq_length),
    )
    ends: dict[str, Any] = {name: float(one) for name, one in question.stated_ends.items()}
    return replace(record, global_batch_size=float(question.global_batch_size), **ends)


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


def grid_job(base: Job, grid: Grid, choices: Switches) -> Job:
    """Return a record in which the axes of a grid and the switches broadcast.

    Args:
        base: Of the question.
        grid: Sizes, chunks and micro-batches.
        choices: The switches.
    """
    return replace(
        base,
        **grid.columns(switches=3),
        recompute_full=choices.recompute_full,
        recompute_selective=choices.recompute_selective,
        zero_stage=choices.zero_stage,
        sequence_parallel=choices.sequence_parallel,
    )


def sharing_stages(question: Question) -> tuple[tuple[bool, tuple[int, ...]], ...]:
    """Return the places of the sharding stages that run on each kind of software.

    Args:
        question: Gives the stages to try.

    Returns:
        Whether weights are shared, and the places in ``zero_stages``.
    """
    places = range(len(question.zero_stages))
    shared = tuple(place for place in places if question.zero_stages[place] > 2)
    whole = tuple(place for place in places if question.zero_stages[place] <= 2)
    return tuple(pair for pair in ((False, whole), (True, shared)) if pair[1])


Cells = Callable[[Job, Software], Number]


def over_software(
    question: Question, record: Job, choices: Switches, shape: tuple[int, ...], of: Cells
) -> Floats:
    """Return a value of each layout, each asked of the software that it runs on.

    Args:
        question: What is asked.
        record: Rows or a grid against switches, as `crossed_job` and `grid_job` make it.
        choices: The switches.
        shape: Of the result, rows first.
        of: From a record and its software to the values.
    """
    known = question.known()
    if known.plain is known.sharing:
        return np.broadcast_to(of(record, known.plain), shape)
    out = np.empty(shape)
    every = np.arange(shape[0])
    # The schedules of one grid keep as many copies of a weight, so any of them tells.
    alone = np.reshape(shard_ranks(record) <= 1.0, (shape[0], -1))[:, 0]
    for sharing, places in sharing_stages(question):
        stages = choices.zero_stage[..., list(places), :]
        # One rank has nobody to share with: its weights are whole, whatever the stage.
        for rows, one in (
            (every[~alone] if sharing else every, known.software(sharing)),
            (every[alone] if sharing else every[:0], known.plain),
        ):
            if rows.size:
                part = replace(_rows_of(record, rows), zero_stage=stages)
                if rows.size == shape[0]:
                    out[..., list(places), :] = of(part, one)
                else:
                    block = out[rows]
                    block[..., list(places), :] = of(part, one)
                    out[rows] = block
    return out


def _rows_of(record: Job, rows: NDArray[np.int64]) -> Job:
    """Return the record of some of its rows; what lies on an inner axis stays whole."""
    if rows.size == np.shape(record.tp)[0]:
        return record
    axes = np.ndim(record.tp)
    along = [name for name in ROW_FIELDS if np.ndim(getattr(record, name)) == axes]
    return replace(record, **{name: getattr(record, name)[rows] for name in along})


def step_function(question: Question) -> Cells:
    """Return the function from a record and its software to the time of a step, seconds."""
    known = question.known()
    return lambda record, one: known.predictor.total(known.parts(record, one))


def bytes_of(record: Job, one: Software) -> Number:
    """Return the bytes of the fullest device.

    Args:
        record: Of layouts.
        one: The software that they run on.
    """
    return memory_total_bytes(record, one.memory)


def heads_rule(question: Question, record: Job) -> Number:
    """Return the number of the rule that heads of attention break, 0 where they break none.

    Args:
        question: Gives the software: one of two kinds, which cut attention alike.
        record: Rows or a grid.
    """
    facts = question.known().plain.time
    if facts is None or facts.cp_head_ranks == 1.0:
        return 0.0
    return HEADS_LEFT * heads_left_over(record, facts)


def rule_of(limit: Limit) -> float:
    """Return the number of the rule of a row that a limit makes, 0 where it makes none.

    Args:
        limit: Of some software.
    """
    return NO_ROUNDS if limit.of in OF_ROUNDS else NO_PARTS if limit.of in OF_PARTS else 0.0


def counts_rule(limits: Iterable[Limit], record: Job) -> Number:
    """Return the number of the rule that a count of a row breaks, 0 where none is broken.

    Args:
        limits: Of `Question.limits_beside`.
        record: Rows or a grid.
    """
    found: Number = 0.0
    for limit in limits:
        if limit.of in OF_ROWS:
            found = np.where(COUNTED[limit.of](record) > 0.0, rule_of(limit), found)
    return found


def software_runs(limits: Iterable[Limit], record: Job) -> NDArray[np.bool_]:
    """Return which layouts the named software runs beside their sizes, as a mask.

    Args:
        limits: Of `Question.limits_beside`.
        record: Rows or a grid against switches.
    """
    found: NDArray[np.bool_] = np.ones((), dtype=np.bool_)
    for limit in limits:
        if limit.of in OF_ROWS:
            continue
        value = COUNTED[limit.of](record) if limit.counts else getattr(record, limit.of)
        least = -np.inf if limit.least is None else limit.least
        most = np.inf if limit.most is None else limit.most
        runs = (value >= least) & (value <= most)
        for name, above in limit.above.items():
            runs = runs | (getattr(record, name) <= above)
        found = found & runs
    return found


def layout_of(
    question: Question, row: Floats, recompute: int, zero: int, sequence: int
) -> tuple[Layout, Batch]:
    """Return the layout and batch of one row and one setting of the switches.

    Args:
        question: What was asked.
        row: One row of `ROW_FIELDS`, and the layers of both ends where a split was tried.
        recompute: Place in the question's choices.
        zero: The same.
        sequence: The same.
    """
    names = (*ROW_FIELDS, *STAGE_FIELDS)
    # Rows without a split have no columns for it.
    values: dict[str, Any] = {name: int(one) for name, one in zip(names, row, strict=False)}
    values |= question.stated_ends
    micro = values.pop("micro_batch_size")
    values["schedule"] = SCHEDULES[values["schedule"]]
    layout = Layout(
        **values,
        recompute=question.recompute[recompute],
        zero_stage=question.zero_stages[zero],
        sequence_parallel=question.sequence_parallel[sequence],
        precision=question.precision,
        order=question.order,
    )
    batch = Batch(
        global_batch_size=question.global_batch_size,
        micro_batch_size=micro,
        seq_length=question.seq_length,
    )
    return layout, batch
