"""Pipelines small enough to be drawn on paper."""

from __future__ import annotations

import pytest

from steptime.inputs.errors import ConfigError
from steptime.pipeline.draw import drawing
from steptime.pipeline.held import held_over_time, peak_in_flight
from steptime.pipeline.optimum import Problem, shortest_step
from steptime.pipeline.own_order import orders_from_text
from steptime.pipeline.report import report
from steptime.pipeline.timeline import Work, simulate_orders

PAIRS = "0F0,(0F1;0B0)OVERLAP_F_B,(0F2;0B1)OVERLAP_F_B,0B2\n"


def makespan(text: str, work: Work) -> float:
    orders, stages, count = orders_from_text(text, is_json=False)
    return float(report(simulate_orders("mine", orders, stages, count, work))["makespan"])


@pytest.mark.parametrize(("pair", "wanted"), [(10, 30), (7, 24), (6, 22)])
def test_pairs_that_overlap_by_hand(pair: float, wanted: float) -> None:
    # F 4, then two pairs, then B 6. A pair takes 10 with nothing hidden, 6 with all of F.
    assert makespan(PAIRS, Work(forward=4, backward=6, pair=pair)) == wanted


def test_pairs_without_overlap_run_one_after_the_other() -> None:
    assert makespan(PAIRS, Work(forward=4, backward=6)) == 4 + 2 * 10 + 6
    assert makespan(PAIRS, Work(forward=4, backward=6, pairs_apart=True)) == 4 + 2 * 10 + 6


def test_a_pair_hands_both_results_on_at_its_end_unless_apart() -> None:
    # F 1, B 2. Rank 1 ends B0 at 4, when the pair on rank 0 begins: F2 is handed on at 7, B1
    # follows it at 8, and rank 0 ends at 14. Apart, F2 is there at 3, and B1 begins at 6.
    text = "0F0,0F1,(0F2;0B0)OVERLAP_F_B,0B1,0B2\n1F0,1B0,1F1,1F2,1B1,1B2\n"
    assert makespan(text, Work(forward=1, backward=2)) == 14
    assert makespan(text, Work(forward=1, backward=2, pairs_apart=True)) == 12


def test_what_a_rank_holds_by_hand() -> None:
    # Stage 0 keeps 8 bytes a micro-batch, of which W still needs a quarter. With one stage and
    # one micro-batch the codes of F, B, I and W are 1 to 4.
    split = held_over_time([1, 3, 4], [0, 1, 2], [1, 2, 3], 1, 1, [8], 0.25)
    assert split == {"time": [0, 2, 3], "held": [8, 2, 0]}
    whole = held_over_time([1, 2], [0, 1], [1, 3], 1, 1, [8], 0.25)
    assert whole == {"time": [0, 3], "held": [8, 0]}


def test_two_stages_on_one_rank_give_back_their_own_bytes() -> None:
    # Stages 0 and 1 keep 8 and 5: F0 F1 B1 B0, whose codes are 1, 2, 3, 4.
    held = held_over_time([1, 2, 3, 4], [0, 1, 2, 3], [1, 2, 3, 4], 2, 1, [8, 5], 0)
    assert held["held"] == [8, 13, 8, 0]


def test_the_most_that_a_rank_holds_by_hand() -> None:
    # One stage, two micro-batches: F is 2, 3; B 4, 5; I 6, 7; W 8, 9.
    assert peak_in_flight([2, 3, 4, 5], 1, 2) == 2
    assert peak_in_flight([2, 4, 3, 5], 1, 2) == 1
    # I alone gives nothing back, W does.
    assert peak_in_flight([2, 6, 3, 7, 8, 9], 1, 2) == 2
    assert peak_in_flight([2, 6, 8, 3, 7, 9], 1, 2) == 1


