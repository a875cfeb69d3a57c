"""What search emits, explain reads back with the same time and memory, or names what differs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from steptime.answer.answer import Prediction, answer
from steptime.answer.question import Question
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Layout
from steptime.inputs.presets import accelerator, model
from steptime.inputs.said import Said
from steptime.inputs.software_taken import KEPT_BY_DEFAULT
from steptime.planning.asked import search_question
from steptime.planning.candidate import Emission
from steptime.planning.emit import suffix_of
from steptime.planning.emit.best import emission, node_size_of
from steptime.planning.emit.names import servers
from steptime.planning.explain import step_of
from steptime.planning.result import SearchResult
from steptime.planning.search import search
from steptime.readers import read_configuration

GPUS, GLOBAL_BATCH = 64, 256
MODELS = (
    "llama3-8b",
    "gpt-oss-20b",
    "gpt-oss-120b",
    "qwen3-30b-a3b",
    "mixtral-8x7b",
    "deepseek-v2",
    "llama4-scout",
    "gemma2-9b",
)
FRAMEWORKS = ("megatron", "megatron-bridge", "nemo", "torchtitan", "nanotron", "deepspeed")
STACKS = {"nemo": "nemo"}
# Halfway between compiled and not, the loss too: no word says that.
NAMED = {"torchtitan": {"eager", "loss_bytes", "logit_bytes"}}

ONE_QUEUE = "\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\ntorchrun "


def found_for(name: str, **more: object) -> SearchResult:
    """Return the search of a model, on the usual devices where nothing else is said."""
    usual: dict[str, Any] = {
        "accelerator": "h100",
        "num_gpus": GPUS,
        "global_batch_size": GLOBAL_BATCH,
    }
    return search(search_question(**(usual | {"model": name, "seq_length": 4096} | more)))


def emitted_by_search(kind: str, name: str, device: str = "h100", **more: object) -> Emission:
    """Return what a search under a framework's own software emits."""
    stack = STACKS.get(kind, kind)
    return emission(kind, found_for(name, accelerator=device, stack=stack, **more))


def explained(kind: str, name: str, found: Emission, folder: Path) -> Prediction:
    """Return what explain says of a file, given the device, the GPUs and the stack alone.

    What the file itself names as unsaid is given too.
    """
    text = found.text
    path = folder / f"emitted{suffix_of(kind)}"
    path.write_text(text)
    said = Said(stack=STACKS.get(kind, kind), facts=tuple(named(found).items()))
    reading = read_configuration(path)
    if reading.model is None and "read it with --model" in text:
        reading.model = model(name)
    step = step_of(reading, accelerator("h100"), {"num_gpus": GPUS}, said)
    return answer(Question(step=step))


def named(found: Emission) -> dict[str, float]:
    """Return the facts that a file does not say, as its comment gives them."""
    told = re.search(r"# no key of the file says as predicted: (.*)", found.text)
    pairs = re.findall(r"(\w+)=([\d.]+)", told[1]) if told else []
    return {name: float(value) for name, value in pairs}


def check_same(own: Prediction, found: Emission) -> None:
    """Hold what explain says to what search printed."""
    assert own.step_time_s == pytest.approx(found.candidate.step_time_s, rel=1e-9)
    assert own.total_bytes == pytest.approx(found.candidate.memory_bytes, rel=1e-9)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", FRAMEWORKS)
def test_an_emitted_file_takes_the_time_that_search_printed(
    kind: str, name: str, tmp_path: Path
) -> None:
    reason = ""
    found: Emission | None
    try:
        found = emitted_by_search(kind, name)
    except ConfigError as error:
        found, reason = None, str(error)
    shape = model(name)
    if found is None:
        # Megatron-Bridge can say every one of these models, and torchtitan what it can be built of.
        assert kind != "megatron-bridge"
        assert kind != "torchtitan" or (shape.gated and shape.activation == "gelu")
        assert kind != "nemo" or shape.latent_attention or shape.sinks
        # Megatron-LM's command line has no GELU with a gate.
        assert kind != "megatron" or (shape.gated and shape.activation == "gelu")
        assert "can run no layout of the ranking" in reason
        if kind == "torchtitan":
            assert "no architecture of torchtitan's has a gated gelu" in reason
        if kind == "megatron":
            assert "Megatron-LM's command line has no gelu with a gate" in reason
        return
    assert set(named(found)) <= NAMED.get(kind, set())
    # With what the file names as unsaid, if anything, it is all the same.
    check_same(explained(kind, name, found, tmp_path), found)


