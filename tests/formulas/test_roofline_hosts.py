"""A pipeline whose hosts set the pace, against sums on paper."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from made import job

from steptime.formulas.roofline.hosts import backward_s, idle_share
from steptime.formulas.schedule import SCHEDULES, bubble_share
from steptime.formulas.schedule_rules import chunks_held

MICRO_BATCHES, STAGES = 8.0, 4.0


def layer(forward: float, backward: float, weight: float) -> Any:
    return {
        "forward": forward,
        "backward": backward,
        "backward_weight": weight,
        "weights_forward": 0.0,
        "weights_backward": 0.0,
        "total": forward + backward,
    }


def chunks_of(schedule: str) -> float:
    """Return the chunks that a schedule has, two where any number will do."""
    return float(chunks_held(float(SCHEDULES.index(schedule)))) or 2.0


def share(schedule: str, passes: Any, host: float, staged: float | None = None) -> float:
    chunks = chunks_of(schedule)
    record = job(pp=STAGES, vpp=chunks, schedule=float(SCHEDULES.index(schedule)))
    floors: Any = {"host": host, "staged": host if staged is None else staged}
    return float(idle_share(record, passes, floors, MICRO_BATCHES))


# Limit


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_without_a_host_a_schedule_idles_as_its_form_says(schedule: str) -> None:
    chunks = chunks_of(schedule)
    place = float(SCHEDULES.index(schedule))
    form = bubble_share(place, STAGES, MICRO_BATCHES, chunks, 1.0, 1.5, 0.75)
    assert share(schedule, layer(1.0, 2.25, 0.75), 0.0) == form


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b", "interleaved-1f1b", "looped-bfs"])
@pytest.mark.parametrize("host", [0.0, 1.0, 2.9, 3.0, 3.1, 30.0])
def test_a_schedule_that_splits_nothing_idles_alike_under_any_host(
    schedule: str, host: float
) -> None:
    assert share(schedule, layer(1.0, 2.0, 1.0), host) == 1.0
    assert share(schedule, layer(1.0, 2.0, 1.0), host, 2.0 * host) == 1.0


# By hand


def test_under_a_slow_host_passes_last_alike() -> None:
    # ZB-H1 leaves F + I - W of a rank's F + I + W (qi2023, Table 1): a third of three alike,
    # (1 + 3 - 1) / 5 of devices that take 1, 3 and 1.
    uneven = layer(1.0, 4.0, 1.0)
    assert share("zb-h1", uneven, 0.0) == pytest.approx(3.0 / 5.0)
    assert share("zb-h1", uneven, 50.0) == pytest.approx(1.0 / 3.0)


def test_between_the_two_the_longer_step_counts() -> None:
    # In units of idle 1F1B: devices are at work 8/3 x 5 and idle 3, hosts 8/3 x 5.25 and 1.75.
    # The first is 16.33, the second 15.75: a step of 16.33 idles 16.33 - 14 = 2.33 of 5.25.
    found = share("zb-h1", layer(1.0, 4.0, 1.0), 5.25)
    assert found == pytest.approx((8.0 / 3.0 * 5.0 + 3.0 - 8.0 / 3.0 * 5.25) / 5.25)


@pytest.mark.parametrize(
    ("host", "lasts"),
    # Devices alone; hosts alone, two thirds of 30; devices and what 8 micro-batches wait, 8 x 0.1.
    [(0.0, 3.0), (30.0, 20.0), (4.1, min(3.0 + 0.8, 2.0 * 4.1 / 3.0)), (3.9, 3.0)],
)
def test_gradients_hide_behind_the_pass_that_devices_or_hosts_make_long(
    host: float, lasts: float
) -> None:
    floors: Any = {"host": host, "staged": host}
    assert backward_s(layer(1.0, 3.0, 1.0), floors, MICRO_BATCHES) == pytest.approx(lasts)


# Invariant


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("place", range(3))
def test_a_shorter_pass_never_makes_a_step_longer(schedule: str, place: int) -> None:
    chunks = chunks_of(schedule)
    work = MICRO_BATCHES * chunks / (STAGES - 1.0)
    for host in (0.0, 2.0, 4.0, 6.0):
        steps = []
        for shorter in range(16):
            passes = [1.5, 1.75, 1.25]
            passes[place] *= 0.9**shorter
            found = layer(passes[0], passes[1] + passes[2], passes[2])
            each_s = max(found["total"], host)
            steps.append((work + share(schedule, found, host)) * each_s)
        assert all(b <= a * (1.0 + 1e-12) for a, b in pairwise(steps))
