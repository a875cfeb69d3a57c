"""Few sizes of each schedule against the simulator: those at which one more or less shows."""

from __future__ import annotations

import pytest

from steptime.formulas import schedule
from steptime.formulas.schedule import SCHEDULES
from steptime.pipeline.report import report
from steptime.pipeline.timeline import Work, simulate


@pytest.mark.parametrize(
    ("name", "p", "m", "v"),
    [
        *(("interleaved-zb", p, m, v) for p, m in ((4, 8), (4, 4), (3, 6)) for v in (1, 2, 3, 4)),
        *(("interleaved-zb", p, m, 3) for p, m in ((7, 1), (4, 1), (4, 2), (4, 3))),
        *(("zb-v", p, m, 2) for p, m in ((9, 17), (4, 6), (5, 8), (3, 5), (6, 9), (8, 13))),
    ],
)
@pytest.mark.parametrize(
    "lengths", [(1, 1, 1), (1, 8, 5), (8, 5, 2), (2, 1, 4), (4, 1, 2), (4, 0, 1), (4, 2, 7)]
)
def test_idle_time_is_the_simulators(
    name: str, p: int, m: int, v: int, lengths: tuple[int, int, int]
) -> None:
    f, i, w = lengths
    work = Work(forward=f, backward_input=i, backward_weight=w)
    found = report(simulate(name, p, m, v, work))["bubble_overhead"]
    floats = (float(one) for one in (p, m, v, f, i, w))
    assert schedule.bubble_overhead(float(SCHEDULES.index(name)), *floats) == pytest.approx(
        float(found), rel=1e-12
    )


@pytest.mark.parametrize("p", [*range(3, 33), 33, 40, 48, 64])
def test_v_half_and_v_min_idle_as_their_block_says(p: int) -> None:
    """F = I = W, in slots of a chunk: what the authors' code gives, also beyond the tables."""
    for name, slots in (
        ("v-half", 3 * p - 7 if p % 2 == 0 else 3 * p - 4),
        ("v-min", 4 * p - 7 if p % 3 == 0 else 4 * p - 5),
    ):
        place = float(SCHEDULES.index(name))
        for m in (2 * p, 3 * p):
            found = schedule.idle_time(place, float(p), float(m), 2.0, 1.0, 1.0, 1.0)
            assert found == pytest.approx(float(slots), rel=1e-12)


@pytest.mark.parametrize("p", [66, 96, 128])
def test_v_min_of_more_ranks_than_its_tables_is_nearly_its_blocks(p: int) -> None:
    """As far beyond the tables as anybody runs, to half a per cent of what its block says."""
    slots = 4 * p - 7 if p % 3 == 0 else 4 * p - 5
    found = schedule.idle_time(
        float(SCHEDULES.index("v-min")), float(p), 2.0 * p, 2.0, 1.0, 1.0, 1.0
    )
    assert found == pytest.approx(slots, rel=5e-3)
