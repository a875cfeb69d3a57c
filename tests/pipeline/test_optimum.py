"""The integer program against cases whose optimum is known, and against the schedules."""

from __future__ import annotations

from itertools import product

import pytest

from steptime.inputs.errors import ConfigError
from steptime.pipeline.optimum import Problem, shortest_step
from steptime.pipeline.report import report
from steptime.pipeline.timeline import simulate

FAR = 10_000


def line(p: int, m: int, held: int, *, split: bool) -> Problem:
    return Problem(routes=(tuple(range(p)),), micro_batches=m, most_held=held, split=split)


# ---- limit


@pytest.mark.parametrize(("p", "m"), list(product((1, 2, 3), (1, 2, 4))))
def test_one_piece_backwards_cannot_beat_the_classic_bubble(p: int, m: int) -> None:
    assert shortest_step(line(p, m, p, split=False), FAR) == (3 * (m + p - 1), True)
    assert shortest_step(line(p, m, m * p, split=False), FAR) == (3 * (m + p - 1), True)


def test_memory_for_one_micro_batch_runs_them_one_by_one() -> None:
    # F and B on both ranks, nothing beside; the next may start when the first rank is done.
    assert shortest_step(line(2, 3, 1, split=False), FAR) == (3 * 6, True)


def test_one_rank_is_never_idle() -> None:
    assert shortest_step(line(1, 5, 1, split=True), FAR) == (15, True)


# ---- invariant


@pytest.mark.parametrize(("p", "m"), [(2, 2), (2, 4), (3, 3), (3, 5)])
def test_zb_h1_is_as_short_as_its_memory_allows(p: int, m: int) -> None:
    step = report(simulate("zb-h1", p, m))
    assert shortest_step(line(p, m, max(step["peak_in_flight"]), split=True), FAR) == (
        step["makespan"],
        True,
    )


def test_more_memory_never_makes_the_best_step_longer() -> None:
    route = (0, 1, 1, 0)
    found = [
        shortest_step(Problem(routes=(route,), micro_batches=2, most_held=held), FAR)[0]
        for held in (2, 3, 4)
    ]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1]


def test_the_search_stops_at_what_is_known() -> None:
    assert shortest_step(line(2, 4, 2, split=True), 13) == (13, True)


# ---- refusal


def test_a_memory_for_less_than_one_micro_batch_is_refused() -> None:
    with pytest.raises(ConfigError, match="one micro-batch's share"):
        shortest_step(Problem(routes=((0, 1, 1, 0),), micro_batches=2, most_held=1), FAR)
