"""Waits and drawings whose numbers were worked out on paper."""

from __future__ import annotations

import re

import pytest

from steptime.formulas.messages.pipeline import tensor_in_pipeline
from steptime.inputs.errors import ConfigError
from steptime.pipeline.draw import _mark, drawing
from steptime.pipeline.durations import crossing_rows, stage_ranks
from steptime.pipeline.idle_causes import arrival_slot, critical_path, deadlock_cycle
from steptime.pipeline.measure import phase_bounds
from steptime.pipeline.optimum import Problem, shortest_step
from steptime.pipeline.own_order import orders_from_text
from steptime.pipeline.report import report
from steptime.pipeline.schedules import MOST_ACTIONS, check_schedule, schedule_orders
from steptime.pipeline.stage_times import StageTimes
from steptime.pipeline.svg import row
from steptime.pipeline.timeline import Work, simulate, simulate_orders

# --- by hand: why ranks are idle


def causes(name: str, p: int, m: int, work: Work) -> list[dict[str, float]]:
    found: list[dict[str, float]] = report(simulate(name, p, m, 1, work))["idle_by_cause"]
    return found


def test_idle_time_of_two_ranks_by_cause() -> None:
    # Rank 0: F 0-1, F 1-2, B 4-6, B 7-9. Rank 1: F 1-2, B 2-4, F 4-5, B 5-7; the step ends at 9.
    first, second = causes("1f1b", 2, 2, Work(forward=1, backward=2))
    assert first == {"fill": 2, "drain": 1, "send": 0, "imbalance": 0}
    assert second == {"fill": 1, "drain": 2, "send": 0, "imbalance": 0}


def test_messages_take_their_share_of_the_gaps() -> None:
    # A message takes 1. Rank 1: F 2-3, B 3-5, F 5-6, B 6-8. Rank 0: F 0-1, F 1-2, B 6-8, B 9-11.
    first, second = causes("1f1b", 2, 2, Work(forward=1, backward=2, send_latency=1))
    assert first == {"fill": 3, "drain": 0, "send": 2, "imbalance": 0}
    assert second == {"fill": 1, "drain": 3, "send": 1, "imbalance": 0}


def test_a_slow_last_stage_makes_the_first_wait_in_the_middle() -> None:
    # Stage 0 takes 1 + 1, stage 1 takes 2 + 2. Rank 1: F 1-3, B 3-5, F 5-7, B 7-9, F 9-11,
    # B 11-13. Rank 0: F 0-1, F 1-2, B 5-6, F 6-7, B 9-10, B 13-14.
    work = Work(forward=(1, 2), backward=(1, 2))
    first, second = causes("1f1b", 2, 3, work)
    assert first == {"fill": 3, "drain": 5, "send": 0, "imbalance": 0}
    assert second == {"fill": 1, "drain": 1, "send": 0, "imbalance": 0}


def test_where_the_first_backward_and_the_last_forward_stand() -> None:
    # Two stages, two micro-batches: F of stage 0 is 2, 3; B of stage 0 is 8, 9.
    assert phase_bounds([2, 3, 8, 9], 2, 2) == [2, 1]
    assert phase_bounds([2, 8, 3, 9], 2, 2) == [1, 2]


def test_an_input_half_hands_on_what_its_backward_would() -> None:
    # Two stages, three micro-batches, three codes a row: F in rows 1-2, B 3-4, I 5-6, W 7-8.
    assert [arrival_slot(3 * row + 1, 2, 3) for row in range(1, 9)] == [
        *(4, 7, 10, 13),
        *(10, 13),
        *(22, 25),
    ]


def test_pairs_that_wait_for_each_other() -> None:
    # Two stages, two micro-batches: F 2-5, B of stage 1 6-7, of stage 0 8-9. Rank 0's pair holds
    # the F of micro-batch 1 and needs the B that is in rank 1's pair, which needs that F.
    text = "0F0,(0F1;0B0)OVERLAP_F_B,0B1\n1F0,(1F1;1B0)OVERLAP_F_B,1B1\n"
    orders, stages, count = orders_from_text(text, is_json=False)
    result = simulate_orders("mine", orders, stages, count, Work()).result
    assert deadlock_cycle(orders, stages, count, result) == [[1, 5, 3], [0, 8, 6]]


