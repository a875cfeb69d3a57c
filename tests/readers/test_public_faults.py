"""Kinds of faults that public launch files showed, each in a small file of our own."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_files import facts, read

from steptime.inputs.errors import ConfigError
from steptime.readers import completed

SIZES = (
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
    "--micro-batch-size 1 --global-batch-size 64 --bf16 --tensor-model-parallel-size 2 "
    "--pipeline-model-parallel-size 1 "
)


# --- which command trains


def test_the_command_that_trains_counts_not_the_one_that_tries_the_result(tmp_path: Path) -> None:
    base = "base.yml model_name=llama3-8b per_device_batch_size="
    text = (
        f"python3 -m maxtext.trainers.pre_train.train {base}4 max_target_length=8192 steps=9\n"
        f"python3 -m maxtext.inference.decode {base}1 max_target_length=16 steps=1 prompt=x "
        "attention=dot_product max_prefill_predict_length=8\n"
    )
    reading = read(tmp_path, "run.sh", text)
    _, batch = completed(reading, {"num_gpus": 8})
    assert (batch.seq_length, batch.micro_batch_size) == (8192, 4)


@pytest.mark.parametrize(
    ("program", "what"),
    [
        ("examples/conversion/hf_megatron_roundtrip.py", "a conversion"),
        ("tools/hf2mcore_qwen.py", "a conversion"),
        ("./tasks/msdp/main.py", "evaluation or another task"),
        ("decode.py", "inference"),
    ],
)
def test_a_program_that_trains_nothing_is_refused(program: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"runs {what}, which is not modelled"):
        read(tmp_path, "run.sh", f"torchrun --nproc_per_node 8 {program} {SIZES}")


# --- sizes


PRIMUS = """modules:
  pre_trainer:
    framework: megatron
    config: pre_trainer.yaml
    model: {model}.yaml
    overrides:
      micro_batch_size: 1
      global_batch_size: 64
      seq_length: 4096
      tensor_model_parallel_size: 1
      pipeline_model_parallel_size: 1
      num_layers: 4
