"""Times for the eye."""

from __future__ import annotations

import pytest

import steptime
from steptime.inputs.shown import seconds


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.0, "0"),
        (3e-9, "3 ns"),
        (2.5e-6, "2.5 µs"),
        (0.01234, "12.34 ms"),
        (1.0, "1 s"),
        (599.94, "599.9 s"),
        (600.0, "10 min"),
        (2373.0, "39.55 min"),
        (36000.0, "10 h"),
        (172800.0, "2 days"),
        (86400.0 * 12345.4, "12,345 days"),
        (-90.0, "-90 s"),
    ],
)
def test_a_time_has_the_unit_that_keeps_it_short(value: float, told: str) -> None:
    assert seconds(value) == told


def test_an_answer_prints_as_its_title() -> None:
    asked = {"model": "llama3-8b", "accelerator": "h100", "tp": 2, "seq_length": 4096}
    found = steptime.predict(**asked, dp=4, global_batch_size=64)  # type: ignore[arg-type]
    assert str(found) == found.title() == f"{found}"
    assert "a step" in str(found)
