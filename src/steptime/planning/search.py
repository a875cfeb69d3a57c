"""Search all layouts of a model on a cluster: the best, the front, and why the rest fell out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from steptime.formulas.candidates import own_sequence, own_sharding, row_rule
from steptime.inputs.job import Job
from steptime.planning.cuts import settings_lost
from steptime.planning.evaluate import (
    REASONS,
    Floats,
    Switches,
    base_job,
    bytes_of,
    counts_rule,
    crossed_job,
    grid_job,
    heads_rule,
    over_software,
    software_runs,
    step_function,
    switches,
)
from steptime.planning.front import Kept, Selection, Tally, front_of
from steptime.planning.grid import ROW_FIELDS, Grid, Mask, Rows, pieces
from steptime.planning.question import Question
from steptime.planning.result import SearchResult, finished
from steptime.planning.space import grids, num_experts, sizes_over_layers
from steptime.planning.splits import best_splits, plain_rows, splits_tried

CELLS = 200_000
"""Layouts evaluated at once: enough that calling NumPy takes less than its sums do."""

KEEPS_BYTES = 2**25 - 2**16
"""The largest block after whose return glibc keeps blocks up to that size for their next use."""

TOO_MUCH_MEMORY = "memory: over the limit of the device"
NOT_SURE = "memory: over the limit, or fits with less than the chance asked"
TOO_MANY_STAGES = "pp: more stages than layers (sizes, not layouts)"
PRUNED = "time: not even the fastest of its switches can win (pruned)"


class Search:
    """One search, block by block; `step` takes in the next block.

    Args:
        question: What is asked.
        keep: How many of the fastest to keep.
        prune: Skip rows that cannot win; the best stays the same, the front is not kept.
        cells: Layouts evaluated at once.
    """

    def __init__(
        self, question: Question, *, keep: int = 1000, prune: bool = False, cells: int = CELLS
    ) -> None:
        self.question = question
        self.choices: Switches = switches(question)
        self.per_row = int(np.prod(self.choices.shape))
        self.most_rows = max(1, cells // self.per_row)
        self.base: Job = base_job(question)
        self.step_s = step_function(question)
        self.limit = question.fitting_bytes
        self.beside = question.limits_beside()
        self.prune = prune
        self.selection = Selection(keep, len(ROW_FIELDS), want_front=not prune)
        empty = Kept.none(len(ROW_FIELDS))
        self.tally = Tally(0, 0, {}, np.inf, empty, Selection(1, len(ROW_FIELDS)))
        over = sizes_over_layers(question)
        if over:
            self.tally.dropped[TOO_MANY_STAGES] = over

    def run(self) -> Iterator[int]:
        """Take in all blocks; yield the layouts evaluated after each."""
        # Else every array's pages go back to the system and are cleared again for the next one:
        # a quarter of the time. This block is never touched, so it costs nothing.
        np.empty(KEEPS_BYTES, dtype=np.uint8)
        for grid in grids(self.question, 8 * self.most_rows, self._drop_sizes):
            valid = self._valid(grid)
            if self.prune:
                rows = self._pruned(grid.rows()[valid.reshape(-1)])
                for start in range(0, len(rows), self.most_rows):
                    self._evaluate_rows(self._still_hopeful(rows[start : start + self.most_rows]))
                    yield self.tally.evaluated
            else:
                for part, mask in pieces(grid, valid, self.most_rows):
                    self._evaluate(part, mask)
                    yield self.tally.evaluated

    def split(self) -> None:
        """Take in the best split of layers over stages of the fastest layouts, and of the front."""
        kept, unsure = self.selection, self.tally.unsure
        slowest_s = kept.slowest_kept_s
        best = self._with_splits(kept.best, self.limit)
        if slowest_s < np.inf and self.tally.splits:
            self.tally.to_win = max(0.0, 1.0 - float(best.step_s.min()) / slowest_s)
        kept.best = best.taken(best.order()[: kept.most])
        kept.front = front_of(self._with_splits(kept.front, self.limit))
        room = self.question.memory_limit_bytes
        unsure.front = front_of(self._with_splits(unsure.front, room))

    def _with_splits(self, plain: Kept, limit: float) -> Kept:
        """Return some layouts, and beside each the best split that makes it faster."""
        every = plain_rows(plain)
        if not len(plain) or not splits_tried(self.question):
            return every
        faster, timed, saved = best_splits(self.question, self.base, plain, limit)
        self.tally.splits += timed
        self.tally.most_saved = max(self.tally.most_saved, saved)
        return every.joined(faster)

    def _drop(self, reason: str, count: int) -> None:
        if count:
            self.tally.dropped[reason] = self.tally.dropped.get(reason, 0) + count

    def _drop_sizes(self, rule: int, sizes: list[int], rows: int) -> None:
        """Count the layouts of sizes that cannot be cut, as `_distinct` would."""
        settings = list(self.choices.shape)
        lost = settings_lost(sizes, settings, self.question.seq_length, num_experts(self.question))
        if self.beside:
            alone = np.array([[*sizes, *(1.0 for _ in ROW_FIELDS[len(sizes) :])]])
            lost = int(self._distinct(alone).sum())
        self._drop(REASONS[rule - 1], rows * lost)

    def _valid(self, grid: Grid) -> Mask:
        """Return which combinations break no rule, and count the rest."""
        record = replace(self.base, **grid.columns(0))
        layout = row_rule(record)
        either = np.where(layout > 0.0, layout, heads_rule(self.question, record))
        either = np.where(either > 0.0, either, counts_rule(self.beside, record))
        rules = np.broadcast_to(either, grid.shape)
        switches = self._distinct(grid.first_rows()).reshape(len(grid.outer), -1).sum(axis=1)
        for number, reason in enumerate(REASONS, 1):
            self._drop(reason, int((rules == number).sum(axis=(1, 2)) @ switches))
        valid: Mask = rules == 0.0
        return valid

    def _pruned(self, rows: Rows) -> Rows:
        """Return the rows that may still win, the most promising first."""
        if not len(rows):
            return rows
        bound = self._bound(rows)
        order = np.argsort(bound, kind="stable")
        hopeful = order[bound[order] <= self.selection.slowest_kept_s]
        gone = np.setdiff1d(order, hopeful)
        self._drop(PRUNED, int(self._distinct(rows[gone]).sum()))
        hopeful_rows: Rows = rows[hopeful]
        return hopeful_rows

    def _bound(self, rows: Rows) -> Floats:
        """Return the least time of each row: recomputation makes no step faster.

        Sharding and sequence parallelism may, so both are tried.
        """
        none = np.zeros((1, 1, 1, 1))
        plain = replace(self.choices, recompute_full=none, recompute_selective=none)
        record, shape = crossed_job(self.base, rows, plain), (len(rows), *plain.shape)
        times = over_software(self.question, record, plain, shape, self.step_s)
        least: Floats = times.min(axis=(1, 2, 3))
        return least

    def _distinct(self, rows: Rows) -> Mask:
        """Return which cells are layouts of their own; of cells alike one stands for all."""
        shape = (len(rows), *self.choices.shape)
        record = crossed_job(self.base, rows, self.choices)
        places = [np.arange(float(size)) for size in shape]
        sequence = own_sequence(record, places[3].reshape(1, 1, 1, -1), float(shape[3]))
        sharding = own_sharding(record, places[2].reshape(1, 1, -1, 1))
        runs = software_runs(self.beside, record)
        return np.broadcast_to((sequence > 0.0) & (sharding > 0.0) & runs, shape)

    def _evaluate(self, grid: Grid, valid: Mask) -> None:
        """Time the valid layouts of a grid and take in what fits."""
        shape = (*grid.shape, *self.choices.shape)
        record = grid_job(self.base, grid, self.choices)
        distinct = self._distinct(grid.first_rows())[:, None, None] & valid[..., None, None, None]
        # What is not valid is computed too, whatever comes of it, and masked.
        with np.errstate(all="ignore"):
            memory = over_software(self.question, record, self.choices, shape, bytes_of)
            step = over_software(self.question, record, self.choices, shape, self.step_s)
        flat = (-1, *self.choices.shape)
        self._take(step.reshape(flat), memory.reshape(flat), distinct.reshape(flat), grid.rows())

    def _evaluate_rows(self, rows: Rows) -> None:
        """Time rows, each of its own, and take in what fits."""
        shape = (len(rows), *self.choices.shape)
        record = crossed_job(self.base, rows, self.choices)
        memory = over_software(self.question, record, self.choices, shape, bytes_of)
        step = over_software(self.question, record, self.choices, shape, self.step_s)
        self._take(step, memory, self._distinct(rows), rows)

    def _take(self, step: Floats, memory: Floats, distinct: Mask, rows: Rows) -> None:
        """Take in what fits of some layouts that were timed."""
        fits = distinct & (memory <= self.limit)
        number, fitting = int(distinct.sum()), int(fits.sum())
        self.tally.evaluated += number
        self.tally.fitting += fitting
        self._drop(NOT_SURE if self.question.fits_with else TOO_MUCH_MEMORY, number - fitting)
        self.selection.add(step, memory, fits, rows)
        if not self.tally.fitting:
            self._note_leanest(step, memory, distinct, rows)
            room = distinct & (memory <= self.question.memory_limit_bytes)
            self.tally.unsure.add(step, memory, room, rows)

    def _still_hopeful(self, rows: Rows) -> Rows:
        """Return the rows of a sorted block that a result found since has not ruled out."""
        bound = self._bound(rows)
        keep = bound <= self.selection.slowest_kept_s
        self._drop(PRUNED, int(self._distinct(rows[~keep]).sum()))
        left: Rows = rows[keep]
        return left

    def _note_leanest(self, step: Floats, memory: Floats, distinct: Mask, rows: Rows) -> None:
        if not memory.size:
            return
        masked = np.where(distinct, memory, np.inf)
        place = int(np.argmin(masked))
        least = float(masked.reshape(-1)[place])
        if least < self.tally.leanest_bytes:
            row, *switch = np.unravel_index(place, memory.shape)
            self.tally.leanest_bytes = least
            self.tally.leanest = Kept(
                np.array([step.reshape(-1)[place]]),
                np.array([least]),
                rows[row : int(row) + 1],
                np.array([switch], dtype=np.int64),
            )


def search(
    question: Question,
    *,
    keep: int = 1000,
    prune: bool = False,
    tie_fraction: float | None = None,
    cells: int = CELLS,
    splits: bool = True,
    seen: Callable[[int], object] | None = None,
) -> SearchResult:
    """Return the best layouts of a question.

    Args:
        question: What is asked.
        keep: How many of the fastest to keep; ties beyond that are counted no further.
        prune: Skip what cannot be among the fastest; no Pareto front then.
        tie_fraction: Layouts within this share of the best's time are ties; by default what
            the model's own error says.
        cells: Layouts evaluated at once.
        splits: Look for the best split of layers over stages of the fastest; the page does not.
        seen: Called with the layouts timed so far, after each block.

    Returns:
        The fastest, the Pareto front, and the counts by reason of what fell out.

    Raises:
        ConfigError: If the question is out of range.
    """
    start = time.perf_counter()
    run = Search(question, keep=keep, prune=prune, cells=cells)
    for timed in run.run():
        if seen is not None:
            seen(timed)
    counts = tuple(one.of for one in question.limits_beside() if one.counts)
    if counts and not run.tally.evaluated:
        # All of what is tried is asked for by name, as a schedule may be that software lacks.
        beyond = replace(question, beyond=(*question.beyond, *counts))
        more: dict[str, Any] = {"keep": keep, "prune": prune, "tie_fraction": tie_fraction}
        return search(beyond, cells=cells, splits=splits, seen=seen, **more)
    if splits:
        run.split()
    return finished(
        run.question, run.selection, run.tally, time.perf_counter() - start, tie_fraction
    )
