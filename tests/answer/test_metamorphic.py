"""What must never happen, whatever the numbers: a better device that is slower, and its like."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest
from door_questions import Asked, legal_questions

from steptime.answer import Prediction, predict
from steptime.answer.remarks import SHARDING
from steptime.formulas.memory.activations import token_bytes
from steptime.formulas.memory.stored import layer_token_bytes
from steptime.formulas.ranks import data_ranks, expert_data_ranks, shard_ranks
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import RECOMPUTE, SCHEDULES
from steptime.inputs.presets import model
from steptime.inputs.said import in_its_time
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


@pytest.mark.parametrize("name", BETTER)
@pytest.mark.parametrize("factor", [1.03, 10.0])
def test_a_better_device_behind_a_slow_host_is_never_slower(name: str, factor: float) -> None:
    """Its passes are less alike then, behind which some schedules would idle more."""
    for asked in behind_hosts():
        before = predict(**asked)
        device = with_better(device_named(asked["accelerator"]), name, factor)
        after = predict(**asked | {"accelerator": device})
        assert after.step_time_s <= before.step_time_s * (1.0 + ROUNDING), asked


def behind_hosts() -> Iterator[Asked]:
    """Give pipelines whose hosts set the pace for none, for some and for all of their devices."""
    asked = {"model": "llama3-8b", "seq_length": 2048, "tp": 1, "cp": 2, "pp": 2, "dp": 3}
    asked |= {"global_batch_size": 192, "recompute": "selective", "zero_stage": 0}
    waits = (0.001, 0.0044, 0.03)
    for schedule, host_s in itertools.product(SCHEDULES, waits):
        for stack, device in (("nanotron-playbook", "gb300"), ("megatron", "mi300x")):
            facts = {"host_layer_s": host_s}
            yield (
                asked
                | {"schedule": schedule, "facts": facts, "stack": stack}
                | {"accelerator": device}
            )


@pytest.mark.parametrize("factor", [2, 4])
def test_a_larger_domain_is_never_slower(questions: list[Asked], factor: int) -> None:
    """Software may use a domain as several, so it may be as slow at most."""
    used = []
    for asked in [*questions, *exchanging_questions()]:
        domain = asked.get("nvlink_domain") or device_named(asked["accelerator"]).nvlink_domain
        before = predict(**asked | {"nvlink_domain": domain})
        after = predict(**asked | {"nvlink_domain": factor * domain})
        used.append(before.predictor)
        assert after.step_time_s <= before.step_time_s * (1.0 + ROUNDING), asked
    assert min(used.count("roofline"), used.count("baseline")) > NUM_QUESTIONS / 10


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


def test_sharding_more_never_adds_memory_unless_the_answer_says_so(questions: list[Asked]) -> None:
    compared = said = 0
    for asked in [*questions, ANOTHER_AGE, EXPERTS_ALONE]:
        held = dict(by_stage(asked))
        for stage, found in held.items():
            # A way to shard may date a family's software: others are asked of the same age.
            said_then = in_its_time(found.step.said, found.step.accelerator)
            alike = held if said_then.exact else dict(by_stage(asked | {"date": said_then.date}))
            less = [alike[other] for other in alike if other < stage]
            leaner = any(other.total_bytes < found.total_bytes for other in less)
            compared += len(less)
            said += leaner
            assert (SHARDING in {one.what for one in found.assumed}) == leaner, (asked, stage)
    assert compared > 1000
    assert 0 < said < compared / 20


ANOTHER_AGE = {
    **{"model": "deepseek-v3", "accelerator": "v100-32gb", "seq_length": 2048, "stack": "megatron"},
    **{"global_batch_size": 2048, "micro_batch_size": 2, "pp": 8, "vpp": 4, "dp": 16, "ep": 8},
    **{"dp_replicate": 4, "etp": 2, "sequence_parallel": True, "recompute": "selective"},
    **{"precision": "fp16", "schedule": "looped-bfs", "predictor": "baseline"},
}
"""ZeRO-1 is of 2022 here, ZeRO-3 of 2024-11 and ZeRO-2 of 2025-02: none on another's software."""
EXPERTS_ALONE = {
    **{"model": "mixtral-8x7b", "accelerator": "a100-pcie-80gb", "seq_length": 512, "etp": 1},
    **{"global_batch_size": 16, "micro_batch_size": 2, "tp": 2, "pp": 16, "vpp": 2, "dp": 1},
    **{"stack": "llm-foundry-2024", "schedule": "looped-bfs", "recompute": "full"},
}
"""Only tensor ranks share, and experts alone: ZeRO-3 holds one whole that ZeRO-2 never gathers."""


