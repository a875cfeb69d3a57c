"""Kinds of faults that files of smaller users and of forks showed; each is written here."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_files import read

from steptime.inputs.errors import ConfigError
from steptime.readers import completed

SIZES = (
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
    "--max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64 "
    "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 1 --bf16"
)
START = f"torchrun --nproc_per_node 8 --nnodes 1 pretrain_gpt.py {SIZES}"

OTHERS = {
    "a pipeline of OpenChatKit's own": (
        "run.sh",
        "python train.py --num-layers 4 --embedding-dim 2560 --seq-length 2048 --batch-size 32 "
        "--micro-batch-size 1 --world-size 8 --pipeline-group-size 8 --data-group-size 1 --fp16\n",
        "is a file of OpenChatKit, which is not read",
    ),
    "a table of runs": (
        "runs.yaml",
        "perf_matrix:\n  h100:\n    num_gpus_16:\n      common:\n        tp: 2\n        pp: 4\n"
        "        mbs: 1\n        gbs: 128\n",
        "tables of performance runs, which is not read",
    ),
    "a recipe of a cloud": (
        "recipe.yaml",
        "run:\n  name: own\n  model_type: own.model\n  model_name_or_path: own/prod\n"
        "  data_s3_path: s3://own/x\ntraining_config:\n  max_length: 10240\n"
        "  global_batch_size: 256\n  rollout:\n    generator:\n      max_new_tokens: 8192\n",
        "is a file of Amazon Nova, which is not read",
    ),
    "a program that loads another's weights": (
        "run.sh",
        "mpirun -np 8 python train.py --seq-length 4096 --micro-batch-size 1 "
        "--global-batch-size 64 --base-model own/x --use-zero --zero-config z.json --zero-stage 3 "
        "--bf16 --mixed-precision --grad-clip-norm 1.0\n",
        "is a file of moe-recipes, which is not read",
    ),
    "a test of single layers": (
        "run.sh",
        "torchrun --nproc_per_node 2 -m own.profile --model-name Qwen/Qwen3-0.6B "
        "--test-cases-file own.json --tensor-model-parallel-size 2 --context-parallel-size 1\n",
        "is a file of AutoTuner for Megatron-LM, which is not read",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_files_of_programs_that_are_not_read_say_which(name: str, tmp_path: Path) -> None:
    file, text, why = OTHERS[name]
    with pytest.raises(ConfigError, match=why):
        read(tmp_path, file, text)


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ("--use-bridge --bridge-hf-model own/x", "its model is that of another file"),
        ("--vlm-data-config-path own.yaml --model-arch own", "a vision encoder beside"),
        ("--retro-workdir <path/to/store> --retro-tasks db-build", "retrieval is not modelled"),
    ],
)
def test_flags_of_forks_that_make_it_another_training(flags: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=why):
        read(tmp_path, "run.sh", f"{START} --vocab-size 32000 {flags}\n")


def test_what_a_user_fills_in_ends_no_command(tmp_path: Path) -> None:
    text = f"eval 'python p.py --load <path/to/own/checkpoint> {SIZES} --vocab-size 32000'\n"
    found = read(tmp_path, "run.sh", text)
    assert (found.value("precision"), found.value("tp")) == ("bf16", 2)


ALIGNED = """\
trainer:
  num_nodes: 8
  devices: 8
  precision: bf16
  {section}:
    max_epochs: 1
    max_steps: -1
    gradient_clip_val: 1.0
model:
  mcore_gpt: true
  micro_batch_size: 1
  global_batch_size: 64
  tensor_model_parallel_size: 2
  pipeline_model_parallel_size: 1
