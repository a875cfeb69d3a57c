"""Programs that cut a micro-batch down to a rank's batch, and those that do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_files import facts, read

from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import check_layout
from steptime.readers import completed

FOUNDRY = """
max_seq_len: 2048
model:
  name: mpt_causal_lm
  d_model: 4096
  n_heads: 32
  n_layers: 32
  vocab_size: 50368
global_train_batch_size: 1024
device_train_microbatch_size: 16
precision: amp_bf16
fsdp_config:
  sharding_strategy: SHARD_GRAD_OP
"""
OLMO = """
model:
  d_model: 4096
  n_heads: 32
  n_layers: 32
  mlp_hidden_size: 22016
  rope: true
  flash_attention: {}
  activation_type: swiglu
  max_sequence_length: 2048
  vocab_size: 50280
  embedding_size: 50304
global_train_batch_size: 1024
device_train_microbatch_size: 16
precision: amp_bf16
fsdp:
  sharding_strategy: FULL_SHARD
"""


@pytest.mark.parametrize("text", [FOUNDRY, OLMO.format("true")])
def test_a_rank_takes_no_more_at_once_than_it_has(tmp_path: Path, text: str) -> None:
    # 1,024 sequences over 128 ranks are 8; over 64 they are the 16 that the file asks for.
    for ranks, micro in ((128, 8), (64, 16), (32, 16)):
        reading = read(tmp_path, "train.yaml", text)
        layout, batch = completed(reading, {"num_gpus": ranks})
        assert (layout.dp, batch.micro_batch_size) == (ranks, micro)
        told = [note for note in reading.notes if "more than a rank's batch of 8" in note]
        assert bool(told) == (micro == 8)


def test_what_is_over_is_still_refused(tmp_path: Path) -> None:
    reading = read(tmp_path, "train.yaml", FOUNDRY)
    assert reading.model is not None
    # 24 of a rank are one micro-batch of 16 and a shorter one, which no step here has.
    layout, batch = completed(reading, {"num_gpus": 128, "global_batch_size": 128 * 24})
    with pytest.raises(
        ConfigError, match="does not divide into dp=128 ranks x micro_batch_size=16"
    ):
        check_layout(reading.model, layout, batch)


def test_megatron_refuses_it(tmp_path: Path) -> None:
    text = (
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 16 --hidden-size 2048 "
        "--num-attention-heads 16 --vocab-size 32000 --seq-length 2048 --micro-batch-size 16 "
        "--global-batch-size 64 --bf16\n"
    )
    _, batch = completed(read(tmp_path, "train.sh", text), {})
    assert batch.micro_batch_size == 16


@pytest.mark.parametrize("switch", ["true", "false"])
def test_olmo_says_which_kernel_it_takes(tmp_path: Path, switch: str) -> None:
    assert facts(read(tmp_path, "train.yaml", OLMO.format(switch)))["kernel"] == "flash-2"


def test_with_a_mask_olmo_says_nothing_of_its_kernel(tmp_path: Path) -> None:
    text = OLMO.format("false").replace("rope: true", "rope: false\n  alibi: true")
    assert "kernel" not in facts(read(tmp_path, "train.yaml", text))
