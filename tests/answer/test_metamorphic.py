"""What must never happen, whatever the numbers: a better device that is slower, and its like."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from door_questions import Asked, legal_questions

from steptime.answer import Prediction, predict
from steptime.formulas.memory.activations import token_bytes
from steptime.formulas.memory.stored import layer_token_bytes
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import RECOMPUTE
from steptime.inputs.training_step import device_named

NUM_QUESTIONS = 1000
ROUNDING = 1e-12
# The block that these repeat lasts longer than what it holds, where F, I and W differ: they idle
# in each micro-batch, and save some of that while they fill (qi2024, Fig. 4).
LONGER_THAN_ITS_WORK = ("v-half", "v-min")
BETTER = {
    "peak_flop_per_s": ("peak_flop_per_s", "peak_fp8_flop_per_s", "peak_fp4_flop_per_s"),
    "matmul_flop_per_s": ("matmul_flop_per_s", "matmul_fp8_flop_per_s", "matmul_fp4_flop_per_s"),
    "hbm_bytes_per_s": ("hbm_bytes_per_s",),
    "hbm_bytes": ("hbm_bytes", "hbm_sold_bytes"),
    "nvlink_bytes_per_s": ("nvlink_bytes_per_s",),
    "network_bytes_per_s": ("network_bytes_per_s",),
}


@pytest.fixture(scope="module")
def questions() -> list[Asked]:
    """Give random questions that have an answer."""
    return legal_questions(NUM_QUESTIONS, seed=5)


@pytest.fixture(scope="module")
def before(questions: list[Asked]) -> list[tuple[Asked, Prediction]]:
    """Give the questions whose network is the device's own, with their answers."""
    plain = [asked | {"network_gbit": None} for asked in questions]
    return [(asked, predict(**asked)) for asked in plain]


def with_better(device: Accelerator, name: str, factor: float) -> Accelerator:
    changes = {field: getattr(device, field) * factor for field in BETTER[name]}
    return replace(device, **changes)  # type: ignore[arg-type]


def test_both_models_of_the_time_are_asked(questions: list[Asked]) -> None:
    used = [predict(**asked).predictor for asked in questions]
    assert min(used.count("roofline"), used.count("baseline")) > NUM_QUESTIONS / 10


@pytest.mark.parametrize("name", BETTER)
@pytest.mark.parametrize("factor", [1.03, 2.0, 10.0])
def test_a_better_device_is_never_slower_and_unfits_nothing(
    before: list[tuple[Asked, Prediction]], name: str, factor: float
) -> None:
    for asked, found in before:
        device = with_better(device_named(asked["accelerator"]), name, factor)
        after = predict(**asked | {"accelerator": device})
        assert after.step_time_s <= found.step_time_s * (1.0 + ROUNDING), asked
        assert after.verdict >= found.verdict, asked


@pytest.mark.parametrize("factor", [2, 4])
def test_a_larger_domain_is_never_slower(questions: list[Asked], factor: int) -> None:
    """By the roofline model: software may use a domain as several, so it may be as slow at most."""
    compared = 0
    for asked in [*questions, *exchanging_questions()]:
        if asked.get("predictor") == "baseline":
            # It keeps whole blocks of tensor ranks in a domain, not of data ranks.
            continue
        domain = asked.get("nvlink_domain") or device_named(asked["accelerator"]).nvlink_domain
        before = predict(**asked | {"nvlink_domain": domain})
        after = predict(**asked | {"nvlink_domain": factor * domain})
        if before.predictor == "roofline":
            compared += 1
            assert after.step_time_s <= before.step_time_s * (1.0 + ROUNDING), asked
    assert compared > 500


def exchanging_questions() -> list[Asked]:
    """Return questions in which NVLink is slow beside the network, and experts are spread wide."""
    sizes = itertools.product((2, 4, 8, 16, 32), (16, 32, 64), ("h800", "h100"))
    return [
        {
            "model": "deepseek-v3",
            "accelerator": device,
            "seq_length": 4096,
            "global_batch_size": 4096,
            "pp": 8,
            "dp": 128,
            "ep": ranks,
            "nvlink_domain": domain,
        }
        for domain, ranks, device in sizes
    ]


def test_more_micro_batches_never_raise_the_share_of_the_bubble(questions: list[Asked]) -> None:
    """Idle over useful time: sends, gradients and optimizer do not grow with the micro-batches."""

    def share(found: Prediction) -> float:
        useful = ("compute", "recompute", "tensor_parallel", "context_parallel", "expert_parallel")
        return float(
            found.breakdown_s["bubble"] / sum(found.breakdown_s.get(name, 0.0) for name in useful)
        )

    compared = 0
    for asked in questions:
        if asked["schedule"] in LONGER_THAN_ITS_WORK:
            continue
        if asked["global_batch_size"] == asked["dp"] * asked["micro_batch_size"]:
            # A single micro-batch has no gradients to add up: its layers are shorter.
            continue
        more = asked | {"global_batch_size": 3 * asked["global_batch_size"]}
        try:
            after = predict(**more)
        except ConfigError:
            continue
        compared += 1
        assert share(after) <= share(predict(**asked)) * (1.0 + 1e-9), asked
    assert compared > 500


def test_sharding_more_never_adds_memory(questions: list[Asked]) -> None:
    """From ZeRO-1 on each stage holds less; FSDP is asked of the same software."""
    compared = 0
    for asked in questions:
        if asked["stack"] is None:
            continue
        held = []
        for stage in range(4):
            try:
                held.append(predict(**asked | {"zero_stage": stage}))
            except ConfigError:
                continue
        for less, more in itertools.pairwise(held):
            compared += 1
            moment = transient_bytes(more)
            assert more.total_bytes <= less.total_bytes + moment, asked
    assert compared > 500


def transient_bytes(found: Prediction) -> float:
    """Return what ZeRO-2 and -3 hold for a moment: a whole layer is the stated reason."""
    return float(found.memory.fullest.parts_bytes["buffers"])


def test_recomputing_more_never_adds_memory(questions: list[Asked]) -> None:
    """But for the one layer at work, which has again what was recomputed for it."""
    for asked in questions:
        none, selective, full = (predict(**asked | {"recompute": mode}) for mode in RECOMPUTE)
        room = at_work_bytes(none) * (1.0 + none.software.memory.fragmentation)
        assert selective.total_bytes <= none.total_bytes * (1.0 + ROUNDING) + room, asked
        assert full.total_bytes <= none.total_bytes * (1.0 + ROUNDING) + room, asked


def at_work_bytes(found: Prediction) -> float:
    """Return what one layer holds of one micro-batch."""
    record, facts = found.record, found.software.memory
    tokens = record.micro_batch_size * record.seq_length / record.cp
    layer = layer_token_bytes(record, token_bytes(record, facts))
    return float(tokens * max(layer["dense"], layer["experts"]))
