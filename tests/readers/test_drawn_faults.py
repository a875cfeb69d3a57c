"""Kinds of files that public draws showed to be read wrongly; each is written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import Reading, completed, read_configuration


def read(folder: Path, name: str, text: str, **given: str) -> Reading:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return read_configuration(path, given)


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


# --- by hand


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