"""


@pytest.mark.parametrize(
    ("section", "why"),
    [
        *((name, "post-training with other models") for name in ("dpo", "kto", "spin", "ppo")),
        ("rm", "a model that judges texts"),
        ("knowledge_distillation", "distillation"),
    ],
)
def test_sections_of_what_aligns_a_model_are_refused(
    section: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=rf"trainer\.{section}\.\w+ = .*{why}"):
        read(tmp_path, "own.yaml", ALIGNED.format(section=section))
    tuned = read(tmp_path, "own.yaml", ALIGNED.format(section="sft"))
    assert (tuned.value("tp"), tuned.value("num_gpus")) == (2, 64)


def test_sources_and_targets_are_of_an_encoder_and_a_decoder(tmp_path: Path) -> None:
    text = ALIGNED.format(section="own") + (
        "  data:\n    train_ds:\n      max_src_seq_length: 512\n      max_tgt_seq_length: 128\n"
    )
    with pytest.raises(ConfigError, match="an encoder and a decoder are not modelled"):
        read(tmp_path, "own.yaml", text)


@pytest.mark.parametrize(
    ("file", "size"),
    [
        ("own/nordic_131072/vocab.json", None),
        ("own/vocab.json", None),
        ("own/gpt2-vocab.json", 50257),
        ("own/gpt2/vocab.json", 50257),
        ("$VOCAB", 50257),
    ],
)
def test_a_vocabulary_of_another_name_is_asked_for(
    file: str, size: int | None, tmp_path: Path
) -> None:
    flags = f"--tokenizer-type GPT2BPETokenizer --vocab-file {file} --merge-file own/merges.txt"
    found = read(tmp_path, "run.sh", f"{START} {flags}\n")
    assert found.value("vocab_size") == size
    assert any(gap.startswith("vocab_size") for gap in found.missing) == (size is None)
    plain = read(tmp_path, "run.sh", f"{START} {flags}\n", vocab_size="131072")
    assert plain.model is not None
    assert plain.model.vocab_size == 131072


def test_a_trainer_that_keeps_states_on_the_host_is_refused(tmp_path: Path) -> None:
    text = (
        "torchrun --nproc_per_node=8 own_train.py --model_name_or_path own/llama-13b "
        "--per_device_train_batch_size 4 --gradient_accumulation_steps 4 --bf16 True "
        '--fsdp "full_shard auto_wrap{more}" --model_max_length 2048 --gradient_checkpointing True '
        "--fsdp_transformer_layer_cls_to_wrap LlamaDecoderLayer\n"
    )
    with pytest.raises(ConfigError, match=r"fsdp = .*states are kept on the host"):
        read(tmp_path, "run.sh", text.format(more=" offload"))
    assert read(tmp_path, "run.sh", text.format(more="")).value("zero_stage") == 3


MESH = (
    "base_config: base.yml\nmodel_name: mixtral-8x22b\nhardware: gpu\ndtype: bfloat16\n"
    "dcn_data_parallelism: -1\ndcn_fsdp_parallelism: 4\nici_fsdp_parallelism: 1\n"
    "ici_expert_parallelism: 8\nper_device_batch_size: 2\nmax_target_length: 8192\n"
    "remat_policy: full\n"
)


@pytest.mark.parametrize("gpus", [8, 16, 48])
def test_a_mesh_that_does_not_divide_the_devices_is_refused(gpus: int, tmp_path: Path) -> None:
    found = read(tmp_path, "own.yml", MESH)
    with pytest.raises(ConfigError, match=f"fixed axes are 32 devices on {gpus}: they do not"):
        completed(found, {"num_gpus": gpus})
    layout, _ = completed(found, {"num_gpus": 64})
    assert (layout.dp, layout.ep) == (64, 8)


def test_a_recipe_with_an_encoder_of_images_is_refused(tmp_path: Path) -> None:
    text = (
        "from own.config import ConfigContainer\nfrom megatron.bridge import AutoBridge\n\n\n"
        "def own_4b_sft_config() -> ConfigContainer:\n    cfg = ConfigContainer()\n"
        '    cfg.model = AutoBridge.from_hf_pretrained("google/gemma-3-4b-it").provider()\n'
        "    cfg.model.seq_length = 4096\n    cfg.model.tensor_model_parallel_size = 1\n"
        "    cfg.model.freeze_language_model = False\n    cfg.model.{tower} = False\n"
        "    cfg.train.global_batch_size = 32\n    cfg.train.micro_batch_size = 2\n"
        '    cfg.mixed_precision = "bf16_mixed"\n    return cfg\n'
    )
    for tower in ("freeze_vision_model", "freeze_audio_model"):
        with pytest.raises(ConfigError, match="beside the language model is not modelled"):
            read(tmp_path, "own.py", text.replace("{tower}", tower))


def test_lengths_that_grow_are_said_of_a_file_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "ds.json").write_text(
        '{"train_batch_size": 64, "zero_optimization": {"stage": 0}, "fp16": {"enabled": true},\n'
        '"curriculum_learning": {"enabled": true, "curriculum_type": "seqlen"}}\n'
    )
    words = f"{SIZES.replace('--bf16', '--fp16')} --vocab-size 32000"
    text = (
        f"deepspeed --num_gpus 8 pretrain_gpt.py {words} --deepspeed --deepspeed_config ds.json\n"
    )
    found = read(tmp_path, "run.sh", text)
    assert "ds.json, curriculum_learning.enabled: every sequence is taken as full" in found.notes


SWIFT = (
    "NPROC_PER_NODE=2 megatron sft --model Qwen/Qwen2.5-7B-Instruct --max_length 2048 "
    "--tensor_model_parallel_size 2 --save_safetensors true"
)


def test_what_ms_swift_takes_where_its_user_says_nothing(tmp_path: Path) -> None:
    found = read(tmp_path, "run.sh", f"{SWIFT}\n")
    layout, batch = completed(found, {})
    assert (layout.zero_stage, layout.recompute, layout.precision) == (1, "selective", "bf16")
    assert (batch.global_batch_size, batch.micro_batch_size) == (16, 1)
    assert not any("32 BITS" in note for note in found.notes)


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ("--tuner_type lora", "small added matrices"),
        ("--train_type lora", "small added matrices"),
        ("--task_type embedding", "a model whose outputs are compared"),
        ("--rlhf_type dpo", "post-training with other models"),
        ("--freeze_parameters_ratio 0.5", "a part of the model is not trained"),
    ],
)
def test_what_else_ms_swift_trains_is_refused(flags: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=why):
        read(tmp_path, "run.sh", f"{SWIFT} {flags}\n")


OLMO = (
    "model:\n  d_model: 2048\n  n_heads: 16\n  n_layers: 16\n  mlp_ratio: 8\n  rope: true\n"
    "  max_sequence_length: 4096\n  vocab_size: 50280\n  embedding_size: 50304\n"
    "  activation_type: swiglu\n  weight_tying: false\n  block_type: sequential\n{more}"
    "optimizer:\n  name: adamw\nglobal_train_batch_size: 1024\ndevice_train_microbatch_size: 4\n"
    "precision: amp_bf16\nfsdp:\n  sharding_strategy: FULL_SHARD\n"
)


def test_parts_of_a_model_of_olmo_are_read_and_unknown_ones_told(tmp_path: Path) -> None:
    plain = read(tmp_path, "own.yaml", OLMO.format(more="")).model
    assert plain is not None
    # OLMo's own defaults: biases everywhere, LayerNorm, queries and keys as they are.
    assert (plain.linear_bias, plain.norm, plain.qk_norm) == (True, "layernorm", False)
    more = "  include_bias: false\n  layer_norm_type: rms\n  attention_layer_norm: true\n"
    other = read(tmp_path, "own.yaml", OLMO.format(more=more)).model
    assert other is not None
    assert (other.linear_bias, other.norm, other.qk_norm) == (False, "rmsnorm", True)
    told = read(tmp_path, "own.yaml", OLMO.format(more="  sliding_parts: 3\n"))
    assert "not used: model.sliding_parts" in told.notes


@pytest.mark.parametrize("more", ["  moe_num_experts: 64\n  moe_top_k: 8\n", ""])
def test_experts_of_olmo_are_refused(more: str, tmp_path: Path) -> None:
    text = OLMO.format(more=more)
    text = text if more else text.replace("block_type: sequential", "block_type: moe")
    with pytest.raises(ConfigError, match="experts of this format are not read"):
        read(tmp_path, "own.yaml", text)


def test_the_record_of_a_precision_replaces_what_sections_say(tmp_path: Path) -> None:
    text = (
        "model:\n  tensor_model_parallel_size: 2\n  num_layers: 32\n  hidden_size: 4096\n"
        "  num_attention_heads: 32\n  seq_length: 4096\n  vocab_size: 32000\n"
        "train:\n  train_iters: 10\n  global_batch_size: 64\n  micro_batch_size: 1\n"
        "ddp:\n  grad_reduce_in_fp32: true\n  use_distributed_optimizer: true\n"
        "mixed_precision:\n  bf16: true\n  grad_reduce_in_fp32: false\n"
    )
    found = read(tmp_path, "own.yaml", text)
    assert {one.name: one.value for one in found.software_facts}["sent_gradient_bytes"] == 2.0


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("pipeline_model_parallel_split_rank: 0", "an encoder and a decoder"),
        ("virtual_prompt_model_file: own", "prompts or small added layers"),
        ("start_from_idx: null", "inference is not modelled"),
    ],
)
def test_keys_that_only_other_runs_have_are_refused(key: str, why: str, tmp_path: Path) -> None:
    text = ALIGNED.format(section="own") + f"{key}\n"
    with pytest.raises(ConfigError, match=why):
        read(tmp_path, "own.yaml", text)


def test_a_layout_of_stages_that_a_shell_would_pass_on(tmp_path: Path) -> None:
    text = (
        "MODEL_ARGS:\n  --num-layers: 14\n  --hidden-size: 1024\n  --num-attention-heads: 16\n"
        "  --seq-length: 4096\n  --micro-batch-size: 1\n  --global-batch-size: 64\n"
        "  --vocab-size: 32000\n  --bf16: true\n  --pipeline-model-parallel-size: 4\n"
        "  --pipeline-model-parallel-layout: {}\n"
    )
    plain = read(tmp_path, "own.yaml", text.format("Et*2|(tt|)*5t|tL"))
    escaped = read(tmp_path, "own.yaml", text.format(r"Et*2\\|\\(tt\\|\\)*5t\\|tL"))
    told = [completed(one, {"num_gpus": 8})[0] for one in (plain, escaped)]
    assert told[0] == told[1]
    assert (told[0].pp, told[0].vpp) == (4, 2)
