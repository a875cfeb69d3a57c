"""What each parallelism sends: a published figure, limits, and the tables built on it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steptime.formulas import causal, collectives, traffic
from steptime.formulas.messages import context, data, expert, pipeline, sequence, tensor

ALL_TABLES = [
    tensor.tensor_block(2.0, 8.0, 16.0, 2.0),
    tensor.shared_heads(8.0, 2.0, 16.0, 4.0, 2.0),
    tensor.vocabulary_embedding(2.0, 8.0, 16.0, 2.0),
    tensor.vocabulary_loss(2.0, 8.0, 16.0, 2.0),
    tensor.recomputed_block(2.0, 8.0, 16.0, 2.0),
    sequence.sequence_block(2.0, 8.0, 16.0, 2.0),
    sequence.recomputed_sequence_block(2.0, 8.0, 16.0, 2.0),
    context.gathered_attention(2.0, 8.0, 4.0, 2.0, 2.0),
    context.ring_attention(2.0, 8.0, 4.0, 2.0, 2.0),
    context.exchanged_attention(2.0, 8.0, 16.0, 4.0, 2.0, 2.0),
    expert.mixture(8.0, 4.0, 16.0, 2.0),
    expert.replicated(16.0, 8.0, 24.0, 2.0),
    data.replicated_weights(1e6, 2.0),
    data.zero_1(1e6, 2.0),
    data.zero_2(1e6, 10.0, 4.0, 2.0),
    data.zero_3(1e6, 10.0, 4.0, 2.0),
    data.stage_gradients(4.0, 16.0, 32.0, 2.0, 2.0, 2.0),
    pipeline.stage_sends(4.0, 1.0, 8.0, 16.0, 2.0),
    pipeline.tensor_in_pipeline(4.0, 2.0, 1.0, 8.0, 16.0, 2.0, 2.0),
]


def sent_bytes(table: list[dict[str, float]], n: float) -> float:
    """Return what one device of a ring of ``n`` sends for a whole table."""
    formulas = {
        "all_reduce": collectives.all_reduce_sent_bytes,
        "all_gather": collectives.all_gather_sent_bytes,
        "reduce_scatter": collectives.reduce_scatter_sent_bytes,
        "all_to_all": collectives.all_to_all_sent_bytes,
        "permute": lambda size, _: collectives.permute_sent_bytes(size),
    }
    return sum(line["count"] * formulas[str(line["kind"])](line["bytes"], n) for line in table)


# Published


def test_all_reduces_of_the_18_billion_run_take_what_the_chapter_prints() -> None:
    """The 18.4B run: 40 layers, h = 6144, t = 8, 32 micro-batches of one sequence."""
    size = traffic.activation_bytes(1.0, 2048.0, 1.0, 6144.0, 2.0)
    one = collectives.all_reduce_s(size, 8.0, 300e9, 5e-6)
    total = 32 * 40 * traffic.tensor_all_reduces_per_layer(1.0) * one
    assert total == pytest.approx(1.67, abs=0.005)


def test_zero_3_sends_half_as_much_again_as_plain_data_parallelism() -> None:
    """The published ratio for one micro-batch: 3 P against 2 P."""
    plain = sent_bytes(data.replicated_weights(1e6, 2.0), 64.0)
    assert sent_bytes(data.zero_1(1e6, 2.0), 64.0) == pytest.approx(plain, rel=1e-12)
    assert sent_bytes(data.zero_3(1e6, 10.0, 1.0, 2.0), 64.0) == pytest.approx(1.5 * plain)


# Limits


def test_without_context_parallelism_a_ring_sends_nothing_forward() -> None:
    forward, backward = context.ring_attention(1.0, 8.0, 4.0, 1.0, 2.0)
    assert forward["count"] == 0.0
    assert backward["count"] == 1.0


@pytest.mark.parametrize("tp", [1.0, 2.0])
def test_heads_are_shared_only_beyond_their_number(tp: float) -> None:
    assert tensor.shared_heads(tp, 2.0, 16.0, 4.0, 2.0)[0]["count"] == 0.0
    assert tensor.shared_heads(2.0 * tp, 1.0, 16.0, 4.0, 2.0)[0]["count"] == 2.0


def test_one_stage_has_no_slots_to_spare() -> None:
    assert pipeline.slots(7.0, 1.0) == 7.0


def test_capacity_is_the_fair_share_rounded_up() -> None:
    assert traffic.expert_capacity(64.0, 2.0, 8.0, 1.0) == 16.0
    assert traffic.expert_capacity(65.0, 2.0, 8.0, 1.0) == 17.0
    assert traffic.dropped_tokens(20.0, 17.0) == 3.0
    assert traffic.dropped_tokens(16.0, 17.0) == 0.0


# Invariants


@pytest.mark.parametrize("table", ALL_TABLES, ids=range(len(ALL_TABLES)))
def test_every_line_of_a_table_is_complete_and_counts_whole_messages(
    table: list[dict[str, float]],
) -> None:
    for line in table:
        assert set(line) == {"phase", "kind", "axis", "count", "bytes"}
        assert line["phase"] in ("forward", "backward", "update")
        assert line["count"] == math.floor(line["count"])
        assert line["bytes"] > 0


def test_a_layer_is_four_all_reduces_of_activations() -> None:
    table = 2 * tensor.tensor_block(1.0, 8.0, 16.0, 2.0)
    assert sum(line["count"] for line in table) == traffic.tensor_all_reduces_per_layer(0.0)


def test_forms_of_attention_that_gather_send_alike_forward() -> None:
    tables = [
        form(1.0, 64.0, 8.0, 4.0, 2.0)
        for form in (context.ring_attention, context.gathered_attention)
    ]
    ring, gathered = (
        sent_bytes([line for line in table if line["phase"] == "forward"], 4.0) for table in tables
    )
    assert ring == gathered


def test_balanced_orders_do_the_same_work_in_all() -> None:
    length, c = 6.0, 4.0
    in_order = sum(causal.contiguous_pairs(length, float(rank)) for rank in range(4))
    assert in_order == c * causal.zigzag_pairs(length, c) == 24 * 25 / 2


def test_arrays_give_the_bits_of_floats() -> None:
    sizes = np.array([1.0, 3.0, 7.0, 4096.0])
    together = traffic.pipeline_message_bytes(sizes, 2048.0, 3.0, 6144.0, 7.0, 2.0)
    alone = [traffic.pipeline_message_bytes(float(b), 2048.0, 3.0, 6144.0, 7.0, 2.0) for b in sizes]
    assert together.tolist() == alone
    heads = tensor.shared_heads(np.array([1.0, 2.0, 4.0]), 2.0, 16.0, 4.0, 2.0)[0]["count"]
    assert heads.tolist() == [0.0, 0.0, 2.0]
