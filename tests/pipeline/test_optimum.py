"""The integer program against cases whose optimum is known, and against the schedules."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import pytest

from steptime.inputs.errors import ConfigError
from steptime.pipeline import optimum
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


Action = tuple[int, int, int, str]


def orders_of(problem: Problem, rank: int) -> Iterator[tuple[Action, ...]]:
    """Yield every order of the actions of a rank that its memory allows."""
    kinds = "FIW" if problem.split else "FB"
    own = [
        (place, batch, stage, kind)
        for place, route in enumerate(problem.routes)
        for batch in range(problem.micro_batches)
        for stage, where in enumerate(route)
        for kind in kinds
        if where == rank
    ]
    for order in permutations(own):
        held, most, at = 0, 0, {action: i for i, action in enumerate(order)}
        for _, _, _, kind in order:
            held += {"F": 1, "I": 0, "W": -1, "B": -1}[kind]
            most = max(most, held)
        first = {(p, b, s): at[p, b, s, "F"] for p, b, s, _ in own}
        in_turn = all(
            at[p, b, s, "F"] <= at[p, b, s, kinds[1]] <= at[p, b, s, kinds[-1]] for p, b, s in first
        )
        if most <= problem.most_held and in_turn:
            yield order


def slots_of(problem: Problem, orders: tuple[tuple[Action, ...], ...]) -> int | None:
    """Return the slots that orders take if each action starts as soon as it can; None if stuck."""
    long = {"F": problem.forward, "I": problem.backward_input, "W": problem.backward_weight}
    long["B"] = long["I"] + long["W"]
    backward = "I" if problem.split else "B"
    ends: dict[Action, int] = {}
    free, at = [0] * len(orders), [0] * len(orders)
    while sum(at) < sum(map(len, orders)):
        ready = [rank for rank, order in enumerate(orders) if at[rank] < len(order)]
        for rank in ready:
            place, batch, stage, kind = action = orders[rank][at[rank]]
            last = len(problem.routes[place]) - 1
            after: Action | None = (place, batch, stage - 1, "F") if stage else None
            if kind == "W":
                after = (place, batch, stage, "I")
            elif kind != "F":
                ahead = (place, batch, stage + 1, backward)
                after = ahead if stage < last else (place, batch, stage, "F")
            if after is None or after in ends:
                begin = max(free[rank], ends[after] if after else 0)
                ends[action] = free[rank] = begin + long[kind]
                at[rank] += 1
                break
        else:
            return None
    return max(ends.values())


BOTH_WAYS = ((0, 1, 2), (2, 1, 0))
SMALL = (
    (Problem(routes=BOTH_WAYS, micro_batches=1, most_held=2, forward=2, backward_weight=2), 14),
    (Problem(routes=BOTH_WAYS, micro_batches=1, most_held=2, split=False, forward=2), 14),
    (Problem(routes=((0, 1), (1, 0)), micro_batches=1, most_held=1, forward=2), 13),
    (Problem(routes=((0, 1),), micro_batches=2, most_held=1, forward=2), 14),
    (Problem(routes=((0, 1),), micro_batches=2, most_held=2, forward=2, backward_weight=2), 12),
    (Problem(routes=((0, 1),), micro_batches=3, most_held=2, split=False, forward=2), 16),
    (Problem(routes=((0, 1, 1, 0),), micro_batches=1, most_held=2, split=False), 12),
)


@pytest.mark.parametrize(("problem", "wanted"), SMALL)
def test_the_program_finds_the_best_of_all_orders(problem: Problem, wanted: int) -> None:
    ranks = 1 + max(map(max, problem.routes))
    every = product(*(list(orders_of(problem, rank)) for rank in range(ranks)))
    tried = [slots for orders in every if (slots := slots_of(problem, orders)) is not None]
    assert min(tried) == wanted
    assert shortest_step(problem, FAR) == (wanted, True)


def test_more_memory_never_makes_the_best_step_longer() -> None:
    route = (0, 1, 1, 0)
    found = [
        shortest_step(Problem(routes=(route,), micro_batches=2, most_held=held), FAR)[0]
        for held in (2, 3, 4)
    ]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1]


@pytest.mark.parametrize(("p", "m"), [(1, 3), (2, 2), (3, 5)])
def test_what_cannot_be_shorter_by_hand_is_not_searched(
    p: int, m: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The last rank waits for p - 1 forwards, works 3 m, and p - 1 backwards follow its last.
    monkeypatch.setattr(optimum, "_fits", None)
    known = (p - 1) + 3 * m + 2 * (p - 1)
    assert shortest_step(line(p, m, p, split=False), known) == (known, True)


def test_the_search_stops_at_what_is_known() -> None:
    assert shortest_step(line(2, 4, 2, split=True), 13) == (13, True)


# ---- refusal


def test_a_memory_for_less_than_one_micro_batch_is_refused() -> None:
    with pytest.raises(ConfigError, match="one micro-batch's share"):
        shortest_step(Problem(routes=((0, 1, 1, 0),), micro_batches=2, most_held=1), FAR)
