"""Closed forms of schedules against the simulator, to the last bit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from steptime.formulas import bubble, schedule
from steptime.formulas.schedules.zb_searched import SEARCHED
from steptime.inputs.layout import SCHEDULES
from steptime.pipeline.build import build_orders, fixed_chunks, refusal
from steptime.pipeline.durations import crossing_rows, stage_times
from steptime.pipeline.execute import execute
from steptime.pipeline.held import peak_in_flight, sends
from steptime.pipeline.measure import bubble as measured
from steptime.pipeline.searched import searched_orders

RANKS = (1, 2, 3, 4, 5, 6, 8)
TABLES = ("v-half", "v-min")


def sizes(name: str) -> list[tuple[int, int, int]]:
    chunks = [fixed_chunks(name)] if fixed_chunks(name) else [1, 2, 3]
    grid = [
        (p, m, v)
        for v in chunks
        for p in RANKS
        for m in sorted({1, 2, 3, 7, p, p + 1, 2 * p, 2 * p + 1, 3 * p})
    ]
    # One rank has no mirror: it runs 1F1B, whose own sizes are here.
    mirrored = name == "dualpipe"
    return [
        (p, m, v) for p, m, v in grid if not refusal(name, p, m, v) and not (p == 1 and mirrored)
    ]


def simulated(name: str, p: int, m: int, v: int, f: float, i: float, w: float) -> dict[str, float]:
    orders = build_orders(name, p, m, v)
    if name in SEARCHED:
        # Whole times, so that equal ones are equal.
        f, i, w = (round(1e6 * one) for one in (f, i, w))
        orders = searched_orders(name, [(f, i, w)] * p, m, 0)
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


@pytest.mark.parametrize(("name", "share"), [("dualpipe", 0.0625), ("dualpipe-v", 7 / 96)])
def test_dualpipes_idle_6_and_7_per_cent(name: str, share: float) -> None:
    # 8 ranks, 32 micro-batches: (8/2 - 1) x 2 of 32 x 3, and (8 - 1) x 2 of 32 x 2 x 3.
    v = fixed_chunks(name)
    assert simulated(name, 8, 32, v, 1, 1, 1)["bubble_overhead"] == share
    assert found_overhead(name, 8, 32, v, (1, 1, 1)) == share


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
        if name in SEARCHED:
            # What they may hold: with F = I = W one rank's worth is enough.
            assert max(found) <= max(formed), (p, m)
        elif name in TABLES:
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


def found_overhead(name: str, p: int, m: int, v: int, lengths: tuple[float, ...]) -> float:
    floats = [float(length) for length in lengths]
    place = float(SCHEDULES.index(name))
    return schedule.bubble_overhead(place, float(p), float(m), float(v), *floats)


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("lengths", [(1, 1, 1), (2, 3, 1), (3, 2, 2), (10, 12, 9), (5, 9, 3)])
def test_idle_time_is_the_simulators(name: str, lengths: tuple[int, int, int]) -> None:
    place = float(SCHEDULES.index(name))
    for p, m, v in sizes(name):
        if name in TABLES and lengths not in ((1, 1, 1), (10, 12, 9)):
            continue  # the tables keep these two ratios whole
        found = simulated(name, p, m, v, *lengths)
        formed = schedule.idle_time(place, float(p), float(m), float(v), *map(float, lengths))
        if name in SEARCHED:
            least = 1e6 * (m * sum(lengths) + formed)
            assert least <= found["makespan"] < 1.005 * least, (p, m)
            continue
        assert found["idle"] == p * formed, (p, m, v)
        assert found["bubble_overhead"] == found_overhead(name, p, m, v, lengths)


@pytest.mark.parametrize(
    ("p", "m", "lengths"),
    [
        *((9, 17, (1, 8, 0)), (8, 6, (8, 2, 8)), (9, 7, (8, 5, 0)), (9, 9, (8, 0, 5))),
        *((8, 10, (1, 5, 8)), (9, 17, (1, 8, 5)), (9, 14, (1, 5, 8)), (9, 10, (2, 1, 8))),
        *((3, 4, (8, 5, 2)), (9, 13, (2, 0, 8)), (6, 9, (8, 5, 8)), (6, 9, (8, 0, 5))),
        # Sizes at which one more or one less in any of them shows.
        *((5, 7, (8, 7, 7)), (2, 3, (8, 7, 3)), (3, 2, (8, 2, 3)), (4, 6, (5, 4, 3))),
        *((5, 8, (8, 3, 2)), (3, 2, (2, 1, 1)), (3, 2, (8, 3, 2)), (3, 4, (1, 2, 1))),
        *((3, 5, (1, 2, 3)), (3, 5, (2, 1, 4)), (4, 6, (2, 1, 2)), (4, 6, (4, 1, 2))),
        *((4, 6, (1, 4, 3)), (5, 8, (8, 4, 3))),
    ],
)
def test_each_wait_of_zb_v_where_it_is_the_longest(
    p: int, m: int, lengths: tuple[int, int, int]
) -> None:
    # Its idle time is the longest of fifteen waits; here another of them decides each time.
    place = float(SCHEDULES.index("zb-v"))
    formed = schedule.idle_time(place, float(p), float(m), 2.0, *map(float, lengths))
    assert simulated("zb-v", p, m, 2, *lengths)["idle"] == p * formed


@pytest.mark.parametrize("name", SCHEDULES)
def test_steps_are_the_simulators_at_random_ratios(name: str) -> None:
    # 12 x 170 + 3 x 60 = 2,220 in all. V-Half's and V-Min's forms leave out chains that matter
    # little.
    draw = random.Random(name)
    worst = 0.0
    for _ in range(60 if name in SEARCHED else 170):
        p, m, v = drawn_size(name, draw)
        lengths = tuple(draw.uniform(0.5, 2.0) for _ in range(3))
        lengths = tuple(round(one, 6) for one in lengths)
        found = simulated(name, p, m, v, *lengths)["makespan"]
        found /= 1e6 if name in SEARCHED else 1.0
        work = m * v * sum(lengths)
        formed = work * (1.0 + found_overhead(name, p, m, v, lengths))
        worst = max(worst, abs(formed / found - 1.0))
    assert worst < (0.005 if name in (*TABLES, *SEARCHED) else 1e-12)


def drawn_size(name: str, draw: random.Random) -> tuple[int, int, int]:
    while True:
        p = draw.randint(1, 16)
        m = draw.randint(max(1, p // 2), 6 * p)
        v = fixed_chunks(name) or draw.randint(1, 4)
        if not refusal(name, p, m, v):
            return p, m, v


def test_v_half_and_v_min_idle_as_their_block_says() -> None:
    # F = I = W, in slots of a chunk; the whole of it is what the authors' code gives.
    for p in range(3, 17):
        for name, slots in (
            ("v-half", 3 * p - 7 if p % 2 == 0 else 3 * p - 4),
            ("v-min", 4 * p - 7 if p % 3 == 0 else 4 * p - 5),
        ):
            assert simulated(name, p, 2 * p, 2, 1, 1, 1)["makespan"] == 12 * p + slots
            assert found_overhead(name, p, 2 * p, 2, (1, 1, 1)) == slots / (12 * p)


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
                # One stage has no pipeline to fill, whatever the schedule's name.
                expected = held / v if p > 1 else 1.0
                found = in_flight(line, float(rank))
                assert found == pytest.approx(expected, rel=1e-12), (name, p, m, v)