def test_shortest_steps_by_hand() -> None:
    # One micro-batch, F 1, B 3: two stages take 4 + 4 on one chain; split with I 1, W 2 the
    # chain is F F I I, and the last W ends 2 later: 6.
    one = {"routes": ((0, 1),), "micro_batches": 1, "most_held": 1}
    whole = Problem(**one, split=False, backward_input=1, backward_weight=2)
    split = Problem(**one, split=True, backward_input=1, backward_weight=2)
    assert shortest_step(whole, 99) == (8, True)
    assert shortest_step(split, 99) == (6, True)
    # A V of four chunks on two ranks, one micro-batch: the chain is 4 F and 4 I, then a W.
    turn = Problem(routes=((0, 1, 1, 0),), micro_batches=1, most_held=2)
    assert shortest_step(turn, 99) == (9, True)
    # Both ways at once, one micro-batch each: no rank waits for the other's, F F I I W and the
    # other direction's in the gaps: each rank has 6 slots of work; one starts at once.
    both = Problem(routes=((0, 1), (1, 0)), micro_batches=1, most_held=2)
    assert shortest_step(both, 99) == (6, True)


# --- by hand: times that a user gives


def test_messages_by_hand() -> None:
    # F 1, a message of 5, F 1, B 2, a message of 5, B 2.
    text = "0F0,0B0\n1F0,1B0\n"
    assert makespan(text, Work(send_latency=5)) == 16
    # Their bytes hold the sender's port for 3 more, each way.
    assert makespan(text, Work(send_latency=5, send_transfer=3)) == 22
    # The second F ends at 2, its message leaves behind the first's and is there at 1 + 3 + 3;
    # F and B end at 10, where the first message back leaves; the second is there 6 later.
    two = "0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n"
    assert makespan(two, Work(send_transfer=3)) == 7 + 1 + 2 + 6 + 2


@pytest.mark.parametrize(
    ("work", "wanted"),
    [
        (Work(), 1 + 2),
        (Work(backward_input=3), 1 + 3 + 1),
        (Work(backward_weight=4), 1 + 1 + 4),
        (Work(backward_input=3, backward_weight=4), 1 + 7),
        (Work(backward=5, backward_input=3, backward_weight=4), 1 + 5),
        (Work(forward=0.1, backward=0.2), 0.3),
    ],
)
def test_a_backward_by_hand(work: Work, wanted: float) -> None:
    assert makespan("0F0,0B0\n", work) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    ("work", "wanted"),
    [(Work(), 1 + 1 + 1), (Work(backward=6), 1 + 3 + 3), (Work(backward_input=3), 1 + 3 + 1)],
)
def test_a_backward_in_two_by_hand(work: Work, wanted: float) -> None:
    # Each is half of B where it is not given.
    assert makespan("0F0,0I0,0W0\n", work) == wanted


def test_pairs_of_stages_that_differ_are_refused() -> None:
    for times in ({"forward": (1, 2)}, {"backward": (2, 2)}, {"backward_weight": (1, 1)}):
        with pytest.raises(ConfigError, match="pair needs one forward and one backward"):
            Work(pair=3, **times)
    # From the longer of the two to their sum.
    assert Work(forward=1, backward=2, pair=2).pair == 2
    assert Work(forward=1, backward=2, pair=3).pair == 3
    for wrong in (1.9, 3.1):
        with pytest.raises(ConfigError, match="must be from 2"):
            Work(forward=1, backward=2, pair=wrong)


# --- by hand: the drawing


def drawn(text: str, work: Work, columns: int = 80) -> list[str]:
    orders, stages, count = orders_from_text(text, is_json=False)
    lines = drawing(simulate_orders("mine", orders, stages, count, work), columns)
    return ["".join(piece for piece, _ in line).rstrip() for line in lines]


def test_two_ranks_drawn_by_hand() -> None:
    text = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"
    assert drawn(text, Work())[1:] == [
        "rank 0 F0F1....B0--..B1--",
        "rank 1 ..F0B0--F1B1--....",
    ]
    # In halves of a unit the same, and each label is as wide as what it stands for.
    assert drawn(text, Work(forward=0.5, backward=1))[1:] == drawn(text, Work())[1:]


def test_a_pair_is_drawn_in_two_halves() -> None:
    assert drawn(PAIRS, Work(forward=4, backward=6, pair=6))[1:] == [
        "rank 0 F0------F1----B0----F2----B1----B2----------"
    ]
