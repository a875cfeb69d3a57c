"""What single keys mean, written down or counted by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from written_files import read

from steptime.inputs.errors import ConfigError
from steptime.readers import Reading
from steptime.readers.common.patterns import layer_pattern

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
OLMO = """
model:
  d_model: 64
  n_heads: 4
  n_layers: 2
  rope: true
  vocab_size: 1000
  max_sequence_length: 512
  embedding_size: 1024
  {}
global_train_batch_size: 8
device_train_microbatch_size: 1
precision: amp_bf16
optimizer: {{name: adamw}}
fsdp: {{wrapping_strategy: by_block, precision: mixed}}
scheduler: {{name: linear_with_warmup}}
activation_checkpointing: whole_layer
"""
NEOX = {
    **{"pipe_parallel_size": 1, "model_parallel_size": 2, "num_layers": 4, "hidden_size": 64},
    **{"num_attention_heads": 4, "seq_length": 512, "max_position_embeddings": 512},
    **{"train_micro_batch_size_per_gpu": 1, "vocab_file": "gpt2-vocab.json"},
}


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
    # No layer has such a name: that is noted too, before the products are looked at.
    cut = 'pipeline_parallel_degree = 2\npipeline_parallel_split_points = "layers.x"'
    found = titan(
        tmp_path,
        f"data_parallel_shard_degree = 8\n{cut}",
        training='mixed_precision_param = "float32"',
    )
    assert [note.partition(":")[0] for note in found.notes] == [
        "32 BITS",
        "parallelism.pipeline_parallel_split_points",
    ]


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
        ("mlp_ratio: 4\n  activation_type: gelu", 256),
        # Gate and up projection together are as wide as is stated.
        ("mlp_ratio: 4\n  activation_type: swiglu", 128),
        ("mlp_hidden_size: 200\n  activation_type: swiglu", 100),
        ("mlp_hidden_size: 200\n  activation_type: gelu", 200),
    ],
)
def test_the_width_of_olmo_by_hand(keys: str, ffn: int, tmp_path: Path) -> None:
    model = read(tmp_path, "run.yaml", OLMO.format(keys)).model
    assert model is not None
    assert model.ffn_hidden_size == ffn


@pytest.mark.parametrize("ratio", ["0", "-1", "0.001"])
def test_a_ratio_that_gives_no_width_is_refused(ratio: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="mlp_ratio x the hidden size must be >= 1"):
        read(tmp_path, "run.yaml", OLMO.format(f"mlp_ratio: {ratio}"))


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


def test_a_path_says_more_than_the_class_that_reads_it(tmp_path: Path) -> None:
    more = "--seq-length 512 --make-vocab-size-divisible-by 1 --tokenizer-type Llama2Tokenizer"
    model = read(tmp_path, "run.args", f"{SHAPE} {more} --tokenizer-path /data/qwen2\n").model
    assert model is not None
    assert model.vocab_size == 151936


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


def test_a_word_that_a_variable_holds_is_not_refused(tmp_path: Path) -> None:
    text = f"torchrun pretrain_gpt.py {SHAPE} --vocab-size 1000 --seq-length 512 --softmax-type"
    assert read(tmp_path, "run.sh", f"{text} $KIND\n").model is not None
    with pytest.raises(ConfigError, match="is not understood; known: "):
        read(tmp_path, "run.sh", f"{text} nonsense\n")


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


def test_what_the_arguments_of_latent_attention_are_by_default(tmp_path: Path) -> None:
    more = f"{SHAPE} --vocab-size 1000 --seq-length 512 --multi-latent-attention"
    found = read(tmp_path, "run.args", f"{more}\n").model
    assert found is not None
    assert found.latent_attention is not None
    own = found.latent_attention
    assert (own.q_lora_rank, own.kv_lora_rank, own.v_head_dim) == (0, 32, 128)
    assert (own.qk_nope_head_dim, own.qk_rope_head_dim) == (128, 64)


@pytest.mark.parametrize(("first", "dense"), [("-1", 0), ("0", 0), ("1", 1), ("3", 3)])
def test_the_first_layers_without_experts(first: str, dense: int, tmp_path: Path) -> None:
    more = "--num-experts 8 --moe-ffn-hidden-size 32 --num-layers-in-first-pipeline-stage 12"
    text = f"{SHAPE} --vocab-size 1000 --seq-length 512 {more} --first-k-dense-replace {first}\n"
    found = read(tmp_path, "run.args", text).model
    assert found is not None
    assert found.experts is not None
    assert found.experts.num_dense_layers == dense


def test_a_fsdp_axis_of_one_shares_nothing(tmp_path: Path) -> None:
    text = "base_config: base.yml\nmodel_name: llama3-8b\nper_device_batch_size: 1\n"
    for size, stage in ((1, 0), (2, 3)):
        axes = f"max_target_length: 512\nici_fsdp_parallelism: {size}\nici_data_parallelism: 8\n"
        assert read(tmp_path, "run.yml", text + axes).value("zero_stage") == stage


def test_a_value_with_blanks_inside_a_word_is_cut_there(tmp_path: Path) -> None:
    text = f"A=' 512'\ntorchrun t.py {SHAPE} --vocab-size 1000 --seq-length$A\n"
    assert read(tmp_path, "run.sh", text).facts["seq_length"].value == 512
    text = f"A='--seq-length 51'\ntorchrun t.py {SHAPE} --vocab-size 1000 ${{A}}2\n"
    assert read(tmp_path, "run.sh", text).facts["seq_length"].value == 512


@pytest.mark.parametrize(
    ("flag", "schedule", "chunks"),
    [
        ("--enable-zbh1-pipeline", "zb-h1", 1),
        ("--enable-zbh1-exact-semantics", "zb-h1", 1),
        ("--zero-bubble-v-schedule", "zb-v", 2),
    ],
)
def test_a_switch_names_a_schedule_and_its_chunks(
    flag: str, schedule: str, chunks: int, tmp_path: Path
) -> None:
    text = f"{SHAPE} --vocab-size 1000 --seq-length 512 --pipeline-model-parallel-size 4 {flag}\n"
    found = read(tmp_path, "run.args", text)
    assert (found.value("schedule"), found.value("vpp", 1)) == (schedule, chunks)


def test_a_pattern_of_layers_is_read_whole_or_not_at_all() -> None:
    assert layer_pattern("([0]*1+[1]*2)*2") == [0, 1, 1, 0, 1, 1]
    for text in ("([0]*1+[1]*2)x", "x[1]*3", "[1]*3,[0]", "3", ""):
        assert layer_pattern(text) is None, text
