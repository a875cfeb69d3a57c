"""Kinds of files that public draws showed to be read wrongly; each is written here."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_files import read

from steptime.inputs.errors import ConfigError
from steptime.readers import completed

PROVIDED = """
MODEL_ARGS:
  --num-layers: 32
  --hidden-size: 4096
  --num-attention-heads: 32
  --micro-batch-size: 8
  --global-batch-size: 128
  --seq-length: 4096
  --model-provider: {}
"""


# --- refusal


@pytest.mark.parametrize("provider", ["llava_vlm", "hybrid", "mock"])
def test_a_provider_of_another_model_is_refused(provider: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"model-provider = '{provider}': .* not modelled"):
        read(tmp_path, "model_config.yaml", PROVIDED.format(provider))
    assert read(tmp_path, "model_config.yaml", PROVIDED.format("gpt")).facts["num_layers"]


def test_settings_in_a_template_are_not_taken_as_none(tmp_path: Path) -> None:
    text = (
        "sed s/STAGE/$1/ template.json > ds_config.json\n"
        "torchrun --nproc_per_node 8 ds_train_huggingface_own.py --num-layers 32 --hidden-size 4096"
        " --num-attention-heads 32 --seq-length 2048 --micro-batch-size 2 --bf16\n"
    )
    with pytest.raises(ConfigError, match="DeepSpeed settings stand in another file"):
        read(tmp_path, "train.sh", text)


def test_a_file_on_top_of_maxtext_s_own_is_refused_by_what_it_asks_for(tmp_path: Path) -> None:
    text = "base_config: base.yml\nuse_multimodal: true\nlearning_rate: 2.e-5\ndataset_type: hf\n"
    with pytest.raises(ConfigError, match="use_multimodal = True: a vision encoder"):
        read(tmp_path, "sft.yml", text)


RL = """
def own_rl():
    return Controller.Config(
        model_spec=model_registry("8B"),
        rollouter=Own.Config(a=1),
        trainer=PolicyTrainer.Config(parallelism=ParallelismConfig(tensor_parallel_degree=4)),
    )
"""


def test_reinforcement_learning_is_refused_whatever_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="reinforcement learning is not modelled"):
        read(tmp_path, "llama3/config_registry.py", RL)


MIXED = """
def build_config(opts, overrides):
    model = TransformerConfig.olmo3_7B(vocab_size=100352)
    model.d_model -= 2 * 128
    {}
    train = TransformerTrainModuleConfig(rank_microbatch_size=8192, max_sequence_length=8192)
    loader = NumpyDataLoaderConfig(global_batch_size=512 * 8192)
    return ExperimentConfig(model=model, data_loader=loader, train_module=train)
"""


def test_a_model_that_a_script_changes_is_not_the_one_it_starts_from(tmp_path: Path) -> None:
    reading = read(tmp_path, "own.py", MIXED.format("pass"))
    assert reading.model is None
    assert any(gap.startswith("hidden_size:") for gap in reading.missing)
    with pytest.raises(ConfigError, match=r"block_pattern = .*several kinds"):
        read(tmp_path, "own.py", MIXED.format('model.block_pattern = ["gdn", "attn"]'))


def test_settings_above_a_file_are_found_from_its_project(tmp_path: Path) -> None:
    text = (
        "model_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: sft\nfinetuning_type: full\n"
        "deepspeed: examples/deepspeed/z3.json\ncutoff_len: 2048\n"
        "per_device_train_batch_size: 1\ngradient_accumulation_steps: 2\nbf16: true\n"
    )
    settings = tmp_path / "examples" / "deepspeed" / "z3.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"zero_optimization": {"stage": 3}, "bf16": {"enabled": "auto"}}')
    reading = read(tmp_path / "examples" / "full", "own.yaml", text)
    assert completed(reading, {"num_gpus": 8})[0].zero_stage == 3
    settings.write_text(
        '{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}}}'
    )
    with pytest.raises(ConfigError, match=r"own\.yaml: examples/deepspeed/z3\.json, .*host"):
        read(tmp_path / "examples" / "full", "own.yaml", text)


BERT = """
trainer: {devices: 8, num_nodes: 1, precision: bf16}
model:
  micro_batch_size: 8
  global_batch_size: 256
  num_layers: 24
  hidden_size: 1024
  num_attention_heads: 16
  encoder_seq_length: 512
  bert_binary_head: False
"""


def test_a_key_that_only_encoders_have_tells_though_it_is_off(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="bert_binary_head = False: an encoder"):
        read(tmp_path, "bert.yaml", BERT)


def test_an_optimizer_in_another_file_is_asked_for(tmp_path: Path) -> None:
    text = """