def test_gpt_oss_is_known_by_its_clamp_and_biases() -> None:
    found = emitted_by_search("megatron", "gpt-oss-20b")
    assert "--activation-func-clamp-value 7.0" in found.text
    assert "--disable-bias-linear" not in found.text
    assert "--moe-token-dispatcher-type alltoall" in found.text
    for flag in ("--quick-geglu", "--glu-linear-offset 1.0", "--softmax-type learnable"):
        assert flag in found.text
    assert "--swiglu" not in found.text


def test_experts_are_reached_as_the_time_assumed() -> None:
    found = emitted_by_search("megatron-bridge", "qwen3-30b-a3b").text
    assert "  moe_token_dispatcher_type: flex\n" in found
    assert "  moe_enable_deepep: true\n" in found
    # On this device Megatron-LM is taken to be older than libraries that send one copy.
    older = emitted_by_search("megatron", "qwen3-30b-a3b").text
    assert "--moe-token-dispatcher-type alltoall" in older
    assert "deepep" not in older


def test_servers_are_those_of_the_device() -> None:
    sizes = {"h100": 8, "gb200": 4, "gh200": 4, "tpu-v5p": 4}
    assert {name: node_size_of(accelerator(name)) for name in sizes} == sizes
    assert servers(Layout(dp=64), 4) == (16, 4)
    assert servers(Layout(dp=6), 4) == (2, 3)
    text = emitted_by_search("megatron", "llama3-8b", "gb200").text
    assert "--nnodes 16 --nproc_per_node 4 " in text


def test_the_best_layout_that_the_format_can_write_is_taken() -> None:
    found = emitted_by_search("megatron", "llama3-8b", schedule=("zb-h1", "1f1b"), pp=(4,))
    assert found.candidate.layout.schedule == "1f1b"
    assert "the best that megatron can run" in found.notes[0]
    assert "megatron does not run schedule=zb-h1" in found.notes[0]


def test_a_layout_that_is_chosen_is_not_replaced() -> None:
    result = found_for("llama3-8b", schedule="zb-h1", pp=4)
    with pytest.raises(ConfigError, match="megatron does not run schedule=zb-h1"):
        emission("megatron", result, 1)


def test_a_fact_that_no_key_says_is_named() -> None:
    found = emitted_by_search("megatron", "llama3-8b", facts={"power_scale": 0.9})
    assert named(found) == {"power_scale": 0.9}
    assert "power_scale=0.9" in found.notes[-2]
    assert found.notes[-1].startswith("as it is written, a step takes ")


def test_a_file_without_named_software_says_what_it_was_predicted_with(tmp_path: Path) -> None:
    found = emission("megatron", found_for("llama3-8b", date="2025-06"))
    told = re.search(r"predicted with --stack (\S+) --date (\S+): ", found.text)
    assert told is not None
    path = tmp_path / "emitted.sh"
    path.write_text(found.text)
    assert set(named(found)) == {"loss_bytes"}
    said = Said(stack=told[1], date=told[2], facts=tuple(named(found).items()))
    step = step_of(read_configuration(path), accelerator("h100"), {}, said)
    check_same(answer(Question(step=step)), found)


