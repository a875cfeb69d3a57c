"""More kinds of files that draws by seed showed to be read wrongly; each is written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import Reading, read_configuration

TREE = """
language_model:
  num_layers: 24
  hidden_size: 1024
  num_attention_heads: 16
model_parallel:
  tensor_model_parallel_size: 2
  bf16: True
micro_batch_size: 2
global_batch_size: 128
seq_length: 4096
vocab_size: 32000
"""


def read(folder: Path, name: str, text: str, **given: str) -> Reading:
    path = folder / name
    path.write_text(text)
    return read_configuration(path, given)


# --- by hand


def test_a_switch_of_encoders_that_is_on_by_default_says_nothing(tmp_path: Path) -> None:
    # Megatron-LM's own YAML of a GPT lists every argument with its default.
    reading = read(tmp_path, "gpt.yaml", TREE + "bert_binary_head: True\n")
    assert reading.model is not None
    assert (reading.model.num_layers, reading.value("tp")) == (24, 2)


def test_what_a_command_prints_is_one_word(tmp_path: Path) -> None:
    text = (
        "layers=$(yq '.model.layers' $config)\n"
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers $layers --hidden-size 4096 "
        "--num-attention-heads $(heads of $config) --vocab-size 32000 --seq-length 2048 "
        "--micro-batch-size 1 --global-batch-size 64 --bf16\n"
    )
    gaps = read(tmp_path, "train.sh", text).missing
    assert any(gap.startswith("num_layers: --num-layers = \"$(yq '.model.layers'") for gap in gaps)
    assert any("$(heads of $config)" in gap for gap in gaps)
    whole = read(tmp_path, "train.sh", text, num_layers="32", num_attention_heads="32")
    assert whole.model is not None
    assert whole.value("num_gpus") == 8


NEMO = """
trainer:
  num_nodes: 4
  devices: -1
  precision: bf16
model:
  mcore_gpt: True
  micro_batch_size: 1
  global_batch_size: 64
  tensor_model_parallel_size: 2
  pipeline_model_parallel_size: 1
  encoder_seq_length: 4096
  num_layers: 24
  hidden_size: 2048
  num_attention_heads: 16
  vocab_size: 32000
"""


def test_all_devices_that_there_are_is_asked_for(tmp_path: Path) -> None:
    gaps = read(tmp_path, "own.yaml", NEMO).missing
    assert [gap.partition(":")[0] for gap in gaps] == ["num_gpus"]
    assert read(tmp_path, "own.yaml", NEMO, gpus_per_node="8").value("num_gpus") == 32


# --- refusal


def test_stages_of_different_layouts_are_refused_by_name(tmp_path: Path) -> None:
    text = TREE + "hetero:\n  enable_hetero: True\n  hetero_process_meshes: [1, 1, 1, 2, 1]\n"
    with pytest.raises(ConfigError, match=r"hetero.enable_hetero = True: stages of different"):
        read(tmp_path, "hetero.yaml", text)


@pytest.mark.parametrize(
    "text",
    [
        '{"dim_model": 4096, "num_heads": 32, "num_layers": 48, "vocab_size": 30720}',
        '{"dim": 256, "num_layers": 4, "max_seq_len": 512, "patch_size": 16}',
    ],
)
def test_a_count_of_layers_alone_is_no_launch_file(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is of no format that is known here"):
        read(tmp_path, "own.json", text)


def test_ranks_inside_experts_do_nothing_on_a_dense_model(tmp_path: Path) -> None:
    text = TREE + "expert_tensor_parallel_size: 4\n"
    reading = read(tmp_path, "dense.yaml", text)
    assert reading.value("etp") is None
    assert "expert_tensor_parallel_size does nothing without experts" in reading.notes
    mixed = text + "num_experts: 8\nmoe_router_topk: 2\n"
    assert read(tmp_path, "mixed.yaml", mixed).value("etp") == 4