def test_the_longest_way_leads_through_a_pair() -> None:
    # Rank 1 turns micro-batch 0 round at once; rank 0's pair waits for that B, not for its F.
    text = "0F0,(0F1;0B0)OVERLAP_F_B,0B1\n1F0,1B0,1F1,1B1\n"
    orders, stages, count = orders_from_text(text, is_json=False)
    times = Work(forward=1, backward=2)
    result = simulate_orders("mine", orders, stages, count, times).result
    path = [orders[rank][at] for rank, at in critical_path(orders, stages, count, result)]
    # F, F, B of micro-batch 0; the pair; F, B, B of micro-batch 1. Codes as above.
    assert path[:3] == [2, 4, 6]
    assert set(path[3:4]) <= {3, 8}
    assert path[4:] == [5, 7, 9]


# --- by hand: where stages live


@pytest.mark.parametrize(
    ("name", "chunks", "home"),
    [("interleaved-1f1b", 2, [0, 1, 0, 1]), ("v-half", 2, [0, 1, 1, 0])],
)
def test_which_rank_runs_each_stage(name: str, chunks: int, home: list[int]) -> None:
    assert stage_ranks(schedule_orders(name, 2, 4, chunks), 4, 4, 0) == home


def test_only_results_that_leave_their_rank_cross() -> None:
    # Four stages: rows of F 1-4; of B 5-8 and of I 9-12, the last stage first; of W 13-16. In a V
    # stages 1 and 2 share a rank, so stages 0 and 2 send forwards, 3 and 1 backwards.
    crossing = crossing_rows(schedule_orders("v-half", 2, 4, 2), 4, 4)
    assert [row for row, crosses in enumerate(crossing) if crosses] == [1, 3, 5, 7, 9, 11]


def test_a_chunk_takes_its_part_of_a_rank() -> None:
    entry = {"title": "t", "source": "s", "seconds": False, "send": 0.5}
    work = StageTimes(forward=8.0, input=4.0, weight=2.0, **entry).work(chunks=2, share=0.5)
    assert (work.forward, work.backward_input, work.backward_weight) == (2.0, 1.0, 0.5)
    assert work.send_latency == 0.5


# --- by hand: a drawing of more slots than columns


def coarse(name: str, p: int, m: int, work: Work) -> list[str]:
    lines = drawing(simulate(name, p, m, 1, work), 20)[1:]
    return ["".join(text for text, _ in line[1:]) for line in lines]


def test_a_column_shows_what_fills_most_of_it() -> None:
    # 12 units in 20 columns of 0.6. Rank 0: F 0-1, B 10-12; rank 3: F 3-4, B 4-6.
    work = Work(forward=1.0 + 1e-9, backward=2.0)
    rows = coarse("1f1b", 4, 1, work)
    assert rows[0] == "FF" + "." * 15 + "BBB"
    assert rows[3] == "....." + "Fx" + "BBB" + "." * 10


def test_the_head_of_a_coarse_drawing_says_what_a_column_is() -> None:
    # GPipe, 2 ranks, 100 micro-batches: F 1 and B 2 end at 303.
    lines = drawing(simulate("gpipe", 2, 100, 1, Work(forward=1, backward=2)), 20)
    assert lines[0][0][0].startswith("1 column = 15.15 units of time")
    assert coarse("gpipe", 2, 100, Work(forward=1, backward=2))[0] == "FFFFFFx" + "B" * 13


# --- by hand: bounds


def test_as_many_actions_as_may_be() -> None:
    # F, B and W of each micro-batch and rank.
    most = MOST_ACTIONS // (3 * 10)
    assert check_schedule("1f1b", 10, most) == 1
    with pytest.raises(ConfigError, match="actions; use smaller numbers"):
        check_schedule("1f1b", 10, most + 1)