"""


def test_a_size_that_changes_a_named_model_leaves_its_others(tmp_path: Path) -> None:
    reading = read(tmp_path, "run.yaml", PRIMUS.format(model="gpt_oss_20B"))
    assert reading.model is not None
    assert reading.model.num_layers == 4
    # The width of a head is the model's own, not hidden over heads; so are its output rows.
    assert (reading.model.head_dim, reading.model.tied) == (64, False)
    assert reading.model.experts is not None
    assert reading.model.experts.num_experts == 32


def test_sizes_that_change_an_unknown_model_are_asked_for(tmp_path: Path) -> None:
    reading = read(tmp_path, "run.yaml", PRIMUS.format(model="nobody_7B"))
    assert reading.model is None
    assert any(gap.startswith("model:") for gap in reading.missing)


def test_a_class_of_tokenizers_does_not_tell_what_the_path_does(tmp_path: Path) -> None:
    words = SIZES + "--tokenizer-type Llama2Tokenizer --tokenizer-model /m/baichuan2-13B/tok.model"
    reading = read(tmp_path, "run.args", words)
    assert reading.model is not None
    # By its config.json, and a multiple of 128 x tp as it is.
    assert reading.model.vocab_size == 125_696


def test_biases_of_queries_and_keys_are_read_under_nemo_s_name(tmp_path: Path) -> None:
    text = (
        "trainer:\n  devices: 8\n  num_nodes: 1\nmodel:\n  mcore_gpt: true\n"
        "  micro_batch_size: 1\n  global_batch_size: 8\n  encoder_seq_length: 4096\n"
        "  num_layers: 4\n  hidden_size: 1024\n  num_attention_heads: 8\n  qkv_bias: true\n"
        "  bias: false\n  override_vocab_size: 32000\n  ub_tp_comm_overlap: true\n"
    )
    reading = read(tmp_path, "run.yaml", text)
    assert reading.model is not None
    assert reading.model.qkv_bias
    assert facts(reading)["overlap_tp"] == 1.0


def test_groups_of_experts_are_read(tmp_path: Path) -> None:
    words = SIZES + "--vocab-size 32000 --num-experts 64 --moe-router-topk 8 "
    words += "--moe-router-num-groups 8 --moe-router-group-topk 4"
    reading = read(tmp_path, "run.args", words)
    assert reading.model is not None
    assert reading.model.experts is not None
    assert (reading.model.experts.num_groups, reading.model.experts.max_groups) == (8, 4)


def test_tensor_ranks_that_hold_experts_of_their_own_extend_the_experts(tmp_path: Path) -> None:
    words = SIZES + "--vocab-size 32000 --num-experts 64 --moe-router-topk 8 --use-fused-rmsnorm "
    words += "--expert-model-parallel-size 4 --moe-tp-extend-ep --world-size 16"
    layout, _ = completed(read(tmp_path, "run.args", words), {})
    assert (layout.tp, layout.ep, layout.etp) == (2, 8, 1)


# --- trainers


FACTORY = (
    "model_name_or_path: Qwen/Qwen3-30B-A3B\nstage: sft\nfinetuning_type: full\n"
    "cutoff_len: 4096\nper_device_train_batch_size: 1\ngradient_accumulation_steps: 8\n"
)


def test_megatron_s_keys_behind_llama_factory_are_read(tmp_path: Path) -> None:
    text = (
        FACTORY + "bf16: true\npipeline_model_parallel_size: 4\nuse_distributed_optimizer: true\n"
    )
    text += "expert_model_parallel_size: 2\nrecompute_granularity: full\n"
    reading = read(tmp_path, "run.yaml", text)
    layout, batch = completed(reading, {"num_gpus": 16})
    assert (layout.pp, layout.ep, layout.dp, layout.zero_stage) == (4, 2, 4, 1)
    assert (layout.recompute, batch.global_batch_size) == ("full", 32)
    assert reading.software == "megatron"


def test_a_trainer_without_deepspeed_shares_nothing(tmp_path: Path) -> None:
    reading = read(tmp_path, "run.yaml", FACTORY + "bf16: true\n")
    assert reading.value("zero_stage") == 0
    assert reading.software == "fsdp"


@pytest.mark.parametrize(
    ("key", "precision", "fact"),
    [
        ("pure_bf16: true", "bf16", ("master_bytes", 0.0)),
        ("bf16: true\nfp8: true", "fp8", None),
    ],
)
def test_precision_under_llama_factory_s_names(
    key: str, precision: str, fact: tuple[str, float] | None, tmp_path: Path
) -> None:
    reading = read(tmp_path, "run.yaml", FACTORY + key)
    assert reading.value("precision") == precision
    assert not any("32 BITS" in note for note in reading.notes)
    if fact is not None:
        assert fact in facts(reading).items()


AXOLOTL = (
    "base_model: meta-llama/Llama-3.1-8B\ndatasets:\n  - path: x\nsequence_len: 4096\n"
    "micro_batch_size: 1\nbf16: true\n"
)


def test_fsdp_may_recompute_by_itself(tmp_path: Path) -> None:
    text = AXOLOTL + "fsdp_version: 2\nfsdp_config:\n  activation_checkpointing: true\n"
    reading = read(tmp_path, "run.yaml", text + "  reshard_after_forward: true\n")
    assert (reading.value("recompute"), reading.value("zero_stage")) == ("full", 3)


def test_eight_bit_moments_are_a_fact(tmp_path: Path) -> None:
    reading = read(tmp_path, "run.yaml", AXOLOTL + "optimizer: adamw_bnb_8bit\n")
    assert facts(reading)["moment_bytes"] == 2.0


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("lisa_n_layers: 4", "some layers at a time"),
        ("activation_offloading: true", "kept on the host"),
        ("diffusion:\n  num_diffusion_steps: 128", "remove noise"),
    ],
)
def test_what_changes_a_trainer_s_step_is_refused_by_name(
    key: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=why):
        read(tmp_path, "run.yaml", AXOLOTL + key + "\n")


def test_expert_ranks_of_axolotl_are_read(tmp_path: Path) -> None:
    text = AXOLOTL.replace("meta-llama/Llama-3.1-8B", "Qwen/Qwen3-30B-A3B")
    layout, _ = completed(
        read(tmp_path, "run.yaml", text + "expert_parallel_size: 4\n"), {"num_gpus": 8}
    )
    assert layout.ep == 4


def test_training_of_biases_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--bitfit = True: a part of the model is not trained"):
        read(tmp_path, "run.args", SIZES + "--vocab-size 32000 --bitfit")


def test_a_recipe_started_for_lora_is_refused_by_that_word(tmp_path: Path) -> None:
    text = "uv run python run_recipe.py --mode lora train.global_batch_size=16 "
    with pytest.raises(ConfigError, match="'lora': small added matrices are trained"):
        read(tmp_path, "run.sh", text + "model.tensor_model_parallel_size=2 train.train_iters=9")


def test_a_python_recipe_is_refused_with_the_line_to_fill_in(tmp_path: Path) -> None:
    text = "def llama3_8b():\n    return Trainer.Config(seq_len=8192)\n"
    with pytest.raises(ConfigError, match=r"is a Python program, .* or ask: steptime predict "):
        read(tmp_path, "config_registry.py", text)
