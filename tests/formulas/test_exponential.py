"""The exponential that Python, arrays and the page share, against the library's."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from steptime.formulas.exponential import exponential


# invariant
def test_it_is_the_librarys_to_a_part_in_1e12() -> None:
    draw = random.Random(5)
    for power in [*(draw.uniform(-4.0, 4.0) for _ in range(500)), -20.0, 20.0, 1e-9, -1e-9]:
        assert exponential(power) == pytest.approx(math.exp(power), rel=1e-12, abs=0.0)


def test_arrays_give_the_bits_of_floats() -> None:
    powers = np.linspace(-3.0, 3.0, 101)
    assert exponential(powers).tolist() == [exponential(float(power)) for power in powers]


# limit
def test_nothing_raised_is_one() -> None:
    assert exponential(0.0) == 1.0
