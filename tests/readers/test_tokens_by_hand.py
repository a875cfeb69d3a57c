"""Single keys of launch files whose reading a token more or less would change."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from written_files import read

from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import model
from steptime.readers.common.base_model import _of_heads
from steptime.readers.common.patterns import MOST_LAYERS, layer_pattern
from steptime.readers.common.shared_out import experts_cut
from steptime.readers.keys.leaves import plain_name
from steptime.readers.keys.resolve import Resolver
from steptime.readers.keys.safe import LARGEST_LAUNCH_BYTES, _check_depth
from steptime.readers.keys.yaml_lines import _plain

SHAPE = "--num-layers 12 --hidden-size 96 --num-attention-heads 4 --vocab-size 1000"
REST = "--seq-length 512 --max-position-embeddings 512 --micro-batch-size 1 --bf16"


def megatron(folder: Path, flags: str, rest: str = f"{REST} --global-batch-size 64") -> Any:
    return read(
        folder, "run.sh", f"torchrun --nproc_per_node 8 pretrain_gpt.py {SHAPE} {rest} {flags}\n"
    )


# --- Megatron-LM


def test_the_last_batch_of_a_schedule_counts(tmp_path: Path) -> None:
    found = megatron(tmp_path, "--step-batch-size-schedule '0:384 200B:768'", REST)
    assert found.value("global_batch_size") == 768


def test_two_experts_a_token_are_the_default(tmp_path: Path) -> None:
    found = megatron(tmp_path, "--num-experts 8 --expert-model-parallel-size 8")
    assert found.model.experts.top_k == 2


def test_a_script_without_sizes_has_one_of_each(tmp_path: Path) -> None:
    found = megatron(tmp_path, "")
    assert {name: found.value(name) for name in ("tp", "pp")} == {"tp": 1, "pp": 1}
    assert found.missing == []


@pytest.mark.parametrize(
    ("flags", "ffn"),
    [
        # Megatron-LM: 4 h, or two thirds of it in steps of 64 with a gate; a stated one stays.
        *(("", 384), ("--swiglu", 256), ("--swiglu --ffn-hidden-size 100", 100)),
        ("--ffn-hidden-size 7", 7),
    ],
)
def test_the_width_of_a_network(flags: str, ffn: int, tmp_path: Path) -> None:
    assert megatron(tmp_path, flags).model.ffn_hidden_size == ffn


@pytest.mark.parametrize(
    ("flags", "name"),
    [("--wandb-exp-name team/own-run", "own-run"), ("--wandb-exp-name own", "own"), ("", "model")],
)
def test_a_model_is_named_by_the_last_part(flags: str, name: str, tmp_path: Path) -> None:
    assert megatron(tmp_path, flags).model.name == name


def test_one_word_for_rotary_positions_is_enough(tmp_path: Path) -> None:
    assert megatron(tmp_path, "--use-rotary-position-embeddings").model.learned_positions == 0
    assert megatron(tmp_path, "").model.learned_positions == 512


def test_ends_that_hold_all_layers_leave_none_between(tmp_path: Path) -> None:
    ends = "--decoder-first-pipeline-num-layers 5 --decoder-last-pipeline-num-layers 7"
    found = megatron(tmp_path, f"--pipeline-model-parallel-size 2 {ends}")
    assert (found.value("first_stage_layers"), found.value("last_stage_layers")) == (5, 7)
    with pytest.raises(ConfigError, match="-2 of num_layers = 12 are left"):
        megatron(tmp_path, f"--pipeline-model-parallel-size 2 {ends.replace('5', '7')}")


@pytest.mark.parametrize("cut", ["Et*6|Lt*6L", "Et*6|t*6Lm", "Et*6L|t*6"])
def test_a_cut_into_stages_has_its_loss_once_and_last(cut: str, tmp_path: Path) -> None:
    flags = f"--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout '{cut}'"
    with pytest.raises(ConfigError, match="must end with the loss"):
        megatron(tmp_path, flags)


# --- other frameworks

NEOX = {
    **{"num_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "seq_length": 512},
    **{"max_position_embeddings": 512, "train_micro_batch_size_per_gpu": 1},
    **{"train_batch_size": 8, "fp16": {"enabled": True}},
}


@pytest.mark.parametrize(("stages", "pp"), [(0, 1), (1, 1), (2, 2)])
def test_no_stages_of_gpt_neox_are_one(stages: int, pp: int, tmp_path: Path) -> None:
    own = NEOX | {"pipe_parallel_size": stages, "model_parallel_size": 2}
    found = read(tmp_path, "own.yml", json.dumps(own))
    assert (found.value("pp"), found.value("tp")) == (pp, 2)
    told = [one.why for one in found.assumptions if one.name == "pp"]
    assert told == (["0 turns it off"] if stages == 0 else [])


@pytest.mark.parametrize(
    ("attention", "groups"),
    [("multiquery_attention", 1), ("multihead_attention", 16), ("grouped_query_attention", 4)],
)
def test_heads_of_keys_of_mpt(attention: str, groups: int, tmp_path: Path) -> None:
    config: dict[str, Any] = {"attn_type": attention}
    config |= {"kv_n_heads": 4} if groups == 4 else {}
    own = {"model_type": "mpt", "d_model": 2048, "n_layers": 24, "n_heads": 16, "vocab_size": 1000}
    found = read(tmp_path, "config.json", json.dumps(own | {"attn_config": config}))
    assert found.model is not None
    assert found.model.num_query_groups == groups


@pytest.mark.parametrize(
    ("more", "windows"),
    [
        # GPT-Neo: every second layer sees 256 tokens, unless a list says which.
        ({}, (256, 12)),
        ({"attention_layers": ["global", "local", "local"] * 8}, (256, 16)),
        ({"window_size": 128}, (128, 12)),
    ],
)
def test_windows_of_gpt_neo(more: dict[str, Any], windows: tuple[int, int], tmp_path: Path) -> None:
    own = {"model_type": "gpt_neo", "hidden_size": 2048, "num_layers": 24, "num_heads": 16}
    found = read(tmp_path, "config.json", json.dumps(own | {"vocab_size": 50257} | more)).model
    assert found is not None
    assert (found.window_size, found.windowed_layers) == windows


@pytest.mark.parametrize("more", [{"use_sliding_window": False}, {"sliding_window": None}])
def test_windows_that_are_off(more: dict[str, Any], tmp_path: Path) -> None:
    own = {
        **{"model_type": "qwen2", "hidden_size": 64, "num_hidden_layers": 4, "vocab_size": 1000},
        **{"num_attention_heads": 4, "num_key_value_heads": 4, "intermediate_size": 128},
        **{"sliding_window": 512, "max_window_layers": 2, "use_sliding_window": True},
    }
    found = read(tmp_path, "config.json", json.dumps(own)).model
    assert found is not None
    assert (found.window_size, found.windowed_layers) == (512, 2)
    off = read(tmp_path, "config.json", json.dumps(own | more)).model
    assert off is not None
    assert (off.window_size, off.windowed_layers) == (0, 0)


# --- keys of any syntax


def test_values_that_others_name_stand_within_words() -> None:
    known = Resolver(by_path={"a.n": 3, "n": 5, "b.n": 7}, given={})
    assert known.value("pre-${a.n}-post", ()) == ("pre-3-post", True)
    # One dot is the section of the value, each further one a section out; none is beyond the file.
    at = ("b", "c")
    assert [known.value(f"${{{dots}n}}", at)[0] for dots in (".", "..", "...", "....")] == [
        *(7, 5, 5, 5)
    ]


@pytest.mark.parametrize("signs", ["[]", "{}"])
def test_brackets_may_follow_each_other_and_not_stand_in_each_other(signs: str) -> None:
    _check_depth(f"{signs[0]}\n{signs[1]}\n" * 200, "own.json")
    _check_depth(f"{signs}\n" * 200, "own.json")
    with pytest.raises(ConfigError, match="nested"):
        _check_depth(f"{signs[0]}\n" * 200, "own.json")


@pytest.mark.parametrize(
    ("word", "value"),
    [
        *(("true", True), ("yes", True), ("On", True), ("false", False), ("no", False)),
        *(("off", False), ("null", None), ("~", None), ("None", None), ("3", 3), ("own", "own")),
    ],
)
def test_words_of_yaml(word: str, value: object) -> None:
    assert _plain(word) == value


def test_long_names_end_as_they_end() -> None:
    assert plain_name(("a" * 120, "b" * 120)) == f"{'a' * 79}.{'b' * 120}"
    assert plain_name(("--Own-Name", "n")) == "own_name.n"


def test_patterns_have_as_many_layers_as_told() -> None:
    many = layer_pattern([1] * (MOST_LAYERS + 5))
    assert many is not None
    assert len(many) == MOST_LAYERS == 10_000


def test_a_launch_file_is_as_long_as_told(tmp_path: Path) -> None:
    text = f"torchrun --nproc_per_node 8 pretrain_gpt.py {SHAPE} {REST} --global-batch-size 64\n#"
    assert LARGEST_LAUNCH_BYTES == 200_000
    full = text + "x" * (LARGEST_LAUNCH_BYTES - len(text))
    assert read(tmp_path, "run.sh", full).value("tp") == 1
    with pytest.raises(ConfigError, match=r"run\.sh"):
        read(tmp_path, "run.sh", full + "x")


def test_heads_that_a_file_changes_take_what_follows_from_them() -> None:
    def follows(*values: int | None) -> list[str]:
        found = [SimpleNamespace(value=value) for value in values]
        entries: Any = SimpleNamespace(by_key={"num_attention_heads": found})
        return _of_heads(entries, model("gpt2"))

    # GPT-2 has as many heads of keys, and hidden / heads for each: neither is its own any more.
    assert follows(None, 8) == follows(8) == ["num_query_groups", "kv_channels"]
    assert follows(None) == follows() == []


def test_a_cut_of_experts_is_dropped_where_a_file_states_it() -> None:
    stated: Any = SimpleNamespace(
        model=model("gpt2"), notes=[], facts={"etp": SimpleNamespace(written="--own-etp")}
    )
    assert experts_cut(stated, {"etp": 2, "ep": 1}) == {"etp": 1, "ep": 1}
    assert stated.notes == ["--own-etp does nothing without experts"]
    silent: Any = SimpleNamespace(model=model("gpt2"), notes=[], facts={})
    assert experts_cut(silent, {"etp": 2, "ep": 1}) == {"etp": 1, "ep": 1}
    assert silent.notes == []


@pytest.mark.parametrize(
    ("flags", "cut"),
    [("--enable-zbh1-pipeline", ("zb-h1", None)), ("--zero-bubble-v-schedule", ("zb-v", 2))],
)
def test_switches_of_schedules_and_their_chunks(
    flags: str, cut: tuple[str, int | None], tmp_path: Path
) -> None:
    found = megatron(tmp_path, f"--pipeline-model-parallel-size 4 {flags}")
    assert (found.value("schedule"), found.value("vpp")) == cut
