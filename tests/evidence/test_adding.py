"""The one order in which the parts of a step are added."""

from __future__ import annotations

import numpy as np
import pytest

from steptime.evidence.adding import step_of
from steptime.evidence.predict import predict
from steptime.formulas.baseline import step_s
from steptime.formulas.roofline import roofline_step_s


def test_nothing_is_carried_from_one_addition_to_the_next() -> None:
    # 1e16 + 1 rounds to 1e16: what `sum` of Python 3.12 and later would still remember.
    parts = {"a": 1e16, "b": 1.0, "c": -1e16}
    assert step_of(parts) == 0.0
    arrays = {name: np.array([value, 1.0]) for name, value in parts.items()}
    assert step_of(arrays).tolist() == [0.0, 3.0]


@pytest.mark.parametrize(
    ("predictor", "formula"), [("roofline", roofline_step_s), ("baseline", step_s)]
)
def test_a_prediction_adds_as_its_formula_does(predictor: str, formula: object) -> None:
    asked = {"tp": 8, "pp": 4, "dp": 16, "seq_length": 8192, "global_batch_size": 1024}
    found = predict(model="llama3-70b", accelerator="h100", predictor=predictor, **asked)
    assert found.step_time_s == formula(found.breakdown_s)  # type: ignore[operator]
