"""ZB-1p, ZB-2p and the search within any memory: orders that a search makes for given times."""

from __future__ import annotations

import random
from typing import Any

import pytest

from steptime.inputs.schedule_name import SEARCHED as NAMES
from steptime.inputs.schedule_name import searched_name
from steptime.pipeline.optimum import Problem, shortest_step
from steptime.pipeline.report import summary
from steptime.pipeline.searched import SEARCHED, searched_orders
from steptime.pipeline.timeline import Work, simulate
from steptime.pipeline.zero_bubble import FORWARD, INPUT, WEIGHT

QI = {"forward": 18522, "backward_input": 18086, "backward_weight": 9337, "send_latency": 601}
"""Of a 1.5 billion GPT on 8 ranks, in microseconds (zbpp2025, v_schedule.py)."""


def numbers(name: str, p: int, m: int, kept: float = 1.0, **lengths: float) -> dict[str, Any]:
    return summary(simulate(name, p, m, 1, Work(**lengths), kept))


# ---- published


def test_each_search_has_a_name_that_is_known() -> None:
    assert tuple(SEARCHED) == tuple(NAMES)
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
    problem = Problem(routes=(line,), micro_batches=m, most_held=SEARCHED[name].ranks_held * p)
    assert shortest_step(problem, 1000) == (found, True)


# ---- a sum on paper


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
        most = SEARCHED[name].ranks_held * p or m
        for order in orders:
            assert len(set(order)) == 3 * m
            held = 0
            for code in order:
                held += {FORWARD: 1, INPUT + 1: 0, WEIGHT + 1: -1}[(code // m - 1) // p]
                assert held <= most


@pytest.mark.parametrize(
    ("name", "by_hand", "less"), [("zb-1p", "zb-h1", 0.0), ("zb-2p", "zb-h2", 0.03)]
)
def test_what_a_refusal_names_takes_as_long(name: str, by_hand: str, less: float) -> None:
    draw = random.Random(by_hand)
    for _ in range(40):
        p = draw.randint(2, 8)
        m = draw.randint(SEARCHED[name].ranks_held * p, 6 * p)
        names = ("forward", "backward_input", "backward_weight")
        lengths = {one: draw.randint(500, 2000) for one in names}
        share = numbers(name, p, m, **lengths)["makespan"]
        share /= numbers(by_hand, p, m, **lengths)["makespan"]
        assert 1.0 - less <= share <= (1.005 if less else 1.0), (p, m, lengths)


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
