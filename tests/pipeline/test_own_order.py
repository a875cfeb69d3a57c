"""Orders that users bring: read, checked, run, and their deadlocks named."""

from __future__ import annotations

import json

import pytest

from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import SCHEDULES
from steptime.pipeline.own_order import orders_from_text
from steptime.pipeline.report import deadlock, deadlock_line, report
from steptime.pipeline.timeline import Work, simulate, simulate_orders

TWO_RANKS = "0F0,0F1,,0B0,0B1\r\n,1F0,1B0,1F1,1B1\r\n"


def run(text: str, *, is_json: bool = False, work: Work | None = None):
    orders, stages, count = orders_from_text(text, is_json=is_json)
    return simulate_orders("mine", orders, stages, count, work or Work())


# ---- invariant


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("is_json", [True, False])
def test_what_a_schedule_writes_is_read_back(name: str, is_json: bool) -> None:
    step = simulate(name, 4, 8)
    numbers = report(step)
    text = (
        json.dumps({"ranks": numbers["ranks"]})
        if is_json
        else "\n".join(",".join(names) for names in numbers["ranks"])
    )
    again = run(text, is_json=is_json)
    assert again.orders == step.orders
    for key in ("makespan", "bubble_overhead", "peak_in_flight", "idle_by_cause", "sends"):
        assert report(again)[key] == numbers[key]


def test_a_dump_with_empty_slots_and_messages_is_read() -> None:
    noisy = "0UNSHARD,0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1,0REDUCE_GRAD\n"
    noisy += "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n"
    assert run(noisy).orders == run(TWO_RANKS).orders
    assert report(run(TWO_RANKS))["makespan"] == 9


def test_messages_between_the_stages_of_one_rank_are_free() -> None:
    one_rank = "0F0,1F0,1B0,0B0"
    assert report(run(one_rank, work=Work(send_latency=5)))["makespan"] == 6
    assert report(run(one_rank))["sends"] == [0]


# ---- limit


def test_a_ring_of_waits_is_named() -> None:
    stuck = run("0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n")
    cycle = deadlock(stuck)
    assert cycle == [
        {"rank": 1, "action": "1F1", "waits_for": "0F1"},
        {"rank": 0, "action": "0B0", "waits_for": "1B0"},
    ]
    assert deadlock_line(cycle) == (
        "the order deadlocks: rank 1 cannot run 1F1 before 0F1, rank 0 cannot run 0B0 before 1B0"
    )


def test_a_rank_that_waits_for_itself_is_named() -> None:
    cycle = deadlock(run("0F0,0W0,0I0"))
    assert cycle == [{"rank": 0, "action": "0W0", "waits_for": "0I0"}]
    assert "which rank 0 has later" in deadlock_line(cycle)


def test_a_ring_longer_than_two_leaves_out_who_only_waits() -> None:
    stuck = run("0B0,0F0\n1F0,1B0\n2F0,2B0\n")
    assert deadlock(stuck) == [
        {"rank": 0, "action": "0B0", "waits_for": "1B0"},
        {"rank": 1, "action": "1F0", "waits_for": "0F0"},
    ] or deadlock(stuck) == [
        {"rank": 1, "action": "1F0", "waits_for": "0F0"},
        {"rank": 0, "action": "0B0", "waits_for": "1B0"},
    ]


# ---- refusal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no action"),
        ("0F0,0B0,oops", "rank 0: cannot read 'oops'"),
        ("0F0,0B0\n1F0", "stage 1, micro-batch 0 needs F and B, or F, I and W; the order has 1F0"),
        ("0F0,0B0,0F0", "0F0 is there twice: on rank 0 and rank 0"),
        ("0F0\n0B0", "runs on ranks 0 and 1"),
        ("0F0,0I0", "needs F and B, or F, I and W; the order has 0F0, 0I0"),
        ("0F0,0B0\n\n1F0,1B0", "rank 1 has no action"),
        ("0F0,0B0,2F0,2B0", "stage 1, micro-batch 0 needs"),
        ("(0B0;0F0)OVERLAP_F_B", "must pair an F with a B or an I"),
        ("9999999F9999999", "too many"),
        ("1F99999999999", "cannot read"),
    ],
)
def test_what_cannot_be_run_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match="(?i)" + message.replace("(", r"\(")):
        orders_from_text(text, is_json=False)


@pytest.mark.parametrize("text", ["{", "3", '{"ranks": 3}', "[3]", "[]", '[["x"]]', "[[1, null]]"])
def test_json_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        orders_from_text(text, is_json=True)