def test_modules_computed_again_and_narrow_moments_are_written(tmp_path: Path) -> None:
    found = emission(
        "megatron", found_for("deepseek-v3", num_gpus=1024, global_batch_size=1024, pp=[8])
    )
    assert "--recompute-modules moe_act layernorm mla_up_proj \\" in found.text
    # The loss of unknown software lies between what words stand for. A gradient of its
    # authors' own has 4 bytes, of which some software has fewer.
    told = named(found)
    assert told.pop("loss_bytes") == 32.0
    assert set(told) <= set(KEPT_BY_DEFAULT)
    assert told["gradient_bytes"] == 4.0
    path = tmp_path / "emitted.sh"
    path.write_text(found.text)
    said = Said(stack="usual", facts=(("loss_bytes", 32.0), *told.items()))
    step = step_of(read_configuration(path), accelerator("h100"), {"num_gpus": 1024}, said)
    check_same(answer(Question(step=step)), found)


def test_nemo_is_told_the_overlap_that_the_time_assumed() -> None:
    found = found_for("llama3-405b", num_gpus=1024, global_batch_size=512, seq_length=8192)
    text = emission("nemo", found).text
    assert "ub_tp_comm_overlap: false" in text
    assert "overlap_tp=" not in text


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("nemo", "ub_tp_comm_overlap: {}"),
        ("megatron-bridge", "tp_comm_overlap: {}"),
        ("torchtitan", "enable_async_tensor_parallel = {}"),
    ],
)
def test_no_file_asks_for_overlap_that_leaves_a_domain(kind: str, key: str) -> None:
    """Chunks land in memory of one NVLink domain: 8 GPUs of a server, 72 of a rack."""
    for device, word in (("h100", "false"), ("gb200", "true")):
        asked = {"tp": 16, "cp": 1, "facts": {"overlap_tp": 1.0}}
        found = emitted_by_search(kind, "llama3-70b", device, **asked)
        assert key.format(word) in found.text, device


def test_what_no_key_says_is_told_once() -> None:
    text = emitted_by_search("torchtitan", "llama3-8b").text
    assert text.count("eager=0.5") == 1
    told = "logit_bytes=14.0, eager=0.5, loss_bytes=32.0"
    assert f"# no key of the file says as predicted: {told}\n" in text


def test_a_file_of_a_stated_month_asks_for_what_ran_then() -> None:
    found = found_for("mixtral-8x7b", stack="megatron", date="2024-08", precision="fp16")
    text = emission("megatron", found).text
    assert "--expert-model-parallel-size 1 " in text
    assert "--fp16 " in text


@pytest.mark.parametrize(("device", "lines"), [("h100", 1), ("a100-80gb", 1), ("b200", 0)])
def test_one_queue_of_work_is_set_before_blackwell(device: str, lines: int) -> None:
    """megatronlm2026, arguments.py: validate_args ends a run without it."""
    assert emitted_by_search("megatron", "llama3-70b", device, tp=8).text.count(ONE_QUEUE) == lines


def test_no_file_is_written_for_a_tpu() -> None:
    for kind in FRAMEWORKS:
        with pytest.raises(ConfigError, match=f"{kind}'? does not run on tpu-v5p"):
            emitted_by_search(kind, "llama3-8b", "tpu-v5p", recompute="full")


@pytest.mark.parametrize("kind", FRAMEWORKS)
def test_a_stated_length_is_written_in_steps_and_changes_no_answer(
    kind: str, tmp_path: Path
) -> None:
    """A trillion tokens in steps of 128 sequences of 8,192 are 953,674.3: the last is not full."""
    question = search_question(
        model="llama3-8b",
        accelerator="h100",
        num_gpus=64,
        seq_length=8192,
        global_batch_size=128,
        zero_stage=(0, 1, 3),
    )
    result = search(question, keep=1000)
    plain, stated = emission(kind, result), emission(kind, result, tokens=1e12)
    added = [line for line in stated.text.split("\n") if line not in plain.text.split("\n")]
    assert [re.sub(r"\D", "", line) for line in added] == ["953675"]
    path = tmp_path / f"run{suffix_of(kind)}"
    path.write_text(plain.text)
    before = read_configuration(path)
    path.write_text(stated.text)
    after = read_configuration(path)
    assert [note for note in after.notes if note not in before.notes] == []
    values = {name: fact.value for name, fact in after.facts.items()}
    assert values == {name: fact.value for name, fact in before.facts.items()}
