"""What a question leaves open, ranked: naming a thing does what the ranking says."""

from __future__ import annotations

import contextlib
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from steptime.answer import Prediction, predict
from steptime.answer.choices import choices_of
from steptime.answer.unstated import MEMORY, STATED_OF_LAYOUT, TIME, Unstated
from steptime.cli.main import application
from steptime.inputs.again import asked_again, inputs_of
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.fields import BY_NAME
from steptime.inputs.precision import PRECISIONS, precision_named
from steptime.inputs.presets import accelerator_names
from steptime.inputs.stack import FACT_NAMES
from steptime.inputs.training_step import training_step

DENSE = {
    "model": "llama3-70b",
    "accelerator": "h100",
    "seq_length": 8192,
    "global_batch_size": 512,
    "tp": 8,
    "pp": 4,
    "dp": 8,
}
EXPERTS = DENSE | {"model": "mixtral-8x7b", "tp": 1, "ep": 8, "dp": 64}
OLD = DENSE | {"model": "llama3-8b", "accelerator": "a100", "seq_length": 4096, "tp": 2, "pp": 1}
SHARED = OLD | {"accelerator": "h100", "tp": 1, "dp": 64, "zero_stage": 3, "stack": "fsdp"}
ON_64: dict[str, Any] = {
    "model": "llama3-8b",
    "dp": 16,
    "tp": 4,
    "seq_length": 4096,
    "global_batch_size": 64,
}
QUESTIONS = (DENSE, EXPERTS, OLD, SHARED)
STATED = {
    "micro_batch_size": 1,
    "vpp": 1,
    "schedule": "1f1b",
    "sequence_parallel": True,
    "zero_stage": 1,
    "recompute": "none",
    "network_gbit": 400,
    "etp": 1,
    "stack": "megatron-core",
}


def named(asked: dict[str, Any], one: Unstated) -> list[Prediction]:
    """Return the answers with each choice of a thing named, as a user would name it."""
    found = predict(**asked)
    answers = []
    for choice in choices_of(found.step, found.software)[one.what]:
        try:
            told = predict(**asked | choice.stated)
        except ConfigError:
            continue
        if told.fits or not found.fits:
            answers.append(told)
    return answers


# ---- invariant


@pytest.mark.parametrize("asked", QUESTIONS)
def test_naming_a_thing_moves_the_answer_to_an_end_of_its_range_and_no_farther(
    asked: dict[str, Any],
) -> None:
    found = predict(**asked)
    assert len(found.unstated) >= 3
    for one in found.unstated:
        times = [told.step_time_s for told in named(asked, one)]
        assert len(times) == one.choices
        assert min([*times, found.step_time_s]) == one.low_s
        assert max([*times, found.step_time_s]) == one.high_s
        low_s, high_s = found.step_time_low_s, found.step_time_high_s
        assert low_s is not None
        assert high_s is not None
        if one.what in STATED_OF_LAYOUT:
            assert one.outside == 0
            continue
        alike = [told for told in named(asked, one) if told.step.layout == found.step.layout]
        assert one.outside == sum(not low_s <= told.step_time_s <= high_s for told in alike)


@pytest.mark.parametrize("asked", QUESTIONS)
def test_what_is_named_is_open_no_more(asked: dict[str, Any]) -> None:
    found = predict(**asked)
    for one in found.unstated:
        lefts = []
        for choice in choices_of(found.step, found.software)[one.what]:
            # Some software wants more stated beside its name, and is refused alone.
            with contextlib.suppress(ConfigError):
                lefts.append(predict(**asked | choice.stated).unstated)
        assert lefts
        for left in lefts:
            assert one.what not in [other.what for other in left]


@pytest.mark.parametrize("asked", QUESTIONS)
def test_the_first_could_change_the_answer_most(asked: dict[str, Any]) -> None:
    changes = [one.change for one in predict(**asked).unstated]
    assert changes == sorted(changes, reverse=True)
    assert changes[-1] > 0.0
    for one in predict(**asked).unstated:
        assert one.change == math.log(one.high_s / one.low_s)


