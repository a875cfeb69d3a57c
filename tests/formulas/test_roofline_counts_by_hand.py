"""Attention, element-wise work and stages' messages of the roofline model, on paper."""

from __future__ import annotations

import pytest
from made import constants, small_job, time_facts

from steptime.formulas.records import Job
from steptime.formulas.roofline.attention import flash_forward_s, stored_s
from steptime.formulas.roofline.elementwise import layer_traffic_bytes
from steptime.formulas.roofline.stages import sends_s, stages_side_by_side

CONSTANTS = constants()


def record(**changed: float) -> Job:
    """Return a dense model, 8 wide, whose sequences are 20 long."""
    return small_job(**({"seq_length": 20.0, "micro_batch_size": 1.0} | changed))


def test_stored_scores_by_hand() -> None:
    # 400 scores pass in 0.8 s a byte. 6400 FLOP, 17 times for heads of 4, at 100: 1088 s, of
    # whose 3.2 s of traffic a quarter shows. Softmax reads half of the scores and writes all, 3
    # bytes; going back it reads half of both and writes all, 4. Heads of 4 are no multiple of 8.
    plain = stored_s(record(), time_facts(), CONSTANTS, 10.0, 100.0)
    assert plain["forward"] == pytest.approx(4 * (1088 + 0.8 + 2.4))
    assert plain["backward"] == pytest.approx(4 * (2176 + 1.6 + 3.2))
    # Dropout moves 5 bytes a score more in either pass.
    dropped = stored_s(record(), time_facts(dropout=1.0), CONSTANTS, 10.0, 100.0)
    assert dropped["forward"] - plain["forward"] == pytest.approx(4 * 4.0)
    assert dropped["backward"] - plain["backward"] == pytest.approx(4 * 4.0)


def test_a_flash_kernel_has_its_published_rate_where_it_was_read_off() -> None:
    # A step keeps half of the products' rate and three quarters of the kernel's.
    job = record(seq_length=16384.0, head_dim=128.0)
    half_flop = 2.0 * 16384.0 * 2 * 128.0
    found = flash_forward_s(job, time_facts(attention_flop_per_s=100.0), CONSTANTS, 1.0)
    assert found == pytest.approx(half_flop / 75.0)


def test_dropout_and_turned_heads_by_hand() -> None:
    fused = layer_traffic_bytes(record(), time_facts(), 1.0, 1.0)
    dropped = layer_traffic_bytes(record(), time_facts(dropout=1.0), 1.0, 1.0)
    assert dropped["forward"] - fused["forward"] == pytest.approx(2 * 8)
    assert dropped["backward"] - fused["backward"] == pytest.approx(2 * 5 * 8)
    # 8 values of queries and 4 of keys are turned in four kernels, where positions turn them.
    eager = layer_traffic_bytes(record(), time_facts(eager=1.0), 1.0, 1.0)
    learned = layer_traffic_bytes(record(learned_positions=9.0), time_facts(eager=1.0), 1.0, 1.0)
    for way in ("forward", "backward"):
        assert eager[way] - learned[way] == pytest.approx(14 * 12)  # type: ignore[literal-required]


@pytest.mark.parametrize(
    ("changed", "side", "expected"),
    [
        # 160 bytes take 4.2 s over NVLink, 33 s over the network. One domain: 6 exchanges with
        # both neighbours, and 3 edges there and back.
        ({"nvlink_domain": 4.0}, 4, 6 * 8.4 + 6 * 4.2),
        # Two stages a domain: one slow edge of a rank's two; 1 of the 3 edges is slow.
        ({}, 2, 6 * 37.2 + 2 * (33 + 8.4)),
        ({"dp": 2.0}, 2, 6 * 37.2 + 2 * (33 + 8.4)),
        # Data-parallel ranks fill the domain: every edge is slow.
        ({"dp": 2.0, "data_inside": 1.0}, 1, 12 * 33 + 6 * 33),
    ],
)
def test_sends_between_stages_side_by_side(
    changed: dict[str, float], side: int, expected: float
) -> None:
    job = record(pp=4.0, **changed)
    assert stages_side_by_side(job) == side
    assert sends_s(job, time_facts(), CONSTANTS, 10.0, 6.0) == pytest.approx(expected)
