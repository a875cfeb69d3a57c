"""Models and runs of another build that files name; each file is written here."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_files import read

from steptime.inputs.errors import ConfigError
from steptime.readers import completed

NANOTRON = (
    "model:\n  dtype: bfloat16\n  make_vocab_size_divisible_by: 1\n  model_config:\n"
    "    hidden_size: 1024\n    num_hidden_layers: 24\n    num_attention_heads: 16\n"
    "    intermediate_size: 4096\n    max_position_embeddings: 2048\n    vocab_size: 256008\n"
    "{more}parallelism:\n  dp: 4\n  tp: 1\n  pp: 1\ntokens:\n  micro_batch_size: 8\n"
    "  batch_accumulation_per_replica: 4\n  sequence_length: 2048\n"
    "optimizer:\n  zero_stage: 0\n"
)


def test_a_class_of_nanotron_that_is_not_llama_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a model that is not built like Llama"):
        read(tmp_path, "own.yaml", NANOTRON.format(more="    activation_function: gelu\n"))
    assert read(tmp_path, "own.yaml", NANOTRON.format(more="    hidden_act: silu\n")).model


TITAN = (
    '[model]\nname = "llama3"\nflavor = "8B"\n\n[training]\nlocal_batch_size = 2\n'
    "seq_len = 4096\nsteps = 10\n{more}\n[parallelism]\ndata_parallel_shard_degree = 8\n"
    'tensor_parallel_degree = 1\n\n[activation_checkpoint]\nmode = "{mode}"\n'
    'selective_ac_option = "2"\n'
)


@pytest.mark.parametrize("mode", ["none", "full"])
def test_how_layers_would_be_chosen_is_nothing_where_none_are(mode: str, tmp_path: Path) -> None:
    found = read(tmp_path, "own.toml", TITAN.format(more="", mode=mode))
    layout, _ = completed(found, {"num_gpus": 8})
    assert layout.recompute == mode
    assert not any("selective_ac_option" in note for note in found.notes)


@pytest.mark.parametrize("old", ["batch_size = 8", "local_batch_size = 8"])
def test_a_flavor_that_had_other_sizes_is_asked_for(old: str, tmp_path: Path) -> None:
    text = TITAN.format(more="", mode="none").replace("local_batch_size = 2", old)
    found = read(tmp_path, "own.toml", text.replace('"8B"', '"debugmodel"'))
    assert (found.model is None) == old.startswith("batch")
    asked = "model: llama3 debugmodel had other sizes when training.batch_size was a key"
    assert (asked in found.missing) == old.startswith("batch")
    # Those of real models are what they were.
    assert read(tmp_path, "own.toml", text).value("model") == "Llama 3 8B"


def test_words_that_are_masked_train_an_encoder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="train an encoder"):
        read(tmp_path, "own.toml", TITAN.format(more="mlm_probability = 0.3\n", mode="full"))


SIZES = (
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --bf16 "
    "--max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64 --vocab-size 32000"
)


@pytest.mark.parametrize(
    ("flag", "why"),
    [
        ("--no-cuda", "a run without accelerators"),
        ("--cpu-optimizer", "the optimizer is kept on the host"),
        ("--cpu-torch-adam", "the optimizer is kept on the host"),
        ("--is-scaling-mode", "one rank that stands for many"),
    ],
)
def test_runs_of_hosts_and_of_stand_ins_are_refused(flag: str, why: str, tmp_path: Path) -> None:
    start = f"torchrun --nproc_per_node 8 pretrain_gpt.py {SIZES}"
    with pytest.raises(ConfigError, match=why):
        read(tmp_path, "run.sh", f"{start} {flag}\n")


def test_a_program_that_infers_is_no_training(tmp_path: Path) -> None:
    text = "python inference.py --decoder_name_or_path own --per_device_batch_size 16\n"
    with pytest.raises(ConfigError, match=r"inference\.py runs inference"):
        read(tmp_path, "run.sh", text)


@pytest.mark.parametrize("name", ["Qwen/Qwen2-VL-7B-Instruct", "llava-hf/llava-1.5-7b-hf"])
def test_a_model_with_an_encoder_of_images_is_refused_by_its_name(
    name: str, tmp_path: Path
) -> None:
    text = (
        f"model_name_or_path: {name}\nstage: sft\nfinetuning_type: full\ndo_train: true\n"
        "cutoff_len: 2048\nper_device_train_batch_size: 1\ngradient_accumulation_steps: 2\n"
        "bf16: true\ndataset: own\ntemplate: own\noutput_dir: own\n"
    )
    with pytest.raises(ConfigError, match="a vision encoder beside the language model"):
        read(tmp_path, "own.yaml", text)


TUNED = (
    "NPROC_PER_NODE=8 swift sft --model Qwen/Qwen2.5-7B-Instruct --per_device_train_batch_size 2 "
    "--split_dataset_ratio 0.01 --max_length 4096"
)


def test_what_swift_takes_where_its_user_says_nothing(tmp_path: Path) -> None:
    steps = "--gradient_accumulation_steps 4 --tuner_type full"
    found = read(tmp_path, "run.sh", f"{TUNED} {steps} --fsdp fsdp2\n")
    layout, batch = completed(found, {})
    assert (layout.precision, layout.recompute, layout.zero_stage) == ("bf16", "full", 3)
    assert (layout.dp, batch.global_batch_size) == (8, 64)
    assert not any("32 BITS" in note for note in found.notes)
    open_one = read(tmp_path, "run.sh", f"{TUNED} --tuner_type full --deepspeed zero1\n")
    assert any(gap.startswith("global_batch_size: ms-swift takes") for gap in open_one.missing)


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ("", "'lora': small added matrices"),
        ("--tuner_type lora", "small added matrices"),
        ("--tuner_type full --deepspeed zero3_offload", "states are kept on the host"),
        ("--tuner_type full --sequence_parallel_size 4", "this sequence parallelism"),
        ("--tuner_type full --task_type seq_cls", "a model that classes texts"),
    ],
)
def test_what_else_swift_trains_is_refused(flags: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=why):
        read(tmp_path, "run.sh", f"{TUNED} {flags}\n")


def test_added_matrices_that_only_infer_are_refused(tmp_path: Path) -> None:
    text = (
        "trainer:\n  devices: 1\n  precision: 16\ndata:\n  global_batch_size: 8\n"
        "  micro_batch_size: 8\ntensor_model_parallel_size: 1\nadapter_model_file: own\n"
    )
    with pytest.raises(ConfigError, match="small added matrices are used"):
        read(tmp_path, "own.yaml", text)