def test_naming_software_by_its_family_narrows_the_interval() -> None:
    def width(found: Prediction) -> float:
        assert found.step_time_low_s is not None
        assert found.step_time_high_s is not None
        return math.log(found.step_time_high_s / found.step_time_low_s)

    before = predict(**DENSE)
    assert "stack" in [one.what for one in before.unstated]
    after = predict(**DENSE, stack="megatron", date="2024-08")
    assert width(after) < width(before)


def test_what_is_asked_again_with_nothing_more_is_the_same_step() -> None:
    draw = random.Random(5)
    for asked in QUESTIONS:
        for _ in range(8):
            kept = {name: STATED[name] for name in STATED if draw.random() < 0.4}
            kept.pop("etp" if asked is not EXPERTS else "vpp", None)
            if asked is SHARED:
                kept.pop("zero_stage", None)
                kept.pop("stack", None)
            step = training_step(**asked | kept)
            again = asked_again(step)
            assert again == step
            assert again.open == step.open
            assert set(step.open).isdisjoint(kept)
            sizes = {name: value for name, value in kept.items() if name != "network_gbit"}
            assert inputs_of(step) | sizes == inputs_of(step)
            assert again.accelerator.network_stated == ("network_gbit" in kept)


# ---- limit


def test_where_everything_is_stated_nothing_is_ranked() -> None:
    assert predict(**DENSE, **STATED).unstated == ()


def test_one_server_needs_no_network() -> None:
    assert "network_gbit" in [one.what for one in predict(**DENSE).unstated]
    one_server = DENSE | {"tp": 8, "pp": 1, "dp": 1, "model": "llama3-8b"}
    assert "network_gbit" not in [one.what for one in predict(**one_server).unstated]


def test_software_that_never_ran_such_a_layout_is_no_choice() -> None:
    found = predict(**DENSE)
    stacks = [one.word for one in choices_of(found.step, found.software)["stack"]]
    seen = data_table("reach.toml")["families"]
    assert stacks
    assert all({"tp", "pp"} <= set(seen[name]) for name in stacks)
    assert set(stacks) < set(seen)


def test_choices_that_do_not_fit_are_none() -> None:
    asked = DENSE | {"model": "llama3-8b", "tp": 2, "pp": 1, "dp": 32, "recompute": "none"}
    found = next(one for one in predict(**asked).unstated if one.what == "micro_batch_size")
    tried = {size: predict(**asked, micro_batch_size=size) for size in (1, 2, 4, 8)}
    assert [size for size, told in tried.items() if told.fits] == [1, 2]
    assert tried[8].step_time_s < tried[2].step_time_s == found.low_s


@pytest.mark.parametrize("precision", PRECISIONS)
def test_no_device_asks_for_software_that_its_precision_is_younger_than(precision: str) -> None:
    answered = 0
    for device in accelerator_names():
        try:
            found = predict(**ON_64, accelerator=device, precision=precision)
        except ConfigError:
            continue
        answered += 1
        for group in (TIME, MEMORY):
            assert choices_of(found.step, found.software, group), (device, group)
    assert answered >= 2


def test_a_device_older_than_a_precision_is_ranked_with_it() -> None:
    found = predict(**ON_64, accelerator="mi300x", precision="fp8")
    assert found.unstated
    assert found.unstated_of_memory
    dates = choices_of(found.step, found.software).get("date", ())
    told = [one for one in found.unstated if one.what == "date"]
    # Months before the precision came are refused, and so are no choices of the ranking.
    since = precision_named("fp8").since
    assert [one.choices for one in told] in ([], [sum(one.word >= since for one in dates)])


def test_every_thing_that_can_be_open_has_words() -> None:
    table = data_table("open_things.toml")
    assert set(table["fields"]) == {*training_step(**DENSE).open, "network_gbit", "stack", "date"}
    assert set(table["fields"]) <= set(BY_NAME)
    assert set(table["facts"]) <= set(FACT_NAMES)


# ---- on the command line

