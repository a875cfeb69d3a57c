"""The schedules of the animation against the Python they are made from."""

from __future__ import annotations

import random
from typing import Any

import pytest

pytest.importorskip("pscript")

from steptime.book import javascript
from steptime.book.node import call_in_node, same_bits
from steptime.inputs.layout import SCHEDULES
from steptime.pipeline import build, durations, execute, held, idle_causes, measure

Call = tuple[str, list[Any], Any]


def drawn_times(rng: random.Random, orders: list[list[int]], stages: int, m: int) -> list[Any]:
    """Return arguments of ``stage_times``: uneven stages, sends of all sorts, pairs."""
    names = ("forward", "backward", "backward_input", "backward_weight")
    parts = {name: [rng.uniform(0.1, 3.0) for _ in range(stages)] for name in names}
    send = {
        "latency": rng.choice([0, rng.uniform(0, 0.5)]),
        "transfer": rng.choice([0, rng.uniform(0, 0.5)]),
        "blocking": rng.random() < 0.3,
    }
    pair = {"paired": rng.random() < 0.5, "hidden": rng.choice([0, 0.3])}
    return [orders, stages, m, parts, send, pair]


def calls_of(name: str, p: int, m: int, v: int, rng: random.Random) -> list[Call]:
    """Return all that the page asks about one schedule, with Python's answers."""
    refused = build.refusal(name, p, m, v)
    calls: list[Call] = [("refusal", [name, p, m, v], refused)]
    if refused:
        return calls
    orders = build.build_orders(name, p, m, v)
    stages = p if name == "dualpipe" else p * v
    lengths = [[rng.uniform(0.5, 2.0) for _ in range(3)] for _ in range(p)]
    tried = [name, p, m, v, lengths, rng.choice([0, 0.1])]
    calls.append(("tried_orders", tried, build.tried_orders(*tried)))
    calls.append(("build_orders", [name, p, m, v], orders))
    given = drawn_times(rng, orders, stages, m)
    times = durations.stage_times(*given)
    result = execute.execute(orders, stages, m, times)
    size = [orders, stages, m]
    calls += [
        ("stage_times", given, times),
        ("execute", [*size, times], result),
        ("bubble", [orders, result], measure.bubble(orders, result)),
        ("positions", size, idle_causes.positions(*size)),
        ("critical_path", [*size, result], idle_causes.critical_path(*size, result)),
        ("idle_by_cause", [*size, result, times], measure.idle_by_cause(*size, result, times)),
    ]
    rank = rng.randrange(p)
    kept = [orders[rank], result["starts"][rank], result["ends"][rank], stages, m, [1] * stages, 1]
    calls.append(("held_over_time", kept, held.held_over_time(*kept)))
    calls.append(
        (
            "peak_in_flight",
            [orders[rank], stages, m],
            held.peak_in_flight(orders[rank], stages, m),
        )
    )
    return calls


@pytest.fixture(scope="module")
def module() -> str:
    """Return the page's own module."""
    return javascript.bundle(*javascript.BUNDLES["pipeline"])


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_agrees_to_the_last_bit(name: str, module: str) -> None:
    rng = random.Random(name)
    calls: list[Call] = []
    for _ in range(16):
        p = rng.choice([2, 3, 4, 4, 8])
        m = rng.choice([1, 2, p, p + 1, 2 * p, 3 * p, 4 * p])
        v = build.fixed_chunks(name) or rng.choice([1, 2, 3, 4])
        calls += calls_of(name, p, m, v, rng)
    answers = call_in_node(module, [call[:2] for call in calls])
    wrong = [
        call[0]
        for call, answer in zip(calls, answers, strict=True)
        if not same_bits(call[2], answer)
    ]
    assert not wrong
    assert len(calls) > 30
