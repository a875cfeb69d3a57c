"""What single keys mean, by their software's documentation or a count by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import Reading, read_configuration

SHAPE = "--num-layers 12 --hidden-size 64 --num-attention-heads 4"
TITAN = """
[model]
name = "llama3"
flavor = "8B"
[training]
seq_len = 4096
local_batch_size = {local}
{training}
[parallelism]
{parallelism}
"""
NEOX = {
    **{"pipe_parallel_size": 1, "model_parallel_size": 2, "num_layers": 4, "hidden_size": 64},
    **{"num_attention_heads": 4, "seq_length": 512, "max_position_embeddings": 512},
    **{"train_micro_batch_size_per_gpu": 1, "vocab_file": "gpt2-vocab.json"},
}


def read(folder: Path, name: str, text: str, **given: Any) -> Reading:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_configuration(path, given)


def titan(folder: Path, parallelism: str, local: int = 2, training: str = "") -> Reading:
    text = TITAN.format(parallelism=parallelism, local=local, training=training)
    return read(folder, "run.toml", text)


def neox(folder: Path, **more: Any) -> Reading:
    return read(folder, "run.yml", json.dumps({**NEOX, **more}))


# --- by hand: torchtitan


def test_a_batch_is_cut_into_as_many_micro_batches_as_are_asked_for(tmp_path: Path) -> None:
    more = "pipeline_parallel_degree = 4\ndata_parallel_shard_degree = 2\n"
    found = titan(tmp_path, more + "pipeline_parallel_microbatch_size = 2", local=8)
    assert found.value("micro_batch_size") == 2
    found = titan(tmp_path, more + "pipeline_parallel_microbatches = 2", local=8)
    assert found.value("micro_batch_size") == 4
    found = titan(tmp_path, "pipeline_parallel_degree = 1\ndata_parallel_shard_degree = 2", local=8)
    assert found.value("micro_batch_size") == 8


@pytest.mark.parametrize(
    ("shards", "cp", "sharded"), [(1, 1, False), (1, 2, True), (2, 1, True), (2, 2, True)]
)
def test_weights_are_shared_over_shards_and_context(
    shards: int, cp: int, sharded: bool, tmp_path: Path
) -> None:
    found = titan(
        tmp_path,
        "data_parallel_replicate_degree = 8\n"
        f"data_parallel_shard_degree = {shards}\ncontext_parallel_degree = {cp}",
    )
    assert (found.value("zero_stage") == 3) == sharded


def test_products_in_32_bits_are_said_before_all_else(tmp_path: Path) -> None:
    found = titan(
        tmp_path,
        'data_parallel_shard_degree = 8\npipeline_parallel_schedule = "1F1B"',
        training='mixed_precision_param = "float32"',
    )
    assert found.notes[0].startswith("32 BITS")


# --- by hand: GPT-NeoX, OLMo and Megatron-LM


def test_the_kinds_of_attention_that_a_neox_file_lists(tmp_path: Path) -> None:
    for kind in ("flash", "global"):
        model = neox(tmp_path, attention_config=[[[kind], 4]]).model
        assert model is not None
        assert model.num_layers == 4
    with pytest.raises(ConfigError, match="layers of this kind are not modelled"):
        neox(tmp_path, attention_config=[[["mamba"], 4]])


@pytest.mark.parametrize(
    ("in_mlp", "in_attention", "biased"),
    [(True, True, True), (True, False, False), (False, True, False), (False, False, False)],
)
def test_a_neox_model_has_biases_where_both_halves_have_them(
    in_mlp: bool, in_attention: bool, biased: bool, tmp_path: Path
) -> None:
    found = neox(
        tmp_path, use_bias_in_mlp=in_mlp, use_bias_in_attn_linear=in_attention, norm="rmsnorm"
    )
    assert found.model is not None
    assert found.model.linear_bias == biased


@pytest.mark.parametrize(
    ("more", "stage"),
    [
        # DeepSpeed's optimizer for bf16 shares its states at stage 0 too.
        ({"bf16": {"enabled": True}}, 1),
        ({"bf16": {"enabled": True}, "zero_optimization": {"stage": 0}}, 1),
        ({"bf16": {"enabled": True}, "zero_optimization": {"stage": 2}}, 2),
        ({"fp16": {"enabled": True}, "zero_optimization": {"stage": 0}}, 0),
    ],
)
def test_what_a_neox_file_shards(more: dict[str, Any], stage: int, tmp_path: Path) -> None:
    assert neox(tmp_path, **more).value("zero_stage", 0) == stage


@pytest.mark.parametrize(
    ("keys", "ffn"),
    [
        ("mlp_ratio: 4\nactivation_type: gelu", 256),
        # Gate and up projection together are as wide as is stated.
        ("mlp_ratio: 4\nactivation_type: swiglu", 128),
        ("mlp_hidden_size: 200\nactivation_type: swiglu", 100),
        ("mlp_hidden_size: 200\nactivation_type: gelu", 200),
    ],
)
def test_the_width_of_olmo_by_hand(keys: str, ffn: int, tmp_path: Path) -> None:
    body = "\n".join(f"  {line}" for line in keys.splitlines())
    text = (
        "model:\n  d_model: 64\n  n_heads: 4\n  n_layers: 2\n  rope: true\n  vocab_size: 1000\n"
        f"  max_sequence_length: 512\n  embedding_size: 1024\n{body}\n"
        "global_train_batch_size: 8\ndevice_train_microbatch_size: 1\nprecision: amp_bf16\n"
        "optimizer:\n  name: adamw\nfsdp:\n  wrapping_strategy: by_block\n  precision: mixed\n"
        "scheduler:\n  name: linear_with_warmup\nactivation_checkpointing: whole_layer\n"
    )
    model = read(tmp_path, "run.yaml", text).model
    assert model is not None
    assert model.ffn_hidden_size == ffn


def test_tensor_ranks_that_hold_experts_count_as_expert_ranks(tmp_path: Path) -> None:
    more = f"--vocab-size 1000 --seq-length 512 {SHAPE} --num-experts 8 --moe-tp-extend-ep"
    for expert, ranks in (("", 4), ("--expert-model-parallel-size 2", 8)):
        found = read(tmp_path, "run.args", f"{more} --tensor-model-parallel-size 4 {expert}\n")
        assert (found.value("ep"), found.value("etp")) == (ranks, 1)


@pytest.mark.parametrize(
    "flag", ["--tokenizer-model", "--tokenizer-name-or-path", "--tokenizer-path"]
)
def test_a_path_names_the_vocabulary_of_llama_2(flag: str, tmp_path: Path) -> None:
    more = "--seq-length 512 --make-vocab-size-divisible-by 1"
    model = read(tmp_path, "run.args", f"{SHAPE} {more} {flag} /data/llama-2-7b\n").model
    assert model is not None
    assert model.vocab_size == 32000


def test_experts_under_a_name_that_is_not_read_are_refused(tmp_path: Path) -> None:
    more = f"{SHAPE} --seq-length 512 --vocab-size 1000"
    assert read(tmp_path, "run.args", f"{more} --my-num-experts 1\n").model is not None
    with pytest.raises(ConfigError, match="read without experts under this name"):
        read(tmp_path, "run.args", f"{more} --my-num-experts 2\n")


def test_flags_that_stand_in_one_word_are_told_apart(tmp_path: Path) -> None:
    more = "ARGS='--num-layers 12 --hidden-size 64'\ntorchrun pretrain_gpt.py \"$ARGS\""
    text = f"{more} --num-attention-heads 4 --vocab-size 1000 --seq-length 512 --wandb-exp-name a\n"
    model = read(tmp_path, "run.sh", text).model
    assert model is not None
    assert (model.num_layers, model.hidden_size) == (12, 64)


def test_a_word_that_a_variable_holds_is_asked_for_and_not_refused(tmp_path: Path) -> None:
    text = f"torchrun pretrain_gpt.py {SHAPE} --vocab-size 1000 --seq-length 512"
    found = read(tmp_path, "run.sh", f"{text} --recompute-granularity $KIND --normalization $N\n")
    assert any("recompute" in one for one in found.missing), found.missing


@pytest.mark.parametrize(
    ("axes", "given", "asked", "dp"),
    [
        ("ici_fsdp_parallelism: 8", {}, False, 8),
        ("ici_fsdp_parallelism: 8\nici_data_parallelism: 2", {}, False, 16),
        ("ici_fsdp_parallelism: -1", {}, True, None),
        ("ici_fsdp_parallelism: -1", {"num_gpus": "64"}, False, None),
    ],
)
def test_an_open_axis_of_maxtext_asks_for_the_gpus(
    axes: str, given: dict[str, str], asked: bool, dp: int | None, tmp_path: Path
) -> None:
    text = "base_config: base.yml\nmodel_name: llama3-70b\nper_device_batch_size: 1\n"
    found = read(tmp_path, "run.yml", f"{text}max_target_length: 512\n{axes}\n", **given)
    assert [one.startswith("num_gpus") for one in found.missing] == [True] * asked
    assert found.value("dp") == dp
