"""Shares, rounds and edges of a layout on paper."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from steptime.formulas import layout_terms
from steptime.formulas.baseline import num_microbatches
from steptime.formulas.memory.activations import gathered_token_bytes, sequence_split


def record(**changed: float) -> SimpleNamespace:
    numbers = {"num_layers": 126.0, "pp": 16.0, "vpp": 1.0, "zero_stage": 0.0, "tp": 4.0}
    numbers |= {"sequence_parallel": 0.0, "hidden_size": 8.0}
    return SimpleNamespace(**(numbers | changed))


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
    job = record(num_layers=layers, pp=pp, vpp=vpp)
    assert layout_terms.ends_count_as_layers(job) == ends


@pytest.mark.parametrize(
    ("zero", "rounds"),
    # 7 micro-batches: scattered after each, 7 halves and the gather's; gathered twice besides.
    [(0.0, 1.0), (1.0, 1.0), (2.0, 4.0), (3.0, 10.5)],
)
def test_rounds_of_sharding(zero: float, rounds: float) -> None:
    assert layout_terms.sharding_rounds(record(zero_stage=zero), 7.0) == rounds


@pytest.mark.parametrize(
    ("vpp", "micro", "waits"), [(2.0, 32.0, 0.0), (2.0, 33.0, 1.0), (1.0, 33.0, 0.0)]
)
def test_interleaving_takes_whole_rounds(vpp: float, micro: float, waits: float) -> None:
    assert layout_terms.waits_for_whole_rounds(record(vpp=vpp), micro) == waits


def test_gathered_inputs_that_stay() -> None:
    # Two inputs of 8 in 2 bytes, three quarters of them beyond the own slice.
    facts = SimpleNamespace(gathered_inputs=1.0)
    assert gathered_token_bytes(record(), facts, 4.0) == 24.0
    assert gathered_token_bytes(record(), facts, 1.0) == 0.0
    assert gathered_token_bytes(record(), SimpleNamespace(gathered_inputs=0.0), 4.0) == 0.0
    assert sequence_split(record()) == 1.0
    assert sequence_split(record(sequence_parallel=1.0)) == 4.0


def test_micro_batches() -> None:
    job = SimpleNamespace(global_batch_size=24.0, dp=4.0, micro_batch_size=2.0)
    assert num_microbatches(job) == 3.0