LINE = "predict -m llama3-70b -a h100 -s 8192 -B 512 --tp 8 --pp 4 --dp 8".split()


def printed(capsys: pytest.CaptureFixture[str], *line: str) -> str:
    with pytest.raises(SystemExit) as stop:
        application(line)(list(line))
    assert stop.value.code == 0
    return capsys.readouterr().out


def test_predict_prints_the_three_first(capsys: pytest.CaptureFixture[str]) -> None:
    first = predict(**DENSE).unstated
    told = " ".join(printed(capsys, *LINE).split())
    assert f"naming {first[0].says} would narrow this most: {first[0].how}" in told
    assert f"naming {first[2].says}: {first[2].how}" in told
    assert f"naming {first[3].says}" not in told


def test_json_has_all_and_what_lies_beyond(capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(printed(capsys, *LINE, "--json"))
    assert [one["what"] for one in told["unstated"]] == [
        one.what for one in predict(**DENSE).unstated
    ]
    assert told["beyond"] == []
    far = [*LINE[:-1], "2048", "-B", "2048", "--json"]
    told = json.loads(printed(capsys, *far))
    assert [one["value"] for one in told["beyond"]] == ["65,536 devices"]


def test_layers_that_take_less_than_any_compared_run_are_told() -> None:
    """Narayanan's 3.8-billion GPT over 32 tensor ranks has the shortest layers of all."""

    def small(stack: str | None) -> Prediction:
        asked = {"model": "gpt2", "accelerator": "a100", "stack": stack, "dp": 8}
        return predict(**asked, seq_length=1024, global_batch_size=64)

    (told,) = small(None).beyond
    assert told.value.endswith(" ms a layer and micro-batch")
    assert "no run under 4.45 ms" in told.why
    # 12 layers, 8 micro-batches of one sequence: what is launched one by one takes its time.
    assert small("megatron").step_time_s > 12 * 8 * 40 * 22e-6
    assert small("fsdp").step_time_s > 12 * 8 * 200 * 22e-6
    # What runs again is launched again.
    asked = {"model": "gpt2", "accelerator": "a100", "stack": "fsdp", "dp": 8}
    again = predict(**asked, seq_length=1024, global_batch_size=64, recompute="full")
    assert again.step_time_s > 12 * 8 * 200 * 22e-6 * 4 / 3
    # XLA launches a step at once.
    assert small("maxtext").software.time.host_layer_s == 0.0
    assert predict(**DENSE).beyond == ()


def test_ranking_waits_until_it_is_asked() -> None:
    found = predict(**DENSE)
    assert "unstated" not in vars(found)
    assert found.unstated is found.unstated
    assert "unstated" in vars(found)


@pytest.mark.parametrize("stated", [False, True])
def test_search_ranks_what_no_layout_has(capsys: pytest.CaptureFixture[str], stated: bool) -> None:
    line = "search -m llama3-8b -a h100 --gpus 16 -B 64 -s 8192 --json".split()
    told = json.loads(printed(capsys, *line, *(["--network-gbit", "400"] if stated else [])))
    named_ = {one["what"] for one in told["unstated"]}
    assert {"stack", "kernel"} <= named_
    # Its layouts state their own cut.
    assert named_.isdisjoint({"micro_batch_size", "recompute", "zero_stage", "vpp"})
    assert ("network_gbit" in named_) is not stated


@pytest.mark.parametrize("stated", [False, True])
def test_explain_ranks_what_the_file_leaves_open(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, stated: bool
) -> None:
    path = tmp_path / "run.sh"
    path.write_text(
        "torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
        "--num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 --global-batch-size 64 "
        "--tensor-model-parallel-size 4 --bf16 --vocab-size 51200\n"
    )
    more = ["--network-gbit", "200"] if stated else []
    told = json.loads(printed(capsys, "explain", str(path), "-a", "a100", "--json", *more))
    named_ = [one["what"] for one in told["unstated"]]
    assert named_
    assert "stack" not in named_
    assert ("network_gbit" in named_) is not stated