def pretrain_recipe():
    recipe = elsewhere.own_recipe()
    recipe.trainer = run.Config(Trainer, num_nodes=1, devices=8, strategy=run.Config(
        Strategy, tensor_model_parallel_size=2))
    recipe.data = run.Config(Mock, seq_length=4096, global_batch_size=64, micro_batch_size=1)
    return recipe
"""
    missing = read(tmp_path, "own.py", text).missing
    assert any(gap.startswith("zero_stage: the file does not give its optim") for gap in missing)


def test_a_recipe_that_a_script_names_alone_is_known_by_that(tmp_path: Path) -> None:
    text = (
        "torchrun --nproc_per_node 8 run_recipe.py --recipe llama3_8b_pretrain_config"
        " train.train_iters=10 model.seq_length=4096\n"
    )
    reading = read(tmp_path, "own.sh", text)
    assert reading.model is not None
    assert reading.model.name == "Llama 3 8B"
    assert {gap.split(":")[0] for gap in reading.missing} >= {"tp", "pp", "zero_stage"}


# --- by hand


def test_a_mixture_of_gpt_neox_reaches_one_expert_a_token(tmp_path: Path) -> None:
    text = (
        '{"pipe_parallel_size": 1, "model_parallel_size": 1, "num_layers": 12, "hidden_size": 768,'
        ' "num_attention_heads": 12, "seq_length": 2048, "max_position_embeddings": 2048,'
        ' "pos_emb": "rotary", "moe_num_experts": 8, "train_micro_batch_size_per_gpu": 4,'
        ' "zero_optimization": {"stage": 1}, "vocab_file": "gpt2-vocab.json"}'
    )
    model = read(tmp_path, "own.yml", text, vocab_size="50304").model
    assert model is not None
    assert model.experts is not None
    assert model.experts.top_k == 1


def test_keys_that_a_cluster_keeps_under_parameters_are_read(tmp_path: Path) -> None:
    text = """
name: own
compute: {gpus: 16}
command: composer train.py /mnt/config/parameters.yaml
parameters:
  max_seq_len: 4096
  model: {name: hf_causal_lm, pretrained_model_name_or_path: meta-llama/Meta-Llama-3-8B}
  global_train_batch_size: 64
  device_train_microbatch_size: 2
  precision: amp_bf16
  fsdp_config: {sharding_strategy: FULL_SHARD, activation_checkpointing: true}
"""
    layout, batch = completed(read(tmp_path, "run.yaml", text), {})
    assert (layout.dp, layout.zero_stage, layout.recompute) == (16, 3, "full")
    assert (batch.global_batch_size, batch.micro_batch_size, batch.seq_length) == (64, 2, 4096)


ARGUMENTS = (
    "--num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 1024"
    " --max-position-embeddings 1024 --micro-batch-size 4 --global-batch-size 64"
)


def test_what_a_user_fills_in_ends_no_command(tmp_path: Path) -> None:
    text = (
        f'options="{ARGUMENTS} --vocab-file <PATH TO gpt-vocab.json> --fp16 '
        '--activations-checkpoint-method uniform"\n'
        'srun sh -c "python -u pretrain_gpt.py ${options}"\n'
    )
    layout, _ = completed(read(tmp_path, "train.sh", text, vocab_size="50257"), {"num_gpus": 8})
    # The older flag of a method asks for whole layers.
    assert (layout.precision, layout.recompute) == ("fp16", "full")


def test_a_sum_that_another_program_does_ends_no_command(tmp_path: Path) -> None:
    text = (
        'RATES="--lr $1 --min-lr `bc <<< "scale=3; $1/10"`"\n'
        f'CMD="pretrain_gpt.py $RATES {ARGUMENTS} --vocab-size 50257 --fp16 --zero-stage 1 '
        '--deepspeed"\ntorchrun --nproc_per_node 8 $CMD\n'
    )
    layout, _ = completed(read(tmp_path, "train.sh", text), {})
    assert (layout.precision, layout.zero_stage, layout.dp) == ("fp16", 1, 8)


@pytest.mark.parametrize("encoder", ["vision", "audio"])
def test_a_checkpoint_of_an_encoder_beside_the_model_is_refused(
    encoder: str, tmp_path: Path
) -> None:
    text = f"torchrun pretrain_gpt.py {ARGUMENTS} --{encoder}-encoder-checkpoint first.pt\n"
    with pytest.raises(ConfigError, match=f"--{encoder}-encoder-checkpoint = .*not modelled"):
        read(tmp_path, "train.sh", text)
