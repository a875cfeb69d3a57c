"""Gathered inputs that stay in nanotron's memory, by layout."""

import pytest

from steptime.evidence.memory_nanotron import gathered_share
from steptime.evidence.memory_reading import reading_of
from steptime.evidence.nanotron_sweep import nanotron_sweep
from steptime.evidence.row_question import question_of_run
from steptime.evidence.runs import run_of
from steptime.evidence.schema import PublishedRow


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({"tp": 1}, 0.0),
        ({"tp": 8, "pp": 1}, 0.75),
        ({"tp": 8, "pp": 1, "gpus": 256}, 0.0),
        ({"tp": 8, "pp": 8}, 0.5625),
        ({"tp": 8, "pp": 8, "gpus": 512}, 0.0),
        ({"tp": 8, "pp": 8, "hidden": 8192}, 0.0),
        ({"tp": 4, "pp": 2}, 0.0),
        ({"tp": 4, "pp": 2, "mbs": 8}, 0.75),
        ({"tp": 2, "pp": 2}, 1.75),
        ({"tp": 2, "pp": 2, "num_microbatches": 2}, 0.0),
        ({"tp": 32, "pp": 2}, 0.0),
        ({"tp": 16, "pp": 1}, 0.75),
        ({"tp": 16, "pp": 1, "num_microbatches": 4}, 0.0),
        ({"tp": 16, "pp": 1, "gpus": 512}, 0.0),
        ({"tp": 32, "pp": 1, "gpus": 512}, 0.75),
    ],
)
def test_gathered_inputs_that_stay_follow_the_layout(changes: dict[str, int], kept: float) -> None:
    row = {"hidden": 2048, "ffn": 8192, "mbs": 1, "seq_len": 4096, "gpus": 64, "dp": 1}
    found = PublishedRow(id="1", software="nanotron", **row | {"num_microbatches": 64} | changes)  # type: ignore[arg-type]
    assert gathered_share(found) == kept


def test_what_stays_of_gathered_inputs_reaches_the_reading() -> None:
    row = next(row for row in nanotron_sweep() if gathered_share(row) == 1.75)
    found = reading_of(question_of_run(run_of(row)))
    assert found.facts.gathered_inputs == 1.75
    assert "175% of the gathered inputs stay" in str(found.inferred[-1])
