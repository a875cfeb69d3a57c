"""Small things that commands say: of sizes without use, names, folders, one and several."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steptime import predict

Call = Callable[..., tuple[int, str, str]]
ASKED: dict[str, Any] = {
    "model": "llama3-8b",
    "accelerator": "h100",
    "seq_length": 4096,
    "global_batch_size": 64,
}
WORDS = ("predict", "-a", "h100", "-s", "4096", "-B", "8", "--dp", "8")
CONFIG = {
    "model_type": "llama",
    "hidden_size": 2048,
    "intermediate_size": 5632,
    "num_hidden_layers": 22,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "vocab_size": 32000,
    "tie_word_embeddings": False,
}


def test_copies_of_what_is_sharded_are_told_where_nothing_is(steptime: Call) -> None:
    copies: dict[str, Any] = {"dp": 8, "dp_replicate": 2}
    words = (*WORDS, "-m", "llama3-8b", "--dp-replicate", "2")
    told = "--dp-replicate counts for nothing: copies of what is sharded, and ZeRO-0 shards nothing"
    assert told in steptime(*words, "--zero", "0")[1]
    assert "for nothing" not in steptime(*words, "--zero", "1")[1]
    assert "for nothing" not in steptime(*WORDS, "-m", "llama3-8b", "--zero", "0")[1]
    # It says that they count for nothing, and they do.
    plain = predict(**ASKED, dp=8, zero_stage=0)
    assert predict(**ASKED, **copies, zero_stage=0).step_time_s == plain.step_time_s


def test_a_sequence_that_nothing_splits_is_told(steptime: Call) -> None:
    words = (*WORDS, "-m", "llama3-8b", "--sequence-parallel")
    assert "--sequence-parallel counts for nothing: tensor ranks split" in steptime(*words)[1]
    assert "for nothing" not in steptime(*words, "--tp", "2")[1]
    whole = predict(**ASKED, dp=8)
    assert predict(**ASKED, dp=8, sequence_parallel=True).step_time_s == whole.step_time_s


def test_the_same_trace_is_one_rank(steptime: Call, tmp_path: Path) -> None:
    event = {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1.0, "dur": 5.0, "tid": 7}
    step = {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0.0, "dur": 9.0}
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"traceEvents": [step, event]}))
    again = f"{tmp_path}/./t.json"
    assert steptime("trace", str(path))[0] == 0
    status, out, err = steptime("trace", str(path), again)
    assert (status, out) == (2, "")
    assert "t.json is given twice" in err


def test_a_format_that_is_none_lists_those_that_are(steptime: Call) -> None:
    words = ("search", "-m", "llama3-8b", "-a", "h100", "--gpus", "8", "-B", "8", "-s", "4096")
    err = steptime(*words, "--emit", "tensorflow")[2]
    assert "one of: deepspeed, megatron, megatron-bridge, nanotron, nemo, torchtitan" in err
    assert "did you mean 'torchtitan'?" in steptime(*words, "--emit", "torchtitn")[2]


def test_a_list_of_a_plan_under_another_name_is_told(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(
        'models = ["llama3-8b"]\naccelerators = ["h100"]\ngpu = [8, 16]\n'
        "global_batch_sizes = [64]\nseq_lengths = [8192]\n"
    )
    err = steptime("sweep", str(path), "--out", str(tmp_path / "out"))[2]
    assert "unknown 'gpu'; known: accelerators, " in err
    assert " gpus, " in err


def test_a_stack_that_is_none_lists_each_name_once(steptime: Call) -> None:
    names = steptime("facts", "zzzzzzz")[2].strip().partition("one of: ")[2].split(", ")
    assert len(names) > 20
    assert len(names) == len(set(names))


@pytest.mark.parametrize("folder", ["mine", "./mine", "{at}/mine/"])
def test_a_folder_with_a_configuration_is_a_model(
    steptime: Call, tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine", "config.json").write_text(json.dumps(CONFIG))
    by_file = steptime(*WORDS, "-m", "mine/config.json", "--json")[1]
    status, out, _ = steptime(*WORDS, "-m", folder.format(at=tmp_path), "--json")
    assert status == 0
    assert json.loads(out)["step_time_s"] == json.loads(by_file)["step_time_s"]


def test_a_bare_word_is_a_preset_though_a_folder_has_its_name(
    steptime: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    preset = steptime(*WORDS, "-m", "llama3-8b", "--json")[1]
    monkeypatch.chdir(tmp_path)
    Path("llama3-8b").mkdir()
    Path("llama3-8b", "config.json").write_text(json.dumps(CONFIG))
    assert steptime(*WORDS, "-m", "llama3-8b", "--json")[1] == preset
    assert steptime(*WORDS, "-m", "./llama3-8b", "--json")[1] != preset


def test_one_micro_batch_is_one(steptime: Call) -> None:
    assert "1 micro-batch\n" in steptime(*WORDS, "-m", "llama3-8b")[1]
    assert "micro-batches\n" in steptime(*WORDS, "-m", "llama3-8b", "-B", "16")[1]
