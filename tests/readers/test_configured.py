"""Commands whose programs read a file of keys, with flags on top of it; all written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import Reading, completed, read_configuration

TITAN = """
[model]
name = "llama3"
flavor = "8B"
[training]
local_batch_size = 2
seq_len = 8192
[parallelism]
tensor_parallel_degree = 2
[activation_checkpoint]
mode = "full"
"""
PRIMUS = """
work_group: own
modules:
  pre_trainer:
    framework: megatron
    config: pre_trainer.yaml
    model: llama3.1_8B.yaml
    overrides:
      micro_batch_size: 2
      global_batch_size: 128
      seq_length: 8192
      tensor_model_parallel_size: 1
      pipeline_model_parallel_size: 1
      overlap_grad_reduce: true
"""
SHARDED = (Path(__file__).parent / "formats" / "mindspeed-fsdp2.yaml").read_text()


def script(folder: Path, command: str, files: dict[str, str], **given: str) -> Reading:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    path = folder / "scripts" / "train.sh"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/bash\n{command}\n")
    return read_configuration(path, given)


# --- by hand


def test_flags_come_before_the_file_that_they_stand_on(tmp_path: Path) -> None:
    command = (
        "CONFIG=${CONFIG:-train/own.toml}\n"
        "torchrun --nnodes 2 --nproc_per_node 8 -m torchtitan.train "
        "--job.config_file ${CONFIG} --training.seq_len 4096 "
        "--parallelism.tensor_parallel_degree 4"
    )
    reading = script(tmp_path, command, {"train/own.toml": TITAN})
    layout, batch = completed(reading, {})
    assert reading.kind == "torchtitan"
    assert (layout.tp, layout.dp, layout.recompute) == (4, 4, "full")
    assert (batch.micro_batch_size, batch.seq_length) == (2, 4096)
    assert reading.facts["local_batch_size"].written == "own.toml, training.local_batch_size"


def test_primus_s_command_changes_its_file(tmp_path: Path) -> None:
    command = (
        "export MBS=4 EXP=configs/own.yaml\n"
        'bash ./primus-cli direct -- train pretrain --config "$EXP" --micro_batch_size $MBS '
        "--pipeline_model_parallel_size 2"
    )
    reading = script(tmp_path, command, {"configs/own.yaml": PRIMUS})
    layout, batch = completed(reading, {"num_gpus": 16})
    assert reading.model is not None
    assert reading.model.name == "Llama 3 8B"
    assert (layout.pp, layout.zero_stage, layout.precision) == (2, 1, "bf16")
    assert (batch.micro_batch_size, batch.global_batch_size) == (4, 128)
    assert not any("32 BITS" in note for note in reading.notes)


def test_a_file_as_a_word_of_its_own_lies_beside_the_script(tmp_path: Path) -> None:
    command = (
        "torchrun --nnodes 1 --nproc_per_node 8 train_fsdp2.py own.yaml "
        "--training.gradient_accumulation_steps 1 --parallel.cp_size 1"
    )
    reading = script(tmp_path, command, {"scripts/own.yaml": SHARDED})
    layout, batch = completed(reading, {})
    assert reading.kind == "mindspeed-fsdp2"
    assert (layout.cp, layout.dp, layout.zero_stage) == (1, 8, 3)
    assert (batch.micro_batch_size, batch.global_batch_size) == (2, 16)


def test_a_template_that_a_script_fills_in_is_no_file_of_its_program(tmp_path: Path) -> None:
    command = (
        "sed s/MBS/2/ template.json > own.json\n"
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 512 "
        "--num-attention-heads 8 --vocab-size 32000 --seq-length 512 --bf16 --micro-batch-size 2"
    )
    reading = script(tmp_path, command, {"scripts/template.json": '{"batch": MBS}'})
    assert reading.kind == "megatron"
    assert reading.model is not None


# --- refusal


def test_a_command_on_top_of_a_file_that_is_not_here_is_refused(tmp_path: Path) -> None:
    command = "bash ./primus-cli train --config gone.yaml --micro_batch_size 4"
    with pytest.raises(ConfigError, match=r"--config = gone.yaml says most .* explain that file"):
        script(tmp_path, command, {})


@pytest.mark.parametrize("name", ["/etc/own.yaml", "../../own.yaml"])
def test_only_files_below_the_project_are_read(name: str, tmp_path: Path) -> None:
    command = f"torchrun train_fsdp2.py {name} --parallel.cp_size 1"
    with pytest.raises(ConfigError, match="no command whose arguments are known"):
        script(tmp_path / "a" / "b", command, {"scripts/x.txt": ""})


DEEPSPEED = (
    "cat <<EOT > own.json\n{}\nEOT\n"
    "deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 8 --hidden-size 512 --bf16 "
    "--num-attention-heads 8 --vocab-size 32000 --seq-length 512 --micro-batch-size 2 "
    "--deepspeed --deepspeed_config {} --zero-stage 1"
)


def test_what_only_the_deepspeed_file_asks_for_is_refused_by_name(tmp_path: Path) -> None:
    asked = '{"compression_training": {"layer_reduction": {"enabled": true}}}'
    with pytest.raises(ConfigError, match=r"compress.* is not modelled"):
        script(tmp_path, DEEPSPEED.format(asked, "own.json"), {})
    plain = script(tmp_path, DEEPSPEED.format('{"train_batch_size": 16}', "own.json"), {})
    assert not any("cannot be read here" in note for note in plain.notes)
    # A name that the job alone knows is the script's own all the same.
    named = DEEPSPEED.format(asked, "own.json").replace("own.json", "ds.$SLURM_JOBID.json")
    with pytest.raises(ConfigError, match=r"compress.* is not modelled"):
        script(tmp_path, named, {})
    # No device is no offload, whatever else stands beside it.
    kept = '{"zero_optimization": {"offload_optimizer": {"device": "none", "buffer_count": 4}}}'
    assert not script(tmp_path, DEEPSPEED.format(kept, "own.json"), {}).notes
    gone = script(tmp_path, DEEPSPEED.format("{}", "gone.json"), {})
    assert any("gone.json' cannot be read here: what it alone" in one for one in gone.notes)
