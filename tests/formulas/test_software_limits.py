"""What software counts of a layout, on paper."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from made import job

from steptime.formulas.schedule import SCHEDULES
from steptime.formulas.software_limits import (
    expert_ranks_left_over,
    round_lacks,
    rounds_left_over,
)

INTERLEAVED = float(SCHEDULES.index("interleaved-1f1b"))
STAGES: dict[str, Any] = {"pp": 4.0, "vpp": 2.0, "dp": 1.0, "micro_batch_size": 1.0}


@pytest.mark.parametrize(
    ("micro", "left", "lacks"),
    # Rounds of 4: three of 15 are left over and of 3; 3 lack one.
    [(16.0, 0.0, 0.0), (15.0, 3.0, 0.0), (3.0, 3.0, 1.0)],
)
def test_rounds_of_the_stages(micro: float, left: float, lacks: float) -> None:
    sizes = STAGES | {"global_batch_size": micro}
    one = job(**sizes, schedule=INTERLEAVED)
    assert (rounds_left_over(one), round_lacks(one)) == (left, lacks)
    # One chunk, one stage and what passes a chunk in one go know no rounds.
    others = (
        job(**sizes | {"vpp": 1.0}, schedule=INTERLEAVED),
        job(**sizes | {"pp": 1.0}, schedule=INTERLEAVED),
        job(**sizes, schedule=float(SCHEDULES.index("looped-bfs"))),
    )
    assert {(rounds_left_over(each), round_lacks(each)) for each in others} == {(0.0, 0.0)}


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        # Eight ranks share, or four of two copies; where nothing is shared each is alone.
        ({"zero_stage": 3.0}, 0.0),
        ({"zero_stage": 3.0, "dp_replicate": 2.0}, 4.0),
        ({"zero_stage": 0.0}, 1.0),
        ({"zero_stage": 0.0, "cp": 4.0, "tp": 2.0}, 0.0),
    ],
)
def test_experts_over_ranks_that_share(changes: dict[str, float], left: float) -> None:
    assert expert_ranks_left_over(job(**{"dp": 8.0, "ep": 8.0} | changes)) == left


def test_arrays_count_as_floats_do() -> None:
    micro = np.arange(1.0, 20.0)
    every: Any = micro
    many = job(**STAGES, schedule=INTERLEAVED, global_batch_size=every)
    each = [job(**STAGES, schedule=INTERLEAVED, global_batch_size=size) for size in micro]
    for count in (rounds_left_over, round_lacks):
        assert list(np.asarray(count(many))) == [count(one) for one in each]