@pytest.mark.parametrize("times", [(-0.25, 1.0), (1.0, -1e-9)])
def test_no_stage_takes_less_than_nothing(times: tuple[float, float]) -> None:
    with pytest.raises(ConfigError, match="forward"):
        Work(forward=times)


def test_a_token_of_the_loss_is_one_number() -> None:
    # 3 all-reduces of one number a token: 2 x 5 tokens of 2 bytes, 7 micro-batches.
    messages = tensor_in_pipeline(7.0, 4.0, 2.0, 5.0, 3.0, 2.0, 2.0)
    assert messages[3]["count"] == 3.0
    assert messages[3]["bytes"] == 7.0 * 2.0 * 5.0 * 2.0
    assert messages[0]["bytes"] == 2.0 * 5.0 * 3.0 * 2.0


@pytest.mark.parametrize("pair", [2.0, 2.25, 2.5, 3.0])
@pytest.mark.parametrize("p", [4, 8, 16])
def test_pairs_that_overlap_leave_the_middle_ranks_what_the_report_prints(
    pair: float, p: int
) -> None:
    # deepseek2024, Table 2: (p / 2 - 1) (F&B + B - 3 W), where F = I = W = 1 and F&B is a pair.
    work = Work(forward=1, backward_input=1, backward_weight=1, pair=pair)
    numbers = report(simulate("dualpipe", p, 4 * p, 1, work))
    idle = [numbers["makespan"] - busy for busy in numbers["busy"]]
    printed = (p / 2 - 1) * (pair + 2 - 3)
    assert max(idle) == idle[p // 2] == pytest.approx(printed, abs=1e-9)
    # The ranks at both ends run fewer pairs, so they work longer in the same step.
    assert idle[0] == min(idle)


@pytest.mark.parametrize(
    ("forward", "back", "mark"),
    [
        *((0.2, 0.29, "."), (0.25, 0.25, "x"), (0.5, 0.0, "F"), (0.0, 0.5, "B")),
        # Nine tenths of one are still both.
        *((0.9, 0.1, "x"), (0.91, 0.09, "F"), (0.1, 0.9, "x"), (0.09, 0.91, "B")),
    ],
)
def test_a_column_that_is_half_busy_shows_what_it_is_busy_with(
    forward: float, back: float, mark: str
) -> None:
    assert _mark(forward, back) == mark


def test_of_a_pair_the_forward_is_drawn_above_the_backward() -> None:
    # Ten pixels a slot from 64 on; a row of 22 is cut in two while both run, in slots 4 to 7.
    text = "0F0,(0F1;0B0)OVERLAP_F_B,0B1\n1F0,1B0,1F1,1B1\n"
    orders, stages, count = orders_from_text(text, is_json=False)
    timeline = simulate_orders("mine", orders, stages, count, Work(forward=1, backward=2))
    drawn = "".join(row(timeline, 0, 10, 12, 0))
    boxes = re.findall(
        r'class="([FB])" x="([\d.]+)" y="(\d+)" width="([\d.]+)" height="(\d+)"', drawn
    )
    assert boxes == [
        *(("F", "64.00", "0", "10.00", "22"), ("F", "104.00", "0", "30.00", "11")),
        *(("B", "104.00", "11", "30.00", "11"), ("B", "164.00", "0", "20.00", "22")),
    ]


def test_phases_of_the_first_of_two_ranks_by_code() -> None:
    # Rows of two micro-batches: data 0, F of the stages 2 and 4, their backwards 6 and 8.
    assert phase_bounds([2, 3, 6, 7], 2, 2) == [2, 1]
    assert phase_bounds([2, 6, 3, 7], 2, 2) == [1, 2]
    assert phase_bounds([4, 8, 5, 9], 2, 2) == [1, 2]


def test_one_backward_gives_room_for_one_forward() -> None:
    # One micro-batch at a time: F, F, I, I, W on the first of two ranks, five slots each.
    problem = Problem(routes=((0, 1),), micro_batches=3, most_held=1)
    assert shortest_step(problem, 15) == (15, True)
