"""Ends of formulas where one token more or less would pass unseen."""

from __future__ import annotations

import pytest
from made import constants, small_job, time_facts

from steptime.formulas.roofline import stages
from steptime.formulas.roofline.context import heads_left_over
from steptime.formulas.roofline.sharing import gradients_s

# --- by hand


@pytest.mark.parametrize(
    ("ranks", "keys", "heads", "copies", "left"),
    [
        # As many as there are, twice as many with and without copies, and one in two.
        *((4, 4, 4, 0, 0), (8, 4, 8, 1, 0), (8, 4, 8, 0, 1), (4, 8, 8, 0, 0)),
        # Copies are whole: six or five ranks cannot share four heads, nor six heads four ranks.
        *((6, 4, 6, 1, 1), (5, 4, 5, 1, 1), (6, 4, 6, 0, 1), (4, 4, 6, 1, 1)),
    ],
)
def test_heads_that_fall_to_no_rank(
    ranks: float, keys: float, heads: float, copies: float, left: float
) -> None:
    sizes = {"cp": ranks, "num_query_groups": keys, "num_attention_heads": heads}
    facts = time_facts(cp_head_ranks=float(ranks), cp_copies_heads=float(copies))
    record = small_job(**{name: float(size) for name, size in sizes.items()})
    assert bool(heads_left_over(record, facts)) is bool(left)


@pytest.mark.parametrize(
    ("ends", "most"),
    [
        # Ten layers on four ranks: 4, 2, 2, 2; then 1, 3, 3, 3; 2, 2, 2, 4; 1, 4, 4, 1.
        *(((4.0, 2.0), 4.0), ((1.0, 3.0), 3.0), ((2.0, 4.0), 4.0), ((1.0, 1.0), 4.0)),
    ],
)
def test_the_stage_with_the_most_layers_wherever_it_stands(
    ends: tuple[float, float], most: float
) -> None:
    cut = {"first_stage_layers": ends[0], "last_stage_layers": ends[1]}
    record = small_job(num_layers=10.0, pp=4.0, **cut)
    # A head of 15 s, so that the slowest stage need not be the one with the most layers.
    found = stages.pace(record, time_facts(), 10.0, 0.0, 15.0, {"staged": 0.0, "host": 0.0})
    assert found["most"] == most


@pytest.mark.parametrize(("pp", "hides"), [(1.0, True), (2.0, False)])
def test_plain_gradients_hide_without_a_pipeline_alone(pp: float, hides: bool) -> None:
    # torch2026, DDP: buckets go out while the one backward pass runs; a pipeline has many.
    sizes = {"micro_batch_size": 1.0, "global_batch_size": 8.0, "seq_length": 20.0, "dp": 2.0}
    waits, hidden = (
        gradients_s(
            small_job(pp=pp, **sizes),
            time_facts(overlap_plain_dp=plain, sent_gradient_bytes=2.0, bucket_bytes=1e9),
            *(constants(), 2.0, 100.0, 200.0),
        )
        for plain in (0.0, 1.0)
    )
    # Of two layers' messages, all but the last layer's.
    assert hidden == (waits / 2.0 if hides else waits)
