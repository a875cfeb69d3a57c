"""ZB-1p, ZB-2p and the search within any memory: orders that a search makes for given times."""

from __future__ import annotations

import random
from typing import Any

import pytest

from steptime.formulas.schedule import SCHEDULES, idle_time
from steptime.formulas.schedules.registry import order_of, place_of
from steptime.formulas.schedules.zb_h1 import zb_h1_order
from steptime.formulas.schedules.zb_searched import (
    SEARCHED,
    bound_forms,
    searched_ranks,
)
from steptime.inputs.schedule_name import searched_name
from steptime.pipeline.filled import filled_orders, least_step
from steptime.pipeline.optimum import Problem, shortest_step
from steptime.pipeline.report import summary
from steptime.pipeline.searched import searched_orders
from steptime.pipeline.timeline import Work, simulate
from steptime.pipeline.zero_bubble import FORWARD, INPUT, WEIGHT

QI = {"forward": 18522, "backward_input": 18086, "backward_weight": 9337, "send_latency": 601}
"""Of a 1.5 billion GPT on 8 ranks, in microseconds (zbpp2025, v_schedule.py)."""


def numbers(name: str, p: int, m: int, kept: float = 1.0, **lengths: float) -> dict[str, Any]:
    return summary(simulate(name, p, m, 1, Work(**lengths), kept))


# ---- published


def test_each_search_has_a_name_that_is_known() -> None:
    assert set(SEARCHED) < set(SCHEDULES)
    assert searched_name("ZB2P") == "zb-2p"
    assert searched_name("zb-h2") == ""


def test_the_authors_first_model_idles_as_much_as_zb_h1_in_1f1bs_memory() -> None:
    # qi2023, Sec. 3.1 and 6: ZB-1p keeps to the memory of p micro-batches, as ZB-H1 does.
    found, by_hand = numbers("zb-1p", 8, 24, **QI), numbers("zb-h1", 8, 24, **QI)
    assert found["makespan"] == by_hand["makespan"]
    assert max(found["peak_in_flight"]) == 8


def test_twice_the_memory_is_enough_to_leave_almost_no_idle_time() -> None:
    # qi2023, Sec. 3.1: 34 h + 5 a s of a layer's bytes until I, of which W keeps 32 h; 24 heads.
    kept = 32 * 2304 / (34 * 2304 + 5 * 24 * 1024)
    work = Work(**QI)
    for m, most in ((24, 0.044), (32, 0.004), (64, 0.002)):
        step = simulate("zb-2p", 8, m, 1, work, kept)
        ends, starts = step.result["ends"], step.result["starts"]
        span = max(end[-1] - start[0] for start, end in zip(starts, ends, strict=True))
        busy = m * (18522 + 18086 + 9337) * step.slots_per_unit
        assert 0 <= 1 - busy / span < most


@pytest.mark.parametrize("name", ["zb-1p", "zb-2p"])
@pytest.mark.parametrize(("p", "m"), [(2, 4), (3, 3), (3, 6)])
def test_small_steps_are_the_shortest_that_there_are(name: str, p: int, m: int) -> None:
    """An integer program proves it (the authors warm-start one with the same heuristic)."""
    found = numbers(name, p, m, forward=1, backward_input=1, backward_weight=1)["makespan"]
    line = tuple(range(p))
    problem = Problem(routes=(line,), micro_batches=m, most_held=int(searched_ranks(name)) * p)
    assert shortest_step(problem, 1000) == (found, True)


# ---- a sum on paper


