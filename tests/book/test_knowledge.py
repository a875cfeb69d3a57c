"""§17c and §17d: what each kind of knowledge buys, and the large runs."""

from __future__ import annotations

import pytest

pytest.importorskip("scipy")

from steptime.book.study.knowledge import KnowledgeStudy, knowledge_study
from steptime.book.study.large_runs import LargeRuns, large_runs
from steptime.book.tables.headline import COLUMNS, headline_table
from steptime.book.tables.knowledge import TITLES, by_source_table, rungs_table
from steptime.book.tables.sources import SOURCES, source_name
from steptime.evidence.ladder import RUNGS, ladder_of
from steptime.evidence.ladder_left_out import ladder_left_out
from steptime.evidence.leave_out import published_left_out
from steptime.evidence.residuals import DENSE, KINDS
from steptime.evidence.samples import main_samples
from steptime.evidence.schema import published_rows


@pytest.fixture(scope="module")
def study() -> KnowledgeStudy:
    """Give every source on every rung."""
    return knowledge_study(3)


@pytest.fixture(scope="module")
def runs() -> LargeRuns:
    """Give every large run."""
    return large_runs()


# ---- invariant


@pytest.mark.slow
def test_what_sources_tell_is_missed_as_in_the_section_on_left_out_runs(
    study: KnowledgeStudy,
) -> None:
    """§17 works on arrays of all runs, §17c through the door one by one."""
    result = published_left_out()
    errors: dict[tuple[str, str], list[float]] = {}
    for sample, error in zip(result.runs.samples, result.errors, strict=True):
        errors.setdefault((sample.kind, sample.source), []).append(float(error))
    compared = 0
    for kind, lines in study.lines.items():
        for line in lines:
            there = errors[kind, line.source]
            if len(there) != line.runs:
                continue
            compared += 1
            mean = sum(map(abs, there)) / line.runs
            assert line.rungs["as told"].mean_size == pytest.approx(mean, rel=1e-9), line.source
    assert compared >= 15


@pytest.mark.slow
def test_leaving_a_source_out_matters() -> None:
    """The constants fitted to all runs give other errors, smaller ones on the whole."""
    lines = ladder_left_out()[DENSE]
    dense = {sample.id for sample in main_samples() if sample.kind == DENSE}
    fitted = ladder_of([row for row in published_rows() if row.id in dense])
    out = {line.source: line.rungs["as told"].mean_size for line in lines}
    alike = {line.source: line.rungs["as told"].mean_size for line in fitted}
    shared = out.keys() & alike.keys()
    assert len(shared) > 10
    assert sum(out[name] for name in shared) > sum(alike[name] for name in shared)


def test_a_mean_weighs_sources_alike_and_leaves_small_ones_out(study: KnowledgeStudy) -> None:
    for kind in KINDS:
        kept = [line for line in study.lines[kind] if line.runs >= 3]
        assert study.counts(kind) == (len(kept), sum(line.runs for line in kept))
        for rung in RUNGS:
            mean = sum(line.rungs[rung].mean_size for line in kept) / len(kept)
            assert study.alike(kind)[rung].mean_size == pytest.approx(mean, rel=1e-12)


def test_tables_hold_every_rung_and_source(study: KnowledgeStudy) -> None:
    assert set(TITLES) == set(RUNGS)
    by_kind = str(rungs_table(study)).splitlines()
    assert len(by_kind) == 2 + len(KINDS) * len(RUNGS)
    by_source = str(by_source_table(study)).splitlines()
    assert len(by_source) == 2 + sum(map(len, study.lines.values()))


def test_each_source_is_named() -> None:
    prefixes = {sample.source for sample in main_samples()}
    named = {prefix: source_name(prefix) for prefix in prefixes}
    assert len(set(named.values())) == len(named)
    assert [prefix for prefix, name in named.items() if name == prefix] == []
    assert source_name("kor22") == "Korthikanti et al. 2022"
    assert "kor22" not in SOURCES


def test_the_table_of_large_runs_says_what_was_known(runs: LargeRuns) -> None:
    text = str(headline_table(runs.all))
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(runs.all)
    notes = [line for line in text.splitlines() if line and not line.startswith("|")]
    assert lines[0].count("|") == len(COLUMNS) + 1
    fitted = {sample.id for sample in main_samples() if sample.fitted_to}
    assert "nar21-t1-010" in fitted
    assert "mtnlg-001" not in fitted
    for run, line in zip(runs.all, lines[2:], strict=True):
        source = run.source.split(",")[0]
        assert line.endswith(f"| {'yes' if run.fitted_to else 'no'} | {source} |")
        (note,) = [one for one in notes if run.title in one] if run.seen else [""]
        assert note.endswith(f": {run.seen}." if run.seen else "")
        low, high = run.errors
        assert low <= run.error <= high
    assert runs.deepseek.seen
    assert not runs.deepseek.fitted_to
    assert all(run.seen for run in runs.all if len(run.answers) > 1)
