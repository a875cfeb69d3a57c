"""Published configurations near the edge: the chance that they fit against what happened."""

from __future__ import annotations

import pytest

pytest.importorskip("scipy")

from steptime.book.tables.memory_fit import fit_cases_table, fit_prose
from steptime.evidence.fit_cases import FILE, OUTCOMES, brier, fit_cases
from steptime.evidence.memory_widths import SURE_TO_FIT, published_coverage
from steptime.evidence.schema import PublishedRow
from steptime.evidence.text_table import text_rows
from steptime.inputs.datafiles import data_path
from steptime.inputs.errors import ConfigError

CASES = {one.id: one for one in fit_cases()}

# ---- published


def test_runs_that_ran_and_that_did_not_are_told_apart() -> None:
    assert len(CASES) >= 20
    outcomes = [one.ran for one in CASES.values()]
    assert outcomes.count(True) >= 8
    assert outcomes.count(False) >= 8
    # A chance of a half everywhere has 0.25.
    assert brier(CASES.values()) < 0.15
    assert sum(one.likelier for one in CASES.values()) / len(CASES) > 0.75


def test_what_fits_with_nine_tenths_ran() -> None:
    """Search ranks such layouts by default: nine of ten must run."""
    sure = [one for one in CASES.values() if one.chance >= SURE_TO_FIT]
    assert len(sure) >= 4
    assert sum(one.ran for one in sure) / len(sure) >= 0.9
    hopeless = [one for one in CASES.values() if one.chance <= 1.0 - SURE_TO_FIT]
    assert len(hopeless) >= 5
    assert not any(one.ran for one in hopeless)


def test_torchtitan_tells_a_batch_that_fits_from_one_that_does_not() -> None:
    """torchtitan2024, docs/performance.md: Llama 2 70B by operation, one and two sequences."""
    one, two = (
        next(
            case
            for case in CASES.values()
            if case.source == "torchtitan2024"
            and case.run.layout.recompute == "selective"
            and case.run.batch.micro_batch_size == size
        )
        for size in (1, 2)
    )
    assert (one.ran, two.ran) == (True, False)
    assert one.chance > SURE_TO_FIT
    assert two.chance < 0.5


# ---- invariant


def test_a_line_holds_a_configuration_and_its_outcome_alone() -> None:
    measured = {"step_time_s", "tokens_per_s_per_gpu", "tflops_per_gpu", "mfu_pct", "mem_gb"}
    lines = [cells for _, cells in text_rows(data_path(FILE))]
    assert set(lines[0]) - {"ran"} <= set(PublishedRow.model_fields)
    assert not measured & set(lines[0])
    for cells in lines:
        assert cells["ran"] in OUTCOMES
        assert cells["source"]
        assert cells["location"]


def test_the_table_and_the_text_count_alike() -> None:
    said = fit_prose(published_coverage(), tuple(CASES.values()))
    table = str(fit_cases_table(tuple(CASES.values())))
    assert table.count("ran out of memory") == int(said["fit_cases"]) - int(said["fit_ran"])
    assert table.count("| yes |") == int(said["fit_likelier"])


# ---- refusal


def test_an_outcome_is_yes_or_no(monkeypatch: pytest.MonkeyPatch) -> None:
    from steptime.evidence import fit_cases as module

    ((line, cells), *_) = text_rows(data_path(FILE))
    monkeypatch.setattr(module, "text_rows", lambda _: [(line, cells | {"ran": "nearly"})])
    with pytest.raises(ConfigError, match="unknown ran 'nearly'"):
        module.fit_cases.__wrapped__()
