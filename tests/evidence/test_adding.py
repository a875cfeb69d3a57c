"""The one order in which the parts of a step are added."""

from __future__ import annotations

import numpy as np

from steptime.evidence.adding import step_of


def test_nothing_is_carried_from_one_addition_to_the_next() -> None:
    # 1e16 + 1 rounds to 1e16: what `sum` of Python 3.12 and later would still remember.
    parts = {"a": 1e16, "b": 1.0, "c": -1e16}
    assert step_of(parts) == 0.0
    arrays = {name: np.array([value, 1.0]) for name, value in parts.items()}
    assert step_of(arrays).tolist() == [0.0, 3.0]
