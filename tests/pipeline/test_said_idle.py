"""From how many micro-batches on the idle time is what the list of schedules says of it."""

from __future__ import annotations

import re

import pytest

from steptime import simulate
from steptime.inputs.errors import ConfigError
from steptime.pipeline.schedules import SCHEDULES

_SAID = re.compile(r"m >= (\d*)p(?:/(\d))?(?: - (\d))?$")


def said_least(name: str, stages: int) -> float:
    """Return the fewest micro-batches of which a schedule's entry speaks."""
    entry = SCHEDULES[name]
    for text in (entry.bubble, entry.constraints.partition(";")[2].partition(";")[0].strip()):
        found = _SAID.search(text)
        if found is not None:
            times, over, less = found.groups()
            return int(times or 1) * stages / int(over or 1) - int(less or 0)
    return 1.0


def idle(name: str, stages: int) -> dict[int, float]:
    """Return the idle slots of a rank by micro-batches, of those that the schedule runs."""
    found = {}
    for count in range(1, 4 * stages + 1):
        try:
            made = simulate(
                name, stages=stages, micro_batches=count, backward_input=1, backward_weight=1
            )
        except ConfigError:
            continue
        found[count] = made.makespan - 3.0 * count * made.chunks
    return found


# What an entry says with m in it is of every m.
@pytest.mark.parametrize(
    "name", [name for name, one in SCHEDULES.items() if "(m " not in one.bubble]
)
@pytest.mark.parametrize("stages", [4, 6])
def test_idle_time_is_one_number_from_there_on(name: str, stages: int) -> None:
    found = idle(name, stages)
    least = said_least(name, stages)
    assert len({slots for count, slots in found.items() if count >= least}) == 1


@pytest.mark.parametrize("name", ["interleaved-1f1b", "looped-bfs", "zb-h1", "zb-h2", "zb-v"])
def test_with_one_micro_batch_less_it_is_another(name: str) -> None:
    found = idle(name, 8)
    least = said_least(name, 8)
    assert found[int(least) - 1] > found[int(least)]


def test_interleaving_with_fewer_micro_batches_than_stages_idles_longer() -> None:
    # 8 on 16 stages of 2 chunks: all but the last chunk wait for the 8 that a round lacks, so
    # that (15 + 8) x 3 / 2 slots of 24 are idle: 143.75 %, not the 93.75 % of the formula.
    made = simulate("interleaved-1f1b", stages=16, micro_batches=8, chunks=2)
    slots = made.makespan - 3.0 * 8 * 2
    assert slots / (3.0 * 8 * 2) == (15 + 8) / 16
