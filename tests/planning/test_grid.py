"""Layouts on axes of their own against the same layouts one after another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steptime.formulas.candidates import row_rule
from steptime.inputs.presets import accelerator, model
from steptime.planning.evaluate import (
    base_job,
    bytes_of,
    crossed_job,
    grid_job,
    over_software,
    rows_job,
    step_function,
    switches,
)
from steptime.planning.grid import Grid, pieces
from steptime.planning.question import Question
from steptime.planning.space import grids, row_blocks


def question(name: str, devices: int, batch: int, **more: object) -> Question:
    return Question(
        model=model(name),
        accelerator=accelerator("h100"),
        num_devices=devices,
        global_batch_size=batch,
        seq_length=4096,
        **more,  # type: ignore[arg-type]
    )


EVERY = ("1f1b", "interleaved-1f1b", "zb-h1", "zb-v", "dualpipe", "dualpipe-v")
QUESTIONS = [
    question("deepseek-v3", 96, 960, precision="fp8", schedules=EVERY),
    question("llama3-8b", 24, 96, pinned=(("dp_replicate", (1, 2)),), schedules=EVERY),
    question("qwen3-30b-a3b", 16, 64, predictor="baseline"),
]


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.model.name)
def test_a_grid_gives_the_bits_of_its_rows(asked: Question) -> None:
    base, choices = base_job(asked), switches(asked)
    checked = 0
    for grid in grids(asked, 2000):
        rows = grid.rows()
        faults = row_rule(replace(base, **grid.columns(0)))
        assert (
            np.broadcast_to(faults, grid.shape).reshape(-1) == row_rule(rows_job(base, rows))
        ).all()
        mask = np.broadcast_to(faults == 0.0, grid.shape)
        valid = mask.reshape(-1)
        if not valid.any():
            continue
        one_by_one = crossed_job(base, rows[valid], choices)
        together = grid_job(base, grid, choices)
        flat, whole = (int(valid.sum()), *choices.shape), (*grid.shape, *choices.shape)
        for of in (step_function(asked), bytes_of):
            alone = over_software(asked, one_by_one, choices, flat, of)
            with np.errstate(all="ignore"):
                found = over_software(asked, together, choices, whole, of)
            assert (found.reshape(-1, *choices.shape)[valid] == alone).all()
            checked += alone.size
    assert checked > 10_000


def test_rows_of_all_grids_are_the_space() -> None:
    asked = QUESTIONS[0]
    rows = np.vstack([grid.rows() for grid in grids(asked, 50)])
    assert len(np.unique(rows, axis=0)) == len(rows)
    whole = np.vstack(list(row_blocks(asked, 10**9)))
    assert np.array_equal(np.unique(rows, axis=0), np.unique(whole, axis=0))


@pytest.mark.parametrize("most", [1, 7, 100, 10**6])
def test_pieces_hold_every_valid_combination_once(most: int) -> None:
    draw = np.random.default_rng(3)
    outer = draw.integers(1, 9, (40, 7)).astype(float)
    grid = Grid(outer, np.arange(10.0).reshape(5, 2), np.array([1.0, 2.0, 4.0, 8.0]))
    valid = draw.random(grid.shape) < 0.3
    valid[3], valid[:, 2], valid[..., 1] = False, False, False
    wanted = grid.rows()[valid.reshape(-1)]
    parts = list(pieces(grid, valid, most))
    found = np.vstack([part.rows()[mask.reshape(-1)] for part, mask in parts])
    assert len(found) == len(wanted)
    assert np.array_equal(np.unique(found, axis=0), np.unique(wanted, axis=0))
    assert all(mask.any(axis=(0, 2)).all() and mask.any(axis=(0, 1)).all() for _, mask in parts)
    assert all(part.shape[0] == 1 or mask.size <= max(most, 12) for part, mask in parts)


def test_nothing_valid_gives_no_piece() -> None:
    grid = next(grids(QUESTIONS[1], 100))
    assert list(pieces(grid, np.zeros(grid.shape, dtype=bool), 100)) == []
