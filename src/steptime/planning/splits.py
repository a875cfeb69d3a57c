"""Layers of the first and the last pipeline rank: the best split for the fastest layouts.

Embedding and head take time and memory on their ranks, so a step is often shorter where those
hold a layer less, or where the others share what the layers leave over in another way. Which split
is best follows from what a layer and the head take; a few about it are timed by the same formulas.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from steptime.formulas.memory.stages import head_slots_by_cost
from steptime.formulas.ranks import shard_ranks
from steptime.formulas.stage_split import split_fault
from steptime.inputs.ability import ability_of
from steptime.inputs.job import Job
from steptime.inputs.layout import RECOMPUTE, STAGE_FIELDS
from steptime.planning.evaluate import Cells, Floats, bytes_of, rows_job, step_function
from steptime.planning.front import Kept
from steptime.planning.grid import ROW_FIELDS, Mask
from steptime.planning.question import Question

LEAST_GAIN = 1e-3
"""Share of the time that a split must save to be listed beside the layout that it is of."""
_ABOUT = (-1.0, 0.0, 1.0)
_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class SplitsTried:
    """What splits of layers over stages were timed, and whether others could win.

    Attributes:
        timed: How many, of the fastest layouts and of the front.
        most_saved: The largest share of a layout's time that its best split saved.
        to_win: The share that a split of any other layout would have to save to be the fastest;
            None where there is no other.
    """

    timed: int = 0
    most_saved: float = 0.0
    to_win: float | None = None

    @property
    def remark(self) -> str:
        """What a reader must know of the layouts whose splits were not tried; empty if none."""
        if self.to_win is None:
            return ""
        return (
            f"those of a slower layout would have to save {100.0 * self.to_win:.1f} % to win, "
            f"and {100.0 * self.most_saved:.1f} % is the most that one saved"
        )


NO_SPLITS = SplitsTried()


def splits_tried(question: Question) -> bool:
    """Return whether the ends of a pipeline are open: the software lets them be stated, nobody did.

    Args:
        question: What is asked.
    """
    facts = question.known().plain.time
    by_cost = facts is not None and facts.balance_by_cost > 0.0
    stated = all(ability_of(question.said).runs(name, 1) for name in STAGE_FIELDS)
    return stated and not (question.stated_ends or by_cost)


def plain_rows(kept: Kept) -> Kept:
    """Return layouts whose rows have columns for the ends of the pipeline, not stated.

    Args:
        kept: Some layouts; their rows are those of `ROW_FIELDS`.
    """
    ends = np.zeros((len(kept), len(STAGE_FIELDS)))
    return replace(kept, rows=np.hstack([kept.rows, ends]))


def best_splits(question: Question, base: Job, kept: Kept, limit: float) -> tuple[Kept, int, float]:
    """Return the layouts that a split makes faster, each with its best.

    How many were timed comes second, and third the largest share of time that one saved.

    Args:
        question: What is asked.
        base: Its record.
        kept: Layouts of a search, with rows of `ROW_FIELDS`.
        limit: Bytes that a layout may need.
    """
    piped = kept.taken(np.flatnonzero(kept.rows[:, ROW_FIELDS.index("pp")] > 1.0))
    if not len(piped):
        return plain_rows(piped), 0, 0.0
    record, ends = _tried(question, base, piped)
    places = np.flatnonzero(np.broadcast_to(split_fault(record) == 0.0, len(ends)))
    part = _part(record, places)
    step = np.full(len(ends), np.inf)
    step[places] = _of_software(question, part, step_function(question))
    memory = np.full(len(ends), np.inf)
    memory[places] = _of_software(question, part, bytes_of)
    step[memory > limit] = np.inf
    tried = len(_ABOUT) ** len(STAGE_FIELDS)
    # Of splits alike in time the leanest.
    ranked = step * (1.0 + _TIE * np.where(step < np.inf, memory / limit, 0.0))
    best = ranked.reshape(-1, tried).argmin(axis=1) + tried * np.arange(len(piped))
    found = Kept(step[best], memory[best], np.hstack([piped.rows, ends[best]]), piped.switches)
    gains = found.step_s < piped.step_s * (1.0 - LEAST_GAIN)
    saved = float(np.max(1.0 - found.step_s / piped.step_s, initial=0.0))
    return found.taken(np.flatnonzero(gains)), len(places), saved


def _tried(question: Question, base: Job, kept: Kept) -> tuple[Job, Floats]:
    """Return the record of layouts with the splits to try of each, and their ends."""
    tried = len(_ABOUT) ** len(STAGE_FIELDS)
    plain = rows_job(base, kept.rows)
    head = head_slots_by_cost(plain)
    share = (plain.num_layers + head) / plain.pp
    first, last = np.meshgrid(_ABOUT, _ABOUT, indexing="ij")
    ends = np.stack(
        [
            np.floor(share)[:, None] + first.reshape(1, -1),
            np.floor(np.maximum(share - head, 1.0))[:, None] + last.reshape(1, -1),
        ],
        axis=-1,
    ).reshape(-1, len(STAGE_FIELDS))
    ends = np.maximum(ends, 1.0)
    recompute, zero, sequence = np.repeat(kept.switches, tried, axis=0).T
    kinds = np.array([RECOMPUTE.index(name) for name in question.recompute])[recompute]
    record = replace(
        rows_job(base, np.repeat(kept.rows, tried, axis=0)),
        recompute_full=(kinds == RECOMPUTE.index("full")).astype(np.float64),
        recompute_selective=(kinds == RECOMPUTE.index("selective")).astype(np.float64),
        zero_stage=np.array(question.zero_stages, dtype=np.float64)[zero],
        sequence_parallel=np.array(question.sequence_parallel, dtype=np.float64)[sequence],
        first_stage_layers=ends[:, 0],
        last_stage_layers=ends[:, 1],
    )
    return record, ends


def _part(record: Job, places: np.ndarray) -> Job:
    """Return the record of some layouts of it."""
    arrays = (one.name for one in fields(record) if np.ndim(getattr(record, one.name)))
    return replace(record, **{name: getattr(record, name)[places] for name in arrays})


def _of_software(question: Question, record: Job, of: Cells) -> Floats:
    """Return a value of each layout, each asked of the software that it runs on."""
    known = question.known()
    shares: Mask = np.asarray((record.zero_stage > 2.0) & (shard_ranks(record) > 1.0))
    out = np.empty(len(shares))
    for places, sharing in ((np.flatnonzero(~shares), False), (np.flatnonzero(shares), True)):
        if places.size:
            out[places] = of(_part(record, places), known.software(sharing))
    return out
