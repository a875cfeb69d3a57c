"""Errors of sources that were left out whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")

from steptime.evidence.ladder import family_and_date, nothing
from steptime.evidence.leave_out import LeftOut, asked_as, left_out, write_residuals
from steptime.evidence.residuals import COLUMNS, residuals
from steptime.evidence.samples import Sample, main_samples, scored, table
from steptime.inputs.errors import ConfigError
from steptime.inputs.said import FAMILY, KNOWLEDGE, NOTHING


@pytest.fixture(scope="module")
def few() -> tuple[Sample, ...]:
    """Give the runs of three sources, one of which has a stack of its own."""
    return tuple(one for one in main_samples() if one.origin in ("kor22", "hagemann", "titan24"))


# ---- invariant


def test_a_source_is_left_out_whole() -> None:
    origins: dict[str, set[str]] = {}
    for sample in main_samples():
        if scored(sample):
            origins.setdefault(sample.origin, set()).add(sample.id.rpartition("-")[0])
    assert {name for name in origins if name.startswith("nar21")} == {"nar21"}
    assert {name for name in origins if name.startswith("mbridge")} == {"mbridge"}
    assert sum(map(len, origins.values())) > len(origins) > 12
    assert {row.source for row in residuals()} == set(origins)


def test_less_known_never_reaches_a_stack_of_the_source(few: tuple[Sample, ...]) -> None:
    told = {one.id: one.inputs.software for one in few}
    assert any(software.stack.of for software in told.values())
    for rung, level in ((family_and_date, FAMILY), (nothing, NOTHING)):
        asked = asked_as(rung, few)
        assert len(asked) == len(few)
        assert {one.inputs.software.knowledge for one in asked} == {level}
        assert not any(one.inputs.software.stack.of for one in asked)


def test_a_left_out_run_has_no_say_in_its_own_error(few: tuple[Sample, ...]) -> None:
    """Measured twice as long, a source is missed by ln 2 more, and by nothing else."""
    runs = table(few)
    slow = [
        replace(one, step_time_s=2.0 * one.step_time_s) if one.origin == "kor22" else one
        for one in runs.samples
    ]
    plain, moved = left_out(runs), left_out(table(slow))
    assert {one.source for one in plain.residuals} == {one.origin for one in few}
    for one, other in zip(plain.residuals, moved.residuals, strict=True):
        if one.source == "kor22":
            for level in KNOWLEDGE:
                before, after = one.at(level), other.at(level)
                assert before is not None
                assert after is not None
                assert after.error == pytest.approx(before.error - np.log(2.0), abs=1e-9)


def test_a_file_has_an_empty_cell_where_a_run_cannot_be_asked(tmp_path: Path) -> None:
    chosen = (replace(residuals()[0], family_error=None, family_exposed=None),)
    write_residuals(LeftOut(table(main_samples()[:1]), chosen, {}), tmp_path / "out.csv")
    head, line = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert head == ",".join(COLUMNS)
    assert ",,," in line
    assert chosen[0].at(FAMILY) is None
    assert LeftOut(table(main_samples()[:1]), chosen, {}).errors.tolist() == [chosen[0].error]


# ---- refusal


def test_a_level_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown knowledge"):
        residuals()[0].at("some")
