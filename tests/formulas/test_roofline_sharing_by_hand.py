"""What data parallelism and the optimizer add, on paper: four ranks, two in a domain.

Links as in ``test_roofline_by_hand.py``: 50 bytes a second inside a domain, 10 across for two
ranks in each, 5 for one; a hop takes a second. Each rank runs 6 micro-batches.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from made import constants, small_job, time_facts

from steptime.formulas.records import Job, TimeFacts
from steptime.formulas.roofline import shards, sharing
from steptime.formulas.schedule import SCHEDULES

CONSTANTS = constants()
EACH = {"reshard_after_forward": 1.0, "reduce_each_microbatch": 1.0}
OVERLAPPED = {"overlap_dp": 1.0}
KEPT = {"keep_in_pipeline": 1.0}


def record(**changed: float) -> Job:
    """Return a dense model, 8 wide, on four data-parallel ranks, two in a domain."""
    sizes = {"seq_length": 20.0, "micro_batch_size": 1.0, "global_batch_size": 24.0, "dp": 4.0}
    return small_job(**(sizes | changed))


def software(**changed: float) -> TimeFacts:
    """Return software that overlaps nothing, with gradients of 4 bytes."""
    return time_facts(**({"sent_gradient_bytes": 4.0, "bucket_bytes": 1664.0} | changed))


# --- by hand: once a step


@pytest.mark.parametrize(
    ("zero", "facts", "forward_s", "backward_s", "wanted"),
    [
        # Two layers of 432 and a vocabulary of 800: 1664 parameters, 6656 bytes of gradients.
        # An all-reduce: 665.6 across, 6 hops; 4 buckets pass 2 domains each: 8.
        (0.0, {}, 60.0, 100.0, 679.6),
        # Of what hides behind a pass a quarter shows all the same.
        (0.0, {"overlap_dp": 1.0}, 60.0, 100.0, 579.6 + 25.0),
        # At least the last layer's half shows.
        (0.0, {"overlap_dp": 1.0}, 60.0, 500.0, 339.8),
        # Scattered: 332.8 + 3; new weights of 3328 bytes gathered: 166.4 + 3; 2 buckets: 4.
        (1.0, {}, 60.0, 100.0, 509.2),
        (2.0, {}, 60.0, 100.0, 509.2),
        (1.0, {"overlap_dp": 1.0}, 60.0, 100.0, 349.2 + 40.0),
        # The whole gradients added up, though the optimizer is sharded.
        (1.0, {"gradient_all_reduce": 1.0}, 60.0, 100.0, 671.6 + 169.4 + 4.0),
        # One layer's weights, 43.2 + 3, and gradients, 86.4 + 3, at each end.
        (3.0, EACH, 60.0, 100.0, 2 * 135.6),
        # Gradients alone are scattered each time: one layer's at each end, and 169.4 + 4 once.
        (2.0, EACH, 60.0, 100.0, 2 * 89.4 + 173.4),
        # Weights gathered each time, gradients scattered after the last backward pass.
        (3.0, {}, 60.0, 100.0, 2 * 46.2 + 335.8),
        (3.0, OVERLAPPED, 60.0, 100.0, 2 * 46.2 + 235.8 + 25.0),
    ],
)
def test_gradients_by_hand(
    zero: float, facts: dict[str, float], forward_s: float, backward_s: float, wanted: float
) -> None:
    job, stack = record(zero_stage=zero), software(**facts)
    found = sharing.gradients_s(job, stack, CONSTANTS, 2.0, forward_s, backward_s)
    assert found == pytest.approx(wanted)


def test_gradients_of_a_pipeline_that_keeps_them_by_hand() -> None:
    # 335.8 after the last backward pass, behind nothing. Weights kept as well are gathered once,
    # 169.4 + 4, behind the first forward of 60, a quarter of which shows.
    job = record(zero_stage=3.0, pp=2.0)
    passes = (CONSTANTS, 2.0, 60.0, 100.0)
    kept = software(**KEPT | OVERLAPPED)
    assert sharing.gradients_s(job, kept, *passes) == pytest.approx(335.8 + 173.4 - 45.0)
    dropped = software(**KEPT | OVERLAPPED | EACH)
    assert sharing.gradients_s(job, dropped, *passes) == pytest.approx(335.8)


def test_gradients_behind_chunks_by_hand() -> None:
    # 509.2 in two shares, chunks of 80: two micro-batches pass the second after the first is
    # done, so 240 hide, a quarter of which shows. A last backward pass of 900 leaves a share less
    # 480, less than a layer's.
    job = record(zero_stage=1.0, pp=2.0, vpp=2.0)
    job = replace(job, schedule=float(SCHEDULES.index("interleaved-1f1b")))
    found = sharing.gradients_s(job, software(**OVERLAPPED), CONSTANTS, 2.0, 60.0, 100.0)
    assert found == pytest.approx(509.2 - 240.0 + 60.0)
    found = sharing.gradients_s(job, software(**OVERLAPPED), CONSTANTS, 2.0, 60.0, 900.0)
    assert found == pytest.approx(254.6)


@pytest.mark.parametrize(
    ("zero", "facts", "wanted"),
    [
        # Two copies, each shared out inside a domain: 3328 at 50 and a start, then 3328 added up
        # at 5 and 6 hops; new weights of 3328 bytes, 1664 at 50 and a start; 2 buckets: 4.
        (1.0, {}, 67.56 + 671.6 + 34.28 + 4.0),
        # A layer's weights, 432 at 50, and gradients, 864 at 50, at each end; copies once.
        (3.0, EACH, 2 * (9.64 + 18.28) + 671.6),
        # Copies with each micro-batch: 864 at 5 and 6 hops for a layer.
        (3.0, EACH | {"copies_each_microbatch": 1.0}, 2 * (9.64 + 18.28 + 178.8)),
    ],
)
def test_gradients_of_copies_by_hand(zero: float, facts: dict[str, float], wanted: float) -> None:
    job = record(zero_stage=zero, dp_replicate=2.0)
    found = sharing.gradients_s(job, software(**facts), CONSTANTS, 2.0, 60.0, 100.0)
    assert found == pytest.approx(wanted)


def test_gradients_inside_a_domain_pass_no_other() -> None:
    # 2 ranks: 6656 at 50 and two starts, no domain for a bucket to pass.
    found = sharing.gradients_s(record(dp=2.0), software(), CONSTANTS, 2.0, 0.0, 0.0)
    assert found == pytest.approx(6656 / 50 + 2)


def test_tied_embeddings_by_hand() -> None:
    # 100 x 8 x 4 bytes between two stages: alone in their domains at 5, or at 50 inside one.
    job = record(tied=1.0, pp=2.0)
    assert sharing.tied_s(job, software(), CONSTANTS) == pytest.approx(640.0 + 6.0)
    job = replace(job, nvlink_domain=8.0)
    assert sharing.tied_s(job, software(), CONSTANTS) == pytest.approx(64.0 + 2.0)
    job = replace(job, tp=2.0)
    job = replace(job, nvlink_domain=16.0)
    assert sharing.tied_s(job, software(), CONSTANTS) == pytest.approx(32.0 + 2.0)
    assert sharing.tied_s(record(tied=1.0), software(), CONSTANTS) == 0.0
    assert sharing.tied_s(record(pp=2.0), software(), CONSTANTS) == 0.0


@pytest.mark.parametrize(("zero", "split"), [(0.0, 1.0), (1.0, 4.0), (3.0, 4.0)])
def test_the_optimizer_by_hand(zero: float, split: float) -> None:
    # 26 bytes and twice 4 for each of 1664 parameters, at half of 1000 a second.
    found = sharing.optimizer_s(record(zero_stage=zero), software(), CONSTANTS, 2.0)
    assert found == pytest.approx(34 * 1664 / split / 500)
    both = sharing.optimizer_s(record(zero_stage=zero, cp=2.0), software(), CONSTANTS, 2.0)
    assert both == pytest.approx(found / (2.0 if zero else 1.0))


# --- by hand: with each micro-batch


@pytest.mark.parametrize(
    ("zero", "facts", "wanted"),
    [
        (1.0, EACH, (0.0, 0.0, 0.0)),
        (2.0, EACH, (0.0, 0.0, 1.0)),
        (2.0, EACH | {"gather_each_microbatch": 1.0}, (1.0, 0.0, 1.0)),
        (3.0, EACH, (1.0, 1.0, 1.0)),
        (3.0, {}, (1.0, 0.0, 0.0)),
        # A pipeline that keeps them gathers again before the backward pass, where dropped.
        (3.0, EACH | KEPT, (0.0, 1.0, 0.0)),
    ],
)
def test_rounds_by_hand(
    zero: float, facts: dict[str, float], wanted: tuple[float, float, float]
) -> None:
    found = shards.microbatch_rounds(record(zero_stage=zero, pp=2.0), software(**facts))
    assert (found["forward"], found["backward"], found["scatter"]) == wanted
    # Alone, nothing moves.
    none = shards.microbatch_rounds(record(zero_stage=zero, dp=1.0), software(**facts))
    assert set(none.values()) == {0.0}


@pytest.mark.parametrize(
    ("zero", "facts", "forward_s", "backward_s", "forward", "backward"),
    [
        # A gather of 46.2; on the way back one more and a scatter of 89.4: 135.6. A quarter of
        # what hides shows.
        (3.0, EACH, 40.0, 100.0, 6.2 + 0.25 * 40.0, 35.6 + 0.25 * 100.0),
        (3.0, EACH, 50.0, 100.0, 0.25 * 46.2, 35.6 + 0.25 * 100.0),
        (3.0, EACH, 50.0, 200.0, 0.25 * 46.2, 0.25 * 135.6),
        # Kept between the passes; gradients alone; neither.
        (3.0, {"reduce_each_microbatch": 1.0}, 50.0, 100.0, 0.25 * 46.2, 0.25 * 89.4),
        (2.0, EACH, 40.0, 80.0, 0.0, 9.4 + 0.25 * 80.0),
        (2.0, {}, 40.0, 100.0, 0.0, 0.0),
        (1.0, EACH, 40.0, 100.0, 0.0, 0.0),
    ],
)
def test_gathered_weights_by_hand(
    zero: float,
    facts: dict[str, float],
    forward_s: float,
    backward_s: float,
    forward: float,
    backward: float,
) -> None:
    job = record(zero_stage=zero)
    found = shards.gathered_weights_s(job, software(**facts), CONSTANTS, forward_s, backward_s)
    assert (found["forward"], found["backward"]) == pytest.approx((forward, backward))


def test_messages_of_a_layer_with_experts_by_hand() -> None:
    # Attention 24 x 8 = 192 parameters; half of 8 experts of 3 x 5 x 8 = 120: 480, held by two
    # ranks in two domains. Weights: 384 bytes, 192 at 10 and 3 hops; 960, 480 at 5 and 3 hops.
    # Gradients have twice the bytes.
    job = record(zero_stage=3.0, num_experts=8.0, ep=2.0)
    found = shards.layer_messages_s(job, software(), CONSTANTS)
    assert found["gather"] == pytest.approx(19.2 + 3 + 96 + 3)
    assert found["scatter"] == pytest.approx(38.4 + 3 + 192 + 3)
    # On ranks of their own experts move nothing.
    job = replace(job, ep=4.0)
    assert shards.layer_messages_s(job, software(), CONSTANTS)["gather"] == pytest.approx(22.2)
