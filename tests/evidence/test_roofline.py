"""The roofline model on published runs."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("scipy")

from steptime.evidence.calibration import STAGES, calibrate, with_values
from steptime.evidence.judge import validation
from steptime.evidence.residuals import DENSE
from steptime.evidence.row_question import RunQuestion, question_of_run, roofline_question
from steptime.evidence.row_said import dated, said_of
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.samples import (
    main_samples,
    sample_of,
    sweep_samples,
    table,
)
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.inputs.constants import constant_entries, fitted_names, published_constants
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
    kept, given = published_constants().values(), found.values()
    names = [name for stage in STAGES for name in stage.names]
    assert sorted(names) == sorted(fitted_names())
    assert len(names) <= 12
    for name in names:
        assert given[name] == pytest.approx(kept[name], rel=2e-3), name


def test_the_megatron_rows_stay_within_seven_percent() -> None:
    chosen = [
        BY_ID[f"{source}-{number:03d}"]
        for source in ("nar21-t1", "kor22")
        for number in range(1, 11)
    ]
    summary = validation(chosen).summary
    assert summary.rows == 20
    assert summary.mean_abs_error_fraction is not None
    # The aims are 3 and 6.5 %.
    assert summary.mean_abs_error_fraction < 0.03
    assert summary.max_abs_error_fraction is not None
    assert summary.max_abs_error_fraction < 0.069
    assert summary.correlation is not None
    assert summary.correlation > 0.95


def test_every_constant_lies_in_its_plausible_range() -> None:
    for entry in constant_entries():
        assert entry.low <= entry.value <= entry.high, entry.name
        assert entry.source


# ---- invariant


@pytest.mark.parametrize(
    ("file", "change"),
    [("roofline_constants.toml", "contention"), ("generations.toml", "hopper_8_bit_efficiency")],
)
def test_a_refit_changes_the_files_fitted_values_alone(file: str, change: str) -> None:
    text = data_path(file).read_text(encoding="utf-8")
    assert with_values(text, published_constants()) == text
    # The time of a hop is kept, not fitted.
    other = published_constants().changed({change: 0.123456, "hop_s": 9.0})
    lines = zip(with_values(text, other).split("\n"), text.split("\n"), strict=True)
    assert [new for new, old in lines if new != old] == ["value = 0.1235"]


def test_arrays_and_single_rows_agree() -> None:
    chosen = [sample for sample in main_samples() if sample.kind == DENSE][:40]
    errors = table(chosen).errors(published_constants())
    results = validation([sample.inputs.run.row for sample in chosen]).rows
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
        ("nanotron-006", "nanotron-playbook"),
        ("titan-005", "torchtitan-2025"),
        ("mpt-002", "llm-foundry-2024"),
        ("mbridge-002", "megatron-bridge"),
        ("nar21-t2-001", "deepspeed-zero3-2021"),
    ],
)
def test_a_row_names_its_software(name: str, expected: str) -> None:
    said, assumed = said_of(BY_ID[name])
    assert (said.stack, said.exact, assumed) == (expected, True, ())


def asked(**cells: object) -> RunQuestion:
    return question_of_run(run_of(row(**cells)))


def test_software_that_is_not_named_is_assumed_and_said() -> None:
    hopper = {"gpu": "H100-80GB SXM", "precision": "bf16"}
    old, new = asked(date="2021-06"), asked(**hopper, date="2025-06")
    for one in (old, new, asked(**hopper)):
        assert (one.software.stack.name, one.software.known) == ("usual", False)
        (told,) = (record for record in one.assumed if record.what == "stack")
        assert told.value == one.software.stack.name
    # What is usual changes with the date: before flash kernels, scores are stored.
    assert (old.stack.flash, new.stack.flash) == (0.0, 1.0)


def test_what_is_not_stated_is_usual_with_the_software() -> None:
    blank = {"recompute": "", "sp": None, "flop_convention": "model-full"}
    dates = ("2021-06", "2025-01")
    old, new = (asked(**blank, software="Megatron-LM", date=date) for date in dates)
    assert (old.step.layout.zero_stage, old.step.layout.recompute) == (0, "full")
    assert (new.step.layout.zero_stage, new.step.layout.recompute) == (1, "none")
    assert (old.step.layout.sequence_parallel, new.step.layout.sequence_parallel) == (False, True)
    told = {one.what: one.value for one in new.assumed}
    assert {"sp": "on", "zero": "1", "recompute": "none"}.items() <= told.items()


def test_full_recomputation_follows_from_how_flop_are_counted() -> None:
    counted = asked(recompute="", date="2025-01", flop_convention="hardware-full")
    assert counted.step.layout.recompute == "full"
    (told,) = (one for one in counted.assumed if one.what == "recompute")
    assert "counts FLOP" in str(told)


def test_the_date_is_read_from_its_column_or_a_release() -> None:
    def month(**cells: object) -> str | None:
        return dated(row(**cells))[0]

    assert month(release="26.02.01") == "2026-02"
    assert month(date="2022-05", release="26.02") == "2022-05"
    assert month(date="2023") == "2023-06"
    assert month() is None
    assert month(notes="release 26.02.01.", source="arXiv:2205.05198") is None


def test_own_rows_play_no_part_by_default_in_anyone_elses_unit() -> None:
    units = {sample.unit for sample in main_samples()}
    assert {"nar21", "kor22", "nanotron"} <= units
    assert not any(unit.startswith("nar21-") for unit in units)


def test_the_micro_batch_follows_from_their_number() -> None:
    counted = run_of(row(mbs=None, num_microbatches=12))
    assert roofline_question(counted).job.micro_batch_size == 4.0


# ---- refusal


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"mbs": None, "num_microbatches": None}, "micro-batch size"),
        ({"vpp": None, "schedule": "interleaved-1F1B"}, "vpp"),
        ({"gpu": "MI210"}, "unknown accelerator"),
        ({"gpu": "l40s"}, "no measured rate"),
    ],
)
def test_a_row_without_what_it_needs_is_skipped(cells: dict[str, object], reason: str) -> None:
    with pytest.raises(Incomplete, match=reason):
        sample_of(row(**cells))
