import pandas as pd
import pytest

from steptime.evidence.baseline import chapter_rows
from steptime.evidence.frames import errors_by_source, results_frame, runs_frame
from steptime.evidence.schema import published_rows
from steptime.evidence.validate import baseline_validation

# published


def test_runs_keep_what_the_data_has() -> None:
    frame = runs_frame()
    assert len(frame) == len(published_rows())
    assert frame.loc["nar21-t1-010", "pp"] == 64
    assert pd.isna(frame.loc["nar21-t1-010", "moe_experts"])


# invariant


def test_parts_add_up_in_the_table_too() -> None:
    result = baseline_validation(chapter_rows())
    frame = results_frame(result)
    parts = [f"{part}_s" for part in result.rows[0].breakdown_s]
    assert frame[parts].sum(axis=1).to_list() == pytest.approx(frame["step_time_s"].to_list())


def test_errors_by_source_are_the_summary_again() -> None:
    result = baseline_validation(chapter_rows())
    table = errors_by_source(result)
    assert table["rows"].to_dict() == {"grattafiori2024": 3, "narayanan2021": 9}
    mean = (table["mean"] * table["rows"]).sum() / table["rows"].sum()
    assert mean == pytest.approx(result.summary.mean_abs_error_fraction)
    assert table["largest"].max() == pytest.approx(result.summary.max_abs_error_fraction)


# limit


def test_no_results_make_an_empty_table() -> None:
    assert len(results_frame(baseline_validation([]))) == 0