def test_the_least_idle_time_by_hand() -> None:
    # Two ranks, three micro-batches, two of them held. Rank 1 waits for F. Rank 0 runs F F and
    # waits for F and I less its second F, I in all. After the last I on rank 1 comes I on rank 0,
    # with one W left on rank 1 to run beside it.
    assert bound_forms(2.0, 2.0) == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, -1.0]]
    # All three held: another F in the wait, another W beside the last I.
    assert bound_forms(3.0, 2.0) == [[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [1.0, 1.0, -2.0]]


@pytest.mark.parametrize("name", SEARCHED)
def test_equal_actions_need_no_search(name: str) -> None:
    for p, m in ((2, 1), (3, 2), (4, 4), (4, 12), (8, 5)):
        orders = order_of(place_of(name), p, m, 1)
        assert orders == zb_h1_order(p, m, 1)
        work = {"forward": 1.0, "backward_input": 1.0, "backward_weight": 1.0}
        ends = simulate("zb-h1", p, m, 1, Work(**work)).result["ends"]
        assert max(end[-1] for end in ends) == least_step([[1, 1, 1]] * p, m, [p, 1], 0)


def test_two_ranks_by_hand() -> None:
    # F F I W on the last rank with its data from the first: in the memory of two, rank 1 starts
    # at 1 and runs six actions; rank 0 waits for the first I until 3, so both end at 7.
    orders = searched_orders("zb-1p", [(1, 1, 1)] * 2, 2, 0)
    kinds = [[(code // 2 - 1) // 2 for code in order] for order in orders]
    assert [kind for kind in kinds[0] if kind == 0] == [FORWARD, FORWARD]
    found = numbers("zb-1p", 2, 2, forward=1, backward_input=1, backward_weight=1)
    assert found["makespan"] == 7
    assert found["peak_in_flight"] == [2, 2]


# ---- invariant


@pytest.mark.parametrize("name", SEARCHED)
def test_any_times_fit_in_the_memory_and_run_once(name: str) -> None:
    draw = random.Random(name)
    for _ in range(12):
        p, m = draw.randint(1, 7), draw.randint(1, 20)
        lengths = [tuple(draw.randint(1, 9) for _ in range(3)) for _ in range(p)]
        orders = searched_orders(name, lengths, m, draw.randint(0, 2))  # type: ignore[arg-type]
        most = searched_ranks(name) * p or m
        for order in orders:
            assert len(set(order)) == 3 * m
            held = 0
            for code in order:
                held += {FORWARD: 1, INPUT + 1: 0, WEIGHT + 1: -1}[(code // m - 1) // p]
                assert held <= most


def test_its_form_is_the_executors_step_at_random_sizes_and_ratios() -> None:
    draw = random.Random(2)
    for case in range(700):
        name = SEARCHED[case % 3]
        p = draw.randint(1, 8)
        m = draw.randint(1, 3 * p)
        f, i, w = (round(1000 * 4 ** draw.uniform(-0.5, 0.5)) for _ in range(3))
        work = {"forward": f, "backward_input": i, "backward_weight": w}
        found = simulate(name, p, m, 1, Work(**work)).result["ends"]
        step = max(ends[-1] for ends in found)
        place, whole = float(SCHEDULES.index(name)), float(m * (f + i + w))
        form = whole + idle_time(place, float(p), float(m), 1.0, float(f), float(i), float(w))
        # Whole actions leave gaps: at four ranks and eleven micro-batches once 0.51 %.
        assert form * (1 - 1e-12) <= step <= 1.006 * form, (name, p, m, work)


@pytest.mark.parametrize("send", [0, 300])
def test_no_order_is_shorter_than_the_least_step(send: int) -> None:
    draw = random.Random(send)
    for _ in range(60):
        p, m = draw.randint(1, 6), draw.randint(1, 14)
        lengths = [[draw.randint(500, 2000) for _ in range(3)] for _ in range(p)]
        memory = [draw.choice([p, 2 * p, m]), 1]
        least = least_step(lengths, m, memory, send)
        for share in (0, 0.5, 1):
            assert filled_orders(lengths, m, memory, send, share)["end"] >= least


def makespans(name: str, p: int, counts: range, **lengths: float) -> list[float]:
    return [float(numbers(name, p, m, **lengths)["makespan"]) for m in counts]


UNIT: dict[str, Any] = {"forward": 1, "backward_input": 1, "backward_weight": 1}


@pytest.mark.parametrize("name", SEARCHED)
def test_fewer_micro_batches_than_ranks_take_as_long_as_on_paper(name: str) -> None:
    # Forwards and backwards once through eight ranks, and W of the last: 17. Each further
    # micro-batch adds an F and an I at the last rank, its W lie in the wait for the others.
    assert makespans(name, 8, range(1, 9), **UNIT) == [17, 19, 21, 23, 25, 27, 29, 31]


@pytest.mark.parametrize("name", SEARCHED)
def test_no_step_is_longer_than_by_hand_and_more_work_takes_longer(name: str) -> None:
    draw = random.Random(name)
    by_hand = ["zb-h1"] if name == "zb-1p" else ["zb-h1", "zb-h2"]
    for _ in range(6):
        p = draw.randint(2, 7)
        lengths = {one: float(draw.randint(1, 9)) for one in UNIT}
        lengths["send_latency"] = draw.choice((0.0, 0.5, 2.0))
        counts = range(1, 2 * p + 3)
        found = makespans(name, p, counts, **lengths)
        assert found == sorted(found), (p, lengths)
        for hand in by_hand:
            least = makespans(hand, p, counts, **lengths)
            assert all(map(float.__le__, found, least)), (p, lengths, hand)


def test_a_weight_backward_does_not_wait_for_its_input_backwards_message() -> None:
    # p = 2, m = 1: F, send, F, I, send, I, W: 5 of work on the longest way and two messages.
    assert numbers("zb-h1", 2, 1, **UNIT, send_latency=0.5)["makespan"] == 6.0
    assert makespans("zb-1p", 8, range(16, 17), **UNIT, send_latency=0.5) == [69.0]
    last = simulate("zb-h1", 2, 1, 1, Work(**UNIT, send_latency=5))
    assert last.result["starts"][1][-1] == last.result["ends"][1][-2]