def by_stage(asked: Asked) -> Iterator[tuple[int, Prediction]]:
    """Give the answer with each stage of sharding that the software has."""
    for stage in range(4):
        with contextlib.suppress(ConfigError):
            yield stage, predict(**asked | {"zero_stage": stage})


def test_experts_that_no_other_rank_has_are_gathered_by_nobody() -> None:
    """What is whole for a moment is a vocabulary matrix here, not a layer's experts."""
    asked = {"model": "llama4-maverick", "accelerator": "a100-80gb", "tp": 4, "pp": 8, "dp": 2}
    asked |= {"ep": 8, "seq_length": 4096, "global_batch_size": 64, "stack": "deepseek-v3"}
    found = dict(by_stage(asked))
    facts, shape = found[3].software.memory, model("llama4-maverick")
    matrix = shape.vocab_size * shape.hidden_size / 4
    weights = facts.gathered_layers * facts.weight_bytes
    held = {stage: one.memory.fullest.parts_bytes["buffers"] for stage, one in found.items()}
    assert held[2] - held[1] == facts.gradient_bytes * matrix
    assert held[3] - held[1] == (facts.gradient_bytes + weights) * matrix


def test_more_copies_never_need_more_memory_unless_the_answer_says_so(
    questions: list[Asked],
) -> None:
    """With as many micro-batches each. Two exchange what one keeps to itself, in some software."""
    compared = said = 0
    for asked in [*questions, *alone(questions), *nearly_alone()]:
        before = predict(**asked)
        after = predict(**asked | {name: 2 * asked[name] for name in ("dp", "global_batch_size")})
        exchanged = before.software.memory.exchange_bytes * before.memory.fullest.parameters
        # Experts may be on one rank alone where all else is on several.
        ranks = min(data_ranks(before.record), expert_data_ranks(before.record))
        room = exchanged if ranks <= 1.0 else 0.0
        compared += 1
        if after.total_bytes > before.total_bytes * (1.0 + ROUNDING) + room:
            said += 1
            # A second rank makes weights shared, which other software is taken for.
            assert asked["stack"] in (None, "usual", "usual-sharded"), asked
            assert asked["zero_stage"] == 3, asked
            assert shard_ranks(before.record) == 1.0, asked
            assert before.software.stack.name != after.software.stack.name, asked
            told = {one.what: str(one) for one in after.assumed}
            assert SHARDING in told or after.software.stack.name in told["stack"], asked
    assert compared > NUM_QUESTIONS
    assert 0 < said < compared / 20


def nearly_alone() -> Iterator[Asked]:
    """Give what a random draw found: copies of one rank each, and experts that are nowhere else."""
    asked = {"accelerator": "h100", "seq_length": 131072, "global_batch_size": 32, "pp": 1}
    asked |= {"cp": 1, "dp_replicate": 1, "sequence_parallel": True, "recompute": "selective"}
    asked |= {"micro_batch_size": 4, "stack": None}
    mixture = {"model": "mixtral-8x7b", "tp": 16, "dp": 1, "ep": 1, "etp": 1, "zero_stage": 3}
    yield asked | mixture
    copies = {"model": "mixtral-8x22b", "tp": 2, "dp": 4, "dp_replicate": 4, "ep": 4}
    yield asked | copies | {"zero_stage": 3, "recompute": "none"}
    yield asked | {
        **{"model": "gpt-oss-120b", "tp": 1, "pp": 4, "vpp": 4, "dp": 2, "dp_replicate": 2},
        **{"etp": 2, "zero_stage": 1, "stack": "nanotron-playbook", "micro_batch_size": 1},
        **{"schedule": "interleaved-1f1b", "recompute": "full", "global_batch_size": 16},
    }


def alone(questions: list[Asked]) -> Iterator[Asked]:
    """Give the questions that can be asked of one copy, which shares nothing yet."""
    for asked in questions:
        one = {"dp": 1, "dp_replicate": 1, "cp": 1, "ep": 1}
        batch = asked["global_batch_size"] // asked["dp"]
        with contextlib.suppress(ConfigError):
            predict(**asked | one | {"global_batch_size": batch})
            yield asked | one | {"global_batch_size": batch}


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
