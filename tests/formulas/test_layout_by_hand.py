"""Shares, rounds and edges of a layout on paper."""

from __future__ import annotations

import pytest
from made import job, memory_facts, small_job

from steptime.formulas import flops, layout_terms, schedule_rules
from steptime.formulas.flops import num_microbatches
from steptime.formulas.memory.activations import gathered_token_bytes, sequence_split
from steptime.formulas.schedule import SCHEDULES
from steptime.formulas.validity import ends_count


@pytest.mark.parametrize(
    ("layers", "pp", "vpp", "ends"),
    [
        # 126 and 2 ends over 16 stages, or 16 of them and 8 chunks of one layer.
        (126.0, 16.0, 1.0, 1.0),
        (126.0, 16.0, 8.0, 1.0),
        # 128 are even without the ends; 127 are not even with them.
        (128.0, 16.0, 1.0, 0.0),
        (127.0, 16.0, 1.0, 0.0),
        # 14 over 2 are even, and so are 16.
        (14.0, 2.0, 1.0, 0.0),
    ],
)
def test_ends_that_count_as_layers(layers: float, pp: float, vpp: float, ends: float) -> None:
    assert ends_count(layers, pp * vpp) == ends


def test_the_longest_chunk_by_hand() -> None:
    def longer(layers: float, pp: float, vpp: float = 1.0) -> float:
        return float(layout_terms.stage_imbalance(job(num_layers=layers, pp=pp, vpp=vpp)))

    # 127 over 16 stages are 7.9375 a stage, and one holds 8; 126 and two ends are even.
    assert longer(127.0, 16.0) == pytest.approx(8 / 7.9375)
    assert longer(126.0, 16.0) == longer(126.0, 16.0, 8.0) == longer(128.0, 16.0) == 1.0
    # 9 layers in 4 chunks: 3 in one, 2.25 in the mean; on one stage it is no matter.
    assert longer(9.0, 2.0, 2.0) == pytest.approx(3 / 2.25)
    assert longer(9.0, 1.0, 2.0) == 1.0


@pytest.mark.parametrize(
    ("zero", "rounds"),
    # 7 micro-batches: scattered after each, 7 halves and the gather's; gathered twice besides.
    [(0.0, 1.0), (1.0, 1.0), (2.0, 4.0), (3.0, 10.5)],
)
def test_rounds_of_sharding(zero: float, rounds: float) -> None:
    assert layout_terms.sharding_rounds(job(zero_stage=zero, dp=2.0), 7.0) == rounds
    assert layout_terms.sharding_rounds(job(zero_stage=zero), 7.0) == 1.0


@pytest.mark.parametrize(
    ("schedule", "vpp", "micro", "rule"),
    [
        ("interleaved-1f1b", 2.0, 32.0, 0.0),
        # Two rounds, and one micro-batch left over; 34 make two rounds of 17.
        ("interleaved-1f1b", 2.0, 33.0, 3.0),
        ("interleaved-1f1b", 2.0, 34.0, 0.0),
        ("interleaved-1f1b", 1.0, 33.0, 0.0),
        ("interleaved-zb", 2.0, 33.0, 3.0),
        # One round of any size, and a V knows none.
        *((name, 2.0, 33.0, 0.0) for name in ("looped-bfs", "zb-v", "v-half", "v-min")),
    ],
)
def test_interleaving_takes_equal_rounds(
    schedule: str, vpp: float, micro: float, rule: float
) -> None:
    place = float(SCHEDULES.index(schedule))
    assert schedule_rules.schedule_rule(place, 16.0, micro, vpp) == rule
    # One stage is not cut into chunks.
    assert schedule_rules.schedule_rule(place, 1.0, micro, vpp) == (6.0 if vpp > 1.0 else 0.0)


def test_gathered_inputs_that_stay() -> None:
    # Two inputs of 8 in 2 bytes, three quarters of them beyond the own slice.
    one, facts = job(tp=4.0, hidden_size=8.0), memory_facts(gathered_inputs=1.0)
    assert gathered_token_bytes(one, facts, 4.0) == 24.0
    assert gathered_token_bytes(one, facts, 1.0) == 0.0
    assert gathered_token_bytes(one, memory_facts(), 4.0) == 0.0
    assert sequence_split(one) == 1.0
    assert sequence_split(job(tp=4.0, sequence_parallel=1.0)) == 4.0


def test_micro_batches() -> None:
    assert num_microbatches(job(global_batch_size=24.0, dp=4.0, micro_batch_size=2.0)) == 3.0


def test_the_pace_of_a_layer_by_hand() -> None:
    """A rank of two has 4 of 8 layers, and 3 micro-batches of 2 in 12 over two copies."""
    cut = {"num_layers": 8.0, "pp": 2.0, "dp": 2.0, "global_batch_size": 12.0}
    asked = small_job(**cut, micro_batch_size=2.0, vocab_size=0.0)
    assert flops.layer_pace_s(asked, 0.6) == pytest.approx(0.6 / (4 * 3))
    # An output matrix with as many FLOP as all layers leaves them half of the step.
    layers = flops.matrix_flop_per_token(asked) + flops.attention_flop_per_token(asked)
    wide = small_job(**cut, micro_batch_size=2.0, vocab_size=layers / (2.0 * asked.hidden_size))
    assert flops.layer_pace_s(wide, 0.6) == pytest.approx(0.3 / (4 * 3))
