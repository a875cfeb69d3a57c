"""How well the models order published layouts."""

from __future__ import annotations

import math

import pytest

from steptime.inputs.datafiles import data_table
from steptime.planning.result import tie_fraction_of
from steptime.planning.ties import (
    Group,
    groups,
    measured_tie_fraction,
    pairs,
    right_share,
    steepness,
)

# --- published


@pytest.mark.parametrize("predictor", data_table("search_constants.toml")["tie_fraction"])
def test_the_constant_is_what_published_runs_say(predictor: str) -> None:
    # In whole percent; a refit of the model's own constants may move it a little.
    assert tie_fraction_of(predictor) == pytest.approx(measured_tie_fraction(predictor), abs=0.021)


def test_the_roofline_model_chooses_well_among_published_layouts() -> None:
    chosen = [group for group in groups("roofline") if len(group.points) > 2]
    assert len(chosen) >= 20
    regrets = [group.regret_fraction for group in chosen]
    # What the choice would have cost, on average, in measured time.
    assert sum(regrets) / len(regrets) < 0.05
    assert min(regrets) == 0.0


# --- invariant


def test_regret_and_pairs_by_hand() -> None:
    group = Group(
        source="ours", model="m", num_devices=8, points=((1.0, 2.0), (1.2, 1.6), (9.0, 1.0))
    )
    assert group.regret_fraction == 1.0
    # The third is predicted nine times slower: no search would end there.
    ((difference, right),) = pairs([group])
    assert difference == pytest.approx(0.1823, abs=1e-4)
    assert right is False
    assert right_share([(0.1, True), (0.1, False), (0.9, False)], 0.0, 0.5) == 0.5
    assert right_share([], 0.0, 1.0) is None


def test_steepness_of_pairs_that_lie_on_the_curve() -> None:
    # Of a thousand pairs at each difference, as many are right as k = 10 says.
    found = []
    for x in (0.02, 0.05, 0.1, 0.2):
        right = round(1000 / (1 + math.exp(-10 * x)))
        found += [(x, True)] * right + [(x, False)] * (1000 - right)
    assert steepness(found) == pytest.approx(10.0, rel=0.01)
