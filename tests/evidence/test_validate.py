import pytest

from steptime.evidence.agreement import correlation
from steptime.evidence.assumptions import ASSUMPTIONS, changed_summary
from steptime.evidence.baseline import chapter_rows, fitted_constants
from steptime.evidence.runs import run_of
from steptime.evidence.schema import published_rows
from steptime.evidence.validate import baseline_validation, summary
from steptime.inputs.baseline_constants import baseline_constants

# published


def test_the_data_file_holds_the_fit_to_the_last_bit() -> None:
    assert baseline_constants() == fitted_constants()


def test_all_rows_are_predicted_or_skipped_with_a_reason() -> None:
    result = baseline_validation(published_rows())
    assert len(result.rows) + len(result.skipped) == 971
    assert all(row.step_time_s > 0 for row in result.rows)
    assert all(reason for _, reason in result.skipped)


# limit


def test_a_constant_has_no_correlation() -> None:
    assert correlation([140.0, 140.0, 140.0 + 1e-13], [1.0, 2.0, 4.0]) is None
    assert correlation([1.0, 2.0], [1.0, 2.0]) is None
    assert correlation([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]) == pytest.approx(1.0)
    assert correlation([1.0, 2.0, 3.0], [6.0, 4.0, 2.0]) == pytest.approx(-1.0)


def test_no_rows_have_no_error() -> None:
    empty = summary([])
    assert empty.rows == 0
    assert empty.mean_abs_error_fraction is None


# invariant


def test_the_fitted_row_is_exact_and_does_not_count() -> None:
    result = baseline_validation(chapter_rows())
    fitted = [row for row in result.rows if row.fitted]
    assert [row.id for row in fitted] == ["nar21-t1-001"]
    assert fitted[0].error_fraction == pytest.approx(0, abs=1e-12)
    assert result.summary.rows == 12


@pytest.mark.parametrize("assumption", ASSUMPTIONS, ids=lambda item: item.name)
def test_each_assumption_changes_the_error(assumption) -> None:  # type: ignore[no-untyped-def]
    runs = [run_of(row) for row in chapter_rows()]
    base = baseline_validation(chapter_rows()).summary
    eta, changed = changed_summary(runs, assumption)
    assert 0 < eta < 1
    assert changed.mean_abs_error_fraction != base.mean_abs_error_fraction
    assert changed.rows == 12
