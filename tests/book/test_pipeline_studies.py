"""What the notebooks on pipelines work out."""

from __future__ import annotations

import pytest

from steptime.book.figures.bubble import idle_share
from steptime.book.study.bubble import bubble_study
from steptime.book.study.pipeline_trades import trades, uneven_stages
from steptime.book.study.real_pipelines import run_bubbles, trimmed_layers
from steptime.book.study.schedule_claims import claims
from steptime.book.study.schedules import distances, schedule_rows
from steptime.book.tables.bubble import grid_table
from steptime.inputs.layout import SCHEDULES

# ---- published


def test_the_grid_holds_the_chapters_numbers_and_no_difference() -> None:
    study = bubble_study([4], [8], [2, 4], most_stages=5)
    assert study.unequal == 0
    assert study.at("gpipe", 4, 8).simulated_fraction == 3 / 11
    assert study.at("interleaved-1f1b", 4, 8, 2).simulated_overhead == 0.1875
    assert study.at("interleaved-1f1b", 4, 8, 4).simulated_overhead == 0.09375


def test_sizes_of_which_the_formula_says_nothing_are_left_out_and_told() -> None:
    study = bubble_study([4, 16], [8, 32], [2], most_stages=2)
    assert study.unequal == 0
    kept = {(row.stages, row.micro_batches) for row in study.rows if row.chunks > 1}
    assert kept == {(4, 8), (4, 32), (16, 32)}
    told = grid_table(study).text
    assert "where m < p, of which the formula says nothing: 16 stages and 8 micro" in told
    assert "left out" not in grid_table(bubble_study([4], [8], [2], most_stages=2)).text
    # A pipeline whose rows are all left out, or of one stage, has no line to draw.
    for stages in (1, 16):
        assert idle_share(bubble_study([stages, 4], [8], [2], most_stages=2)).axes


def test_papers_formulas_hold_where_they_are_exact() -> None:
    for claim in claims(8, 32, (1, 1, 1)):
        if not claim.formula.startswith("about"):
            assert claim.simulated == claim.claimed, claim
        else:
            # Said of large p; at 8 ranks the ends weigh more.
            assert claim.simulated == pytest.approx(claim.claimed, rel=0.2), claim


def test_llama_left_out_a_layer_at_both_ends() -> None:
    assert trimmed_layers(126, 16) == [7, *[8] * 14, 7]
    assert trimmed_layers(126, 128) == [0, *[1] * 126, 0]
    assert trimmed_layers(126, 16, ends_first=False) == [*[8] * 7, 7, 7, *[8] * 7]


# ---- invariant


def test_equal_stages_with_free_sends_give_the_models_bubble_on_every_run() -> None:
    rows = run_bubbles()
    assert len(rows) == 13
    for row in rows:
        assert row.equal_s == pytest.approx(row.pipeline.bubble_s, rel=1e-9, abs=1e-9)
        assert abs(row.gap_fraction) < 0.002
        assert row.overlapped_s <= row.blocking_s + 1e-9


def test_slower_networks_lose_more_and_want_fewer_chunks() -> None:
    pipeline = run_bubbles(["llama3-001"])[0].pipeline
    found = trades(pipeline, [1.0, 1 / 16, 1 / 64])
    best = [
        min((row.blocking_s, row.chunks) for row in found if row.bandwidth_share == share)
        for share in (1.0, 1 / 16, 1 / 64)
    ]
    assert [chunks for _, chunks in best] == [8, 4, 2]
    assert [time for time, _ in best] == sorted(time for time, _ in best)


def test_layers_missing_at_the_ends_lose_less_than_in_the_middle() -> None:
    pipeline = run_bubbles(["llama3-001"])[0].pipeline
    lost = [way.lost_s for way in uneven_stages(pipeline)]
    assert lost[0] < lost[1] < lost[2]
    assert lost[3] < lost[4] < lost[5]


def test_every_schedule_is_compared_and_none_beats_the_optimum() -> None:
    assert [row.name for row in schedule_rows(4, 8, 2, (10, 11, 9))] == list(SCHEDULES)
    for found in distances([[2, 4], [3, 4]]):
        assert found.proven
        assert found.best_unbound <= found.best <= found.slots
