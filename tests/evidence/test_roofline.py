"""The roofline model on published runs."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

pytest.importorskip("scipy")

from steptime.evidence.roofline import roofline_inputs, roofline_validation
from steptime.evidence.row_stack import stack_name, year_of

from steptime.evidence.calibration import STAGES, calibrate, with_values
from steptime.evidence.residuals import DENSE
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.samples import (
    main_samples,
    sample_of,
    sweep_samples,
    table,
)
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.inputs.constants import constant_entries, fitted_names, roofline_constants
from steptime.inputs.datafiles import data_path

BY_ID = {row.id: row for row in published_rows()}


def row(**cells: object) -> PublishedRow:
    given = BY_ID["nar21-t1-005"].model_dump() | {"id": "own-1", "source": "", "notes": ""}
    given |= {"location": "", "zero": "", "facts": ""}
    given |= dict.fromkeys(("overlap", "software", "date", "release"), "")
    return PublishedRow.model_validate(given | cells)


# ---- published


def test_the_constants_are_what_the_published_runs_give() -> None:
    healthy = [sample for sample in main_samples() + sweep_samples() if not sample.sick]
    found = calibrate(table(healthy))
    kept = roofline_constants()
    names = [name for stage in STAGES for name in stage.names]
    assert sorted(names) == sorted(fitted_names())
    assert len(names) <= 12
    for name in names:
        assert getattr(found, name) == pytest.approx(getattr(kept, name), rel=2e-3), name


def test_the_megatron_rows_stay_within_eight_percent() -> None:
    chosen = [
        BY_ID[f"{source}-{number:03d}"]
        for source in ("nar21-t1", "kor22")
        for number in range(1, 11)
    ]
    summary = roofline_validation(chosen).summary
    assert summary.rows == 20
    assert summary.mean_abs_error_fraction is not None
    assert summary.mean_abs_error_fraction < 0.035
    assert summary.max_abs_error_fraction is not None
    assert summary.max_abs_error_fraction < 0.08
    assert summary.correlation is not None
    assert summary.correlation > 0.95


def test_every_constant_lies_in_its_plausible_range() -> None:
    for entry in constant_entries():
        assert entry.low <= entry.value <= entry.high, entry.name
        assert entry.source


# ---- invariant


def test_a_refit_changes_the_files_fitted_values_alone() -> None:
    text = data_path("roofline_constants.toml").read_text(encoding="utf-8")
    assert with_values(text, roofline_constants()) == text
    changed = with_values(text, replace(roofline_constants(), contention=0.123456, hop_s=9.0))
    differing = [
        new for new, old in zip(changed.split("\n"), text.split("\n"), strict=True) if new != old
    ]
    assert differing == ["value = 0.1235"]


def test_arrays_and_single_rows_agree() -> None:
    chosen = [sample for sample in main_samples() if sample.kind == DENSE][:40]
    errors = table(chosen).errors(roofline_constants())
    results = roofline_validation([sample.inputs.run.row for sample in chosen]).rows
    for error, result in zip(errors, results, strict=True):
        alone = math.log(result.step_time_s / result.published_step_time_s)
        assert alone == pytest.approx(float(error), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nar21-t1-001", "megatron-2021"),
        ("kor22-001", "megatron-2022"),
        ("mtnlg-001", "megatron-deepspeed-2021"),
        ("bloom-008", "bloom"),
        ("vtrain-008", "vtrain"),
        ("nanotron-006", "nanotron"),
        ("titan-005", "torchtitan"),
        ("mpt-002", "llm-foundry"),
        ("mbridge-002", "megatron-bridge"),
        ("nar21-t2-001", "deepspeed-zero3-2021"),
    ],
)
def test_a_row_names_its_software(name: str, expected: str) -> None:
    named = stack_name(run_of(BY_ID[name]))
    assert (named.name, named.known, named.assumed) == (expected, True, ())


def test_software_that_is_not_named_is_assumed_and_said() -> None:
    old = stack_name(run_of(row(date="2021-06")))
    new = run_of(row(gpu="H100-80GB SXM", precision="bf16"))
    assert (old.name, old.known) == ("megatron-2022", False)
    assert [str(one) for one in old.assumed] == ["software: not stated, assumed by the year"]
    assert stack_name(new).name == "megatron-core"
    assert "assumed" in str(roofline_inputs(new).assumed[-1])


def test_the_date_is_read_from_its_column_or_a_release() -> None:
    assert year_of(row(release="26.02.01")) == pytest.approx(2026 + 2 / 12)
    assert year_of(row(date="2022-05", release="26.02")) == pytest.approx(2022 + 5 / 12)
    assert year_of(row(date="2023")) == 2023.5
    assert year_of(row()) is None
    assert year_of(row(notes="release 26.02.01.", source="arXiv:2205.05198")) is None


def test_own_rows_play_no_part_by_default_in_anyone_elses_unit() -> None:
    units = {sample.unit for sample in main_samples()}
    assert {"nar21", "kor22", "nanotron"} <= units
    assert not any(unit.startswith("nar21-") for unit in units)


def test_the_micro_batch_follows_from_their_number() -> None:
    counted = run_of(row(mbs=None, num_microbatches=12))
    assert roofline_inputs(counted).job.micro_batch_size == 4.0


# ---- refusal


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"mbs": None, "num_microbatches": None}, "micro-batch size"),
        ({"vpp": None, "schedule": "interleaved-1F1B"}, "vpp"),
        ({"gpu": "MI300X"}, "unknown accelerator"),
        ({"gpu": "TPU v5p (459 TF)"}, "no measured rate"),
    ],
)
def test_a_row_without_what_it_needs_is_skipped(cells: dict[str, object], reason: str) -> None:
    with pytest.raises(Incomplete, match=reason):
        sample_of(row(**cells))
