"""Closed forms of schedules against the simulator, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from steptime.formulas import bubble, schedule
from steptime.inputs.layout import SCHEDULES
from steptime.pipeline.build import build_orders, fixed_chunks, refusal
from steptime.pipeline.durations import crossing_rows, stage_times
from steptime.pipeline.execute import execute
from steptime.pipeline.measure import bubble as measured
from steptime.pipeline.memory import peak_in_flight, sends

RANKS = (1, 2, 3, 4, 5, 6, 8)


def sizes(name: str) -> list[tuple[int, int, int]]:
    chunks = [fixed_chunks(name)] if fixed_chunks(name) else [1, 2, 3]
    grid = [
        (p, m, v)
        for v in chunks
        for p in RANKS
        for m in sorted({1, 2, 3, 7, p, p + 1, 2 * p, 2 * p + 1, 3 * p})
    ]
    return [(p, m, v) for p, m, v in grid if not refusal(name, p, m, v)]


def simulated(name: str, p: int, m: int, v: int, f: int, i: int, w: int) -> dict[str, float]:
    orders = build_orders(name, p, m, v)
    stages = p * v
    parts = {
        "forward": [f] * stages,
        "backward": [i + w] * stages,
        "backward_input": [i] * stages,
        "backward_weight": [w] * stages,
    }
    send = {"latency": 0, "transfer": 0, "blocking": False}
    times = stage_times(orders, stages, m, parts, send, {"paired": True, "hidden": 0})
    return measured(orders, execute(orders, stages, m, times))


# ---- published


@pytest.mark.parametrize(
    ("name", "v", "overhead"),
    [("gpipe", 1, 0.375), ("1f1b", 1, 0.375), ("interleaved-1f1b", 2, 0.1875)],
)
def test_bubble_of_the_chapter(name: str, v: int, overhead: float) -> None:
    assert simulated(name, 4, 8, v, 1, 1, 1)["bubble_overhead"] == overhead
    assert simulated(name, 4, 8, v, 1, 1, 1)["bubble_fraction"] == overhead / (1 + overhead)


@pytest.mark.parametrize("p", [2, 4, 8, 16])
@pytest.mark.parametrize("name", ["dualpipe", "dualpipe-v"])
def test_dualpipe_has_the_reports_bubble(name: str, p: int) -> None:
    # deepseek2024, Table 2, with F = I = W = 1 and so F&B = 3, B = 2; the V has half the ranks.
    half = p // 2
    found = simulated(name, p if name == "dualpipe" else half, 2 * p, fixed_chunks(name), 1, 1, 1)
    ranks = p if name == "dualpipe" else half
    assert found["idle"] == ranks * (half - 1) * (3 + 2 - 3)


# ---- invariant


@pytest.mark.parametrize("name", SCHEDULES)
def test_peaks_are_the_simulators(name: str) -> None:
    place = float(SCHEDULES.index(name))
    for p, m, v in sizes(name):
        found = [peak_in_flight(order, p * v, m) for order in build_orders(name, p, m, v)]
        formed = [
            schedule.peak_in_flight(place, float(p), float(m), float(v), float(rank))
            for rank in range(p)
        ]
        if name in ("v-half", "v-min"):
            assert max(found) == max(formed) if m > p else max(found) <= max(formed), (p, m)
        else:
            assert found == formed, (p, m, v)


@pytest.mark.parametrize("name", SCHEDULES)
def test_sends_are_the_simulators(name: str) -> None:
    place = float(SCHEDULES.index(name))
    for p, m, v in sizes(name):
        orders = build_orders(name, p, m, v)
        formed = [
            schedule.sends_per_rank(place, float(p), float(m), float(v), float(rank))
            for rank in range(p)
        ]
        assert sends(orders, p * v, m, crossing_rows(orders, p * v, m)) == formed, (p, m, v)


def idle_is_exact(name: str, p: int, m: int, lengths: tuple[int, ...]) -> bool:
    if name in ("interleaved-1f1b", "interleaved-zb"):
        return m % p == 0
    if name in ("zb-h2", "zb-v"):
        return m >= 2 * p - 1 and (name == "zb-h2" or lengths[0] <= lengths[1] >= lengths[2])
    equal = len(set(lengths)) == 1
    return m >= p and (equal or name in ("gpipe", "1f1b", "looped-bfs", "zb-h1"))


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("lengths", [(1, 1, 1), (2, 3, 1), (3, 2, 2), (10, 12, 9), (5, 9, 3)])
def test_idle_time_is_the_simulators(name: str, lengths: tuple[int, int, int]) -> None:
    place = float(SCHEDULES.index(name))
    floats = [float(length) for length in lengths]
    checked = 0
    for p, m, v in sizes(name):
        if not idle_is_exact(name, p, m, lengths):
            continue
        found = simulated(name, p, m, v, *lengths)
        formed = schedule.idle_time(place, float(p), *floats)
        assert found["idle"] == p * formed, (p, m, v)
        assert found["bubble_overhead"] == schedule.bubble_overhead(
            place, float(p), float(m), float(v), *floats
        )
        checked += 1
    assert checked or len(set(lengths)) > 1


def test_chapter_form_is_the_same_to_the_last_bit() -> None:
    for p in range(1, 12):
        for rounds in (1, 2, 3, 7):
            for v in (1, 2, 3, 5):
                m = p * rounds
                found = simulated("interleaved-1f1b", p, m, v, 1, 1, 1)
                arguments = (float(p), float(m), float(v))
                assert found["bubble_overhead"] == bubble.bubble_overhead(*arguments)
                assert found["bubble_fraction"] == bubble.bubble_fraction(*arguments)


def test_arrays_give_the_same_bits() -> None:
    code, p, m, v, rank = (
        axis.ravel().astype(float)
        for axis in np.meshgrid(range(12), (1, 2, 5, 8), (1, 4, 16), (1, 2), (0, 1), indexing="ij")
    )
    ones = np.ones_like(p)
    for i in range(0, code.size, 7):
        at = (code[i], p[i], m[i], v[i])
        plain = [float(value) for value in at]
        row = [float(rank[i])]
        held = schedule.peak_in_flight(code, p, m, v, rank)[i]
        assert held == schedule.peak_in_flight(*plain, *row)
        over = schedule.bubble_overhead(code, p, m, v, ones, 2 * ones, ones / 3)[i]
        assert over == schedule.bubble_overhead(*plain, 1.0, 2.0, 1.0 / 3)
        sent = schedule.sends_per_rank(code, p, m, v, rank)[i]
        assert sent == schedule.sends_per_rank(*plain, *row)


def test_memory_models_line_is_this_closed_form() -> None:
    from types import SimpleNamespace

    from steptime.formulas.memory.in_flight import flight_line, in_flight

    for name in SCHEDULES:
        place = float(SCHEDULES.index(name))
        for p, m, v in sizes(name):
            if name == "zb-v" and m < 2 * p - 1:
                continue  # the line leaves out what the first ranks save there
            job = SimpleNamespace(
                pp=float(p), vpp=float(v), schedule=place, dp=1.0, micro_batch_size=1.0
            )
            job.global_batch_size = float(m)
            line = {**flight_line(job), "micro_batches": float(m)}
            for rank in range(p):
                held = schedule.peak_in_flight(place, float(p), float(m), float(v), float(rank))
                assert in_flight(line, float(rank)) == pytest.approx(held / v, rel=1e-12), (
                    name,
                    p,
                    m,
                    v,
                )
