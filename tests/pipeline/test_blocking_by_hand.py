"""Waits of a pipeline on paper, and the edges of what is read of it."""

from __future__ import annotations

import pytest

from steptime.inputs.errors import ConfigError
from steptime.pipeline.execute import code_offsets
from steptime.pipeline.filled import least_step
from steptime.pipeline.own_order import MOST_RANKS, orders_from_text
from steptime.pipeline.report import report
from steptime.pipeline.stage_times import StageTimes
from steptime.pipeline.timeline import Work, simulate


def test_a_code_has_its_kinds_number_and_marks_theirs() -> None:
    assert code_offsets(2, [10, 20, 30, 40], 99) == [0, 10, 10, 20, 20, 30, 30, 40, 40, 99]


def test_an_order_of_as_many_ranks_as_may_be_is_read() -> None:
    empty = "\n" * (MOST_RANKS - 1)
    with pytest.raises(ConfigError, match="bogus"):
        orders_from_text(f"{empty}bogus\n", is_json=False)
    with pytest.raises(ConfigError, match="number of ranks"):
        orders_from_text(f"{empty}\nbogus\n", is_json=False)


def test_times_of_no_pipeline_name_no_ranks() -> None:
    bare = StageTimes(
        title="", source="", seconds=True, forward=1.0, input=1.0, weight=1.0, send=0.0
    )
    assert (bare.num_ranks, bare.num_layers, bare.num_micro_batches) == (0, 0, 0)
    assert bare.activation_bytes == 0.0


def test_the_last_gradients_bound_a_step_by_hand() -> None:
    """Rank 0 takes 1, 1 and 10; rank 1 10, 10 and 1; room for two, and half of one until its W.

    Rank 1 starts at 1, runs 4 F and 4 I, and of 3 other W no more than 2 are left: one is done
    before its last I. That one goes back to rank 0, which runs its I and its W: 1 + 80 + 1 + 11.
    """
    lengths = [[1, 1, 10], [10, 10, 1]]
    assert least_step(lengths, 4, [2, 0.5], 0) == 93
    # With room for one F, each W is done before the next I: three.
    assert least_step(lengths, 4, [1, 0.5], 0) >= 1 + 80 + 3 + 11


def test_who_sends_waits_until_it_is_sent() -> None:
    """F 1, B 2, a message 1, which its sender waits for.

    Rank 0 runs F0 from 0 and F1 from 2, and has sent it at 4. Rank 1 runs F0 from 2 and B0 from 3,
    sends it until 6, and runs F1 and B1 until 9. Rank 0 runs B0 from 6 and, what came at 10, B1.
    """
    work = Work(forward=1, backward=2, send_transfer=1, blocking_sends=True)
    found = report(simulate("1f1b", 2, 2, 1, work))
    assert found["starts"] == [[0, 2, 6, 10], [2, 3, 6, 7]]
    # Rank 0 waits 1 for its own F1 to go, and 1 for each B on its way; rank 1 for F0, and for B0.
    assert found["idle_by_cause"] == [
        {"fill": 2, "drain": 1, "send": 3, "imbalance": 0},
        {"fill": 1, "drain": 3, "send": 2, "imbalance": 0},
    ]


def test_who_sends_waits_before_what_needs_no_message() -> None:
    """F, I and W of 1. Rank 1 ends I1 at 7, sends it until 8 and then runs both W.

    Rank 0 waits 1 for its own F1 to go; 2 for the first gradients, of which 1 on their way; and 1
    for the second ones. Rank 1 waits 1 for F0 of 2, and 1 each for its own I0 and I1 to go.
    """
    work = Work(
        **{"forward": 1, "backward_input": 1, "backward_weight": 1},
        **{"send_transfer": 1, "blocking_sends": True},
    )
    found = report(simulate("zb-h1", 2, 2, 1, work))
    assert found["starts"] == [[0, 2, 5, 6, 8, 9], [2, 3, 5, 6, 8, 9]]
    assert found["idle_by_cause"] == [{"fill": 1, "drain": 0, "send": 3, "imbalance": 0}] * 2
