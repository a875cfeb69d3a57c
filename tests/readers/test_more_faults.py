"""Further kinds of faults that public launch files showed, each in a small file of our own."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_files import facts, read

from steptime.inputs.errors import ConfigError
from steptime.readers import completed, read_configuration
from steptime.readers.keys.reading import where

# --- programs and files that train no model, or another than the one that is shown


@pytest.mark.parametrize(
    "program",
    [
        "maxtext.trainers.post_train.rl.train_rl",
        "maxtext.trainers.post_train.dpo.train_dpo",
        "maxtext.trainers.post_train.distillation.train_distill",
    ],
)
def test_post_training_is_refused_by_its_program(program: str, tmp_path: Path) -> None:
    words = "model_name=llama3-8b per_device_batch_size=1 max_target_length=512 remat_policy=full"
    with pytest.raises(ConfigError, match="which is not modelled"):
        read(tmp_path, "run.sh", f"python3 -m {program} {words}\n")


@pytest.mark.parametrize(
    "program", ["scripts.generate.test_generate", "tools.generate", "tools.evaluate"]
)
def test_what_generates_or_evaluates_is_refused_by_its_program(
    program: str, tmp_path: Path
) -> None:
    (tmp_path / "run.toml").write_text(
        '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nlocal_batch_size = 1\nseq_len = 64\n'
    )
    line = f"torchrun --nproc_per_node=8 -m {program} --config=run.toml\n"
    with pytest.raises(ConfigError, match=r"runs (inference|evaluation), which is not modelled"):
        read(tmp_path, "run.sh", line)


TRAINER = (
    "model_name_or_path: Qwen/Qwen2.5-7B\nbf16: true\nper_device_train_batch_size: 2\n"
    "gradient_accumulation_steps: 4\nmax_length: 2048\n"
)


@pytest.mark.parametrize(
    "line",
    ["beta: 0.1", "max_prompt_length: 512", "num_generations: 8", "reward_funcs:\n- accuracy"],
)
def test_preferences_and_rewards_are_refused_by_their_key(line: str, tmp_path: Path) -> None:
    name = line.partition(":")[0]
    with pytest.raises(ConfigError, match=f"{name} = .*post-training"):
        read(tmp_path, "run.yaml", TRAINER + line + "\n")


NEMO = (
    "trainer:\n  devices: 8\n  num_nodes: 1\n  precision: bf16\nmodel:\n  mcore_gpt: true\n"
    "  micro_batch_size: 1\n  global_batch_size: 8\n  encoder_seq_length: 2048\n"
    "  num_layers: 26\n  hidden_size: 2560\n  num_attention_heads: 10\n  vocab_size: 256000\n"
)


def test_recurrent_layers_between_those_with_attention_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"activations_checkpoint_recurrent = .*recurrent layers"):
        read(tmp_path, "run.yaml", NEMO + "  activations_checkpoint_recurrent: true\n")
    # The key stands in files of such models alone, so that its being off tells the model too.
    with pytest.raises(ConfigError, match="activations_checkpoint_recurrent"):
        read(tmp_path, "run.yaml", NEMO + "  activations_checkpoint_recurrent: false\n")


def test_a_conversion_is_refused_by_its_keys(tmp_path: Path) -> None:
    text = "run:\n  name: convert\n  nemo_file_name: /r/model.nemo\n" + NEMO
    with pytest.raises(ConfigError, match=r"run.nemo_file_name = .*a conversion"):
        read(tmp_path, "run.yaml", text)


# --- keys that another program wraps


def test_a_framework_is_known_whatever_program_keeps_its_keys(tmp_path: Path) -> None:
    text = (
        "ENV_VARS:\n  CUDA_DEVICE_MAX_CONNECTIONS: 1\nMODEL_ARGS:\n  trainer.num_nodes: 1\n"
        "  trainer.devices: 8\n  trainer.strategy.tensor_model_parallel_size: 2\n"
        "  trainer.strategy.pipeline_model_parallel_size: 2\n  model.config.num_layers: 12\n"
        "  model.config.hidden_size: 768\n  model.config.num_attention_heads: 16\n"
        "  data.micro_batch_size: 1\n  data.global_batch_size: 8\n  data.seq_length: 2048\n"
        "TEST_TYPE: regular\n"
    )
    reading = read(tmp_path, "run.yaml", text, vocab_size="32000")
    assert reading.kind == "nemo2"
    layout, _ = completed(reading, {})
    # A recipe of NeMo 2 trains in 16 bits, where Megatron-LM's arguments would mean 32.
    assert (layout.precision, layout.tp, layout.pp, layout.dp) == ("bf16", 2, 2, 2)
    assert not any("32 BITS" in note for note in reading.notes)


# --- what software does where its files are silent

LITGPT = (
    "{model}\ndevices: {devices}\nnum_nodes: {nodes}\nprecision: bf16-true\ndata:\n"
    "  class_path: litgpt.data.Alpaca2k\ntrain:\n  global_batch_size: 64\n  micro_batch_size: 4\n"
    "  max_seq_length: 512\n"
)


@pytest.mark.parametrize(
    ("model", "devices", "nodes", "right"),
    [
        # litgpt/finetune/full.py: every block again, all shards; litgpt/pretrain.py: none again,
        # shards inside a server; one device has neither.
        ("checkpoint_dir: checkpoints/meta-llama/Meta-Llama-3.1-8B", 4, 1, ("full", 3, 1)),
        ("checkpoint_dir: checkpoints/meta-llama/Meta-Llama-3.1-8B", 1, 1, ("none", 0, 1)),
        ("model_name: Llama-3-8B", 8, 1, ("none", 3, 1)),
        ("model_name: Llama-3-8B", 8, 2, ("none", 3, 2)),
    ],
)
def test_litgpt_s_two_programs_shard_and_recompute_in_their_own_ways(
    model: str, devices: int, nodes: int, right: tuple[str, int, int], tmp_path: Path
) -> None:
    text = LITGPT.format(model=model, devices=devices, nodes=nodes)
    layout, _ = completed(read(tmp_path, "run.yaml", text), {})
    assert (layout.recompute, layout.zero_stage, layout.dp_replicate) == right


def test_litgpt_s_tied_output_is_the_embedding(tmp_path: Path) -> None:
    text = (
        "model_name: own\nmodel_config:\n  n_layer: 6\n  n_head: 6\n  n_embd: 288\n"
        "  padded_vocab_size: 32000\n  intermediate_size: 768\ndevices: auto\nnum_nodes: 1\n"
        "train:\n  global_batch_size: 512\n  micro_batch_size: 128\n  max_seq_length: 256\n"
    )
    tied = read(tmp_path, "run.yaml", text + "  tie_embeddings: true\n").model
    assert tied is not None
    assert tied.tied
    free = read(tmp_path, "run.yaml", text + "  tie_embeddings:\n")
    assert free.model is not None
    assert not free.model.tied
    assert [one.value for one in free.assumptions if one.name == "recompute"] == ["none"]


def test_torchtitan_s_backend_for_any_model_names_its_own(tmp_path: Path) -> None:
    text = (
        '[model]\nname = "transformers_modeling_backend"\nflavor = "full"\n[hf_transformers]\n'
        'model = "Qwen/Qwen3-4B-Instruct-2507"\n[training]\nlocal_batch_size = 2\n'
        "seq_len = 2048\n"
    )
    reading = read(tmp_path, "run.toml", text)
    assert reading.model is not None
    assert reading.model.name == "Qwen3 4B"


def test_a_trainer_without_shards_keeps_states_in_the_type_it_loads(tmp_path: Path) -> None:
    loaded = read(tmp_path, "run.yaml", TRAINER + "torch_dtype: bfloat16\n")
    assert facts(loaded)["master_bytes"] == 0.0
    shared = read(tmp_path, "run.yaml", TRAINER + "torch_dtype: bfloat16\nfsdp: full_shard\n")
    assert "master_bytes" not in facts(shared)
    assert "master_bytes" not in facts(read(tmp_path, "run.yaml", TRAINER))


FACTORY = (
    "model: Qwen/Qwen3-0.6B\nmodel_class: llm\nflash_attn: flash_attention_2\n"
    "dist_config:\n  name: fsdp2\n  dcp_path: null\ncp_mode: ulysses\ncp_size: 2\n"
    "train_dataset: data/own.yaml\nmicro_batch_size: 4\ncutoff_len: 2048\nmax_steps: 10\n"
)


def test_the_second_generation_of_llama_factory_s_files(tmp_path: Path) -> None:
    reading = read(tmp_path, "run.yaml", FACTORY)
    layout, batch = completed(reading, {"num_gpus": 8})
    assert reading.kind == "llama-factory-1"
    assert reading.model is not None
    assert reading.model.name == "Qwen3 0.6B"
    assert (layout.dp, layout.cp, layout.zero_stage, layout.recompute) == (4, 2, 3, "full")
    assert (batch.global_batch_size, batch.micro_batch_size, batch.seq_length) == (16, 4, 2048)
    assert facts(reading)["cp_comm_type"] == "a2a"


def test_llama_factory_s_batches_by_tokens_and_other_parts_are_told(tmp_path: Path) -> None:
    text = FACTORY + "batching_strategy: dynamic_padding_free\n"
    notes = read(tmp_path, "run.yaml", text).notes
    assert any("as many tokens as fit" in note for note in notes)
    with pytest.raises(ConfigError, match=r"peft_config.name = 'lora'"):
        read(tmp_path, "run.yaml", FACTORY + "peft_config:\n  name: lora\n  r: 16\n")
    with pytest.raises(ConfigError, match="quant_config"):
        read(tmp_path, "run.yaml", FACTORY + "quant_config:\n  name: bnb\n")


def test_a_model_of_primus_in_eight_bits_is_its_model_in_eight_bits(tmp_path: Path) -> None:
    text = (
        "modules:\n  pre_trainer:\n    framework: torchtitan\n    config: pre_trainer.yaml\n"
        "    model: llama3.1_8B-fp8.yaml\n    overrides:\n      training:\n"
        "        local_batch_size: 2\n        seq_len: 8192\n      activation_checkpoint:\n"
        "        mode: full\n"
    )
    reading = read(tmp_path, "run.yaml", text)
    layout, _ = completed(reading, {"num_gpus": 8})
    assert reading.model is not None
    assert reading.model.name == "Llama 3 8B"
    assert layout.precision == "fp8"


# --- keys that say how, not that


PIPELINED = (
    "deepspeed pretrain_gpt.py --deepspeed --deepspeed_config ds.json --zero-stage 1 "
    "--num-layers 24 --hidden-size 1536 --num-attention-heads 16 --seq-length 2048 "
    "--micro-batch-size 1 "
    "--global-batch-size 256 --vocab-size 50257 --fp16 --position-embedding-type alibi "
    "--pipeline-model-parallel-size 2 --tensor-model-parallel-size 1 "
)


def test_how_checkpoints_are_kept_does_not_ask_for_any(tmp_path: Path) -> None:
    # megatron/model/gpt_model.py: the interval of a pipeline is that of --checkpoint-activations.
    words = PIPELINED + "--deepspeed-activation-checkpointing "
    layout, _ = completed(read(tmp_path, "run.sh", words), {"num_gpus": 32})
    assert layout.recompute == "none"
    words += "--checkpoint-activations"
    layout, _ = completed(read(tmp_path, "run.sh", words), {"num_gpus": 32})
    assert layout.recompute == "full"


def test_a_file_that_adds_to_another_is_refused(tmp_path: Path) -> None:
    text = (
        "extends:\n  - own_base.yaml\nnum_layers: 61\nhidden_size: 7168\n"
        "num_attention_heads: 128\nseq_length: 4096\nvocab_size: 129280\n"
    )
    with pytest.raises(ConfigError, match=r"extends = .*adds to another file"):
        read(tmp_path, "run.yaml", text)


def test_a_loss_that_needs_another_model_is_refused(tmp_path: Path) -> None:
    text = TRAINER + "stage: sft\nfinetuning_type: full\ncutoff_len: 2048\ntemplate: qwen\n"
    with pytest.raises(ConfigError, match="use_asft_loss = True"):
        read(tmp_path, "run.yaml", text + "use_asft_loss: true\n")


def test_what_the_software_takes_is_no_line(tmp_path: Path) -> None:
    text = (
        "modules:\n  pre_trainer:\n    framework: megatron\n    config: pre_trainer.yaml\n"
        "    model: llama3.1_8B.yaml\n    overrides:\n      micro_batch_size: 1\n"
        "      global_batch_size: 64\n      seq_length: 8192\n      tensor_model_parallel_size: 1\n"
        "      pipeline_model_parallel_size: 1\n"
    )
    stage = read(tmp_path, "run.yaml", text).facts["zero_stage"]
    assert where(stage.line) == "the software's default"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (
            "python scripts/training/run_recipe.py --recipe llama3_8b_pretrain_config "
            "model.tensor_model_parallel_size=2 model.pipeline_model_parallel_size=1 "
            "train.global_batch_size=64 train.micro_batch_size=1 model.seq_length=8192\n",
            "Llama 3 8B",
        ),
        (
            "python3 launcher_scripts/main.py training=gpt3/175b stages=[training] "
            "training.trainer.num_nodes=16 training.trainer.devices=8 "
            "training.model.global_batch_size=256 training.model.micro_batch_size=1 "
            "training.model.tensor_model_parallel_size=4 "
            "training.model.pipeline_model_parallel_size=8\n",
            "GPT-3 175B",
        ),
    ],
)
def test_a_recipe_s_name_tells_the_model(command: str, name: str, tmp_path: Path) -> None:
    reading = read(tmp_path, "run.sh", command)
    assert reading.model is not None
    assert reading.model.name == name
    # What else the recipe has is asked for, not taken as its framework's default.
    with pytest.raises(ConfigError, match=r"zero_stage, recompute, .*may have its own"):
        completed(reading, {"num_gpus": 128, "seq_length": 2048})
    own = {"zero_stage": "1", "recompute": "none", "sequence_parallel": "true"}
    layout, _ = completed(
        read(tmp_path, "run.sh", command, **own), {"num_gpus": 128, "seq_length": 2048}
    )
    assert (layout.zero_stage, layout.recompute, layout.sequence_parallel) == (1, "none", True)
    full = read(tmp_path, "run.sh", command, **(own | {"recompute": "full"}))
    assert completed(full, {"num_gpus": 128, "seq_length": 2048})[0].recompute == "full"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.md", r"a.md is no script that a shell could run .*closed\); read are"),
        ("a.sh", "closed$"),
    ],
)
def test_a_page_of_text_is_told_what_is_read(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("It's a page\n")
    with pytest.raises(ConfigError, match=message):
        read_configuration(tmp_path / name)
