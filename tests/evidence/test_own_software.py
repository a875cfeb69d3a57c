"""Which family of software runs behave like that name none."""

from __future__ import annotations

import random
from statistics import fmean

import pytest

pytest.importorskip("scipy")

from steptime.evidence.ladder import nothing
from steptime.evidence.ladder_left_out import published_without
from steptime.evidence.own_curve import LeftOutSource, sources_left_out
from steptime.evidence.own_software import likeliest
from steptime.evidence.samples import Sample, sample_of, table
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.inputs.constants import published_constants

ROWS = {row.id: row for row in published_rows()}


def rows_of(source: LeftOutSource) -> list[PublishedRow]:
    """Return the rows of a source, with nothing said of their software."""
    return [nothing(ROWS[one.id]) for one in source.runs if one.id in ROWS]


def mean_error(samples: list[Sample], source: LeftOutSource) -> float:
    """Return the mean size of the errors of runs."""
    return fmean(map(abs, table(samples).errors(source.constants).tolist()))


def gain(source: LeftOutSource, draw: random.Random) -> tuple[str, float]:
    """Return the family that ten runs of a source tell, and what naming it gains on the others."""
    rows = rows_of(source)
    draw.shuffle(rows)
    told = likeliest(rows[:10], source.constants, source.name)
    if told is None:
        return "", 0.0
    named = [sample_of(row.model_copy(update={"software": told.family})) for row in rows[10:]]
    plain = [sample_of(row) for row in rows[10:]]
    return told.family, mean_error(plain, source) - mean_error(named, source)


# ---- published


def test_naming_what_runs_behave_like_gains_on_runs_that_were_not_seen() -> None:
    """Ten runs of each source that was left out, with nothing said of its software."""
    draw = random.Random(7)
    large = [one for one in sources_left_out(13, "nothing") if len(rows_of(one)) > 12]
    assert len(large) >= 10
    found = [gain(one, draw) for one in large]
    assert fmean(by for _, by in found) > 0.01
    assert sum(by < 0.0 for _, by in found) <= len(found) / 4


# ---- limit


def test_runs_that_name_their_software_are_left_as_they_are() -> None:
    rows = [row for row in published_rows() if row.id.startswith("kor22")]
    assert likeliest(rows, published_constants()) is None


def test_no_family_is_told_where_none_stands_out() -> None:
    row = nothing(next(row for row in published_rows() if row.id == "kor22-001"))
    assert likeliest([row], published_without()["kor22"], "kor22") is None


def test_nothing_is_told_of_no_runs() -> None:
    assert likeliest([], published_constants()) is None
