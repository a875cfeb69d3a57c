"""The collectives' bytes and seconds: limits, and a ring walked step by step."""

from __future__ import annotations

import pytest

from steptime.formulas import collectives

TIMES = (
    collectives.all_reduce_s,
    collectives.all_gather_s,
    collectives.reduce_scatter_s,
    collectives.all_to_all_s,
)


def ring_sent_bytes(size_bytes: float, num_devices: int, rounds: int) -> float:
    """Return what device 0 sends when each step moves one n-th of the buffer on."""
    return sum(size_bytes / num_devices for _ in range(rounds * (num_devices - 1)))


# Limits


@pytest.mark.parametrize("time_s", TIMES)
def test_one_device_costs_nothing(time_s: object) -> None:
    assert time_s(1e9, 1.0, 1e9, 5e-6) == 0.0  # type: ignore[operator]


@pytest.mark.parametrize("time_s", TIMES)
def test_endless_bandwidth_leaves_the_steps(time_s: object) -> None:
    steps = 14.0 if time_s is collectives.all_reduce_s else 7.0
    assert time_s(1e9, 8.0, 1e300, 5e-6) == pytest.approx(steps * 5e-6)  # type: ignore[operator]


def test_a_message_costs_its_bytes_and_one_latency() -> None:
    assert collectives.permute_s(50e9, 50e9, 5e-6) == 1.0 + 5e-6


# Invariants


@pytest.mark.parametrize("num_devices", [2, 3, 8, 64])
def test_sent_bytes_are_those_of_a_ring_walked_step_by_step(num_devices: int) -> None:
    size = 64.0 * num_devices
    once, twice = (ring_sent_bytes(size, num_devices, rounds) for rounds in (1, 2))
    n = float(num_devices)
    assert collectives.all_gather_sent_bytes(size, n) == pytest.approx(once, rel=1e-15)
    assert collectives.reduce_scatter_sent_bytes(size, n) == pytest.approx(once, rel=1e-15)
    assert collectives.all_to_all_sent_bytes(size, n) == pytest.approx(once, rel=1e-15)
    assert collectives.all_reduce_sent_bytes(size, n) == pytest.approx(twice, rel=1e-15)


@pytest.mark.parametrize("num_devices", [2.0, 4.0, 16.0])
def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather(num_devices: float) -> None:
    link = (300e9, 5e-6)
    halves = collectives.reduce_scatter_s(1e9, num_devices, *link) + collectives.all_gather_s(
        1e9, num_devices, *link
    )
    assert collectives.all_reduce_s(1e9, num_devices, *link) == pytest.approx(halves, rel=1e-15)
