"""Where one token more or less would pass unseen: ends of ranges, defaults, which name counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from written_files import read

from steptime.inputs.errors import ConfigError
from steptime.readers.common.patterns import layer_pattern
from steptime.readers.keys.safe import LARGEST_BYTES, file_text

SHAPE = "--num-layers 12 --hidden-size 64 --num-attention-heads 4 --vocab-size 1000"
CONFIGS = json.loads((Path(__file__).parent / "hub_configs.json").read_text(encoding="utf-8"))
HUB = {one["name"]: one["config"] for one in CONFIGS}
MIXTURE = {
    **{"model_type": "qwen2_moe", "num_hidden_layers": 4, "hidden_size": 64, "vocab_size": 1000},
    **{"intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 4},
    **{"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32},
}
MAXTEXT = "base_config: base.yml\nmodel_name: mixtral-8x7b\nper_device_batch_size: 1\n"
FOUNDRY = """
max_seq_len: 512
global_train_batch_size: 8
device_train_microbatch_size: 1
precision: amp_bf16
model:
  name: mpt_causal_lm
  d_model: 64
  n_heads: 4
  n_layers: 2
  expansion_ratio: 4
  vocab_size: 1000
  attn_config:
    attn_type: {}
"""


# --- by hand


@pytest.mark.parametrize("kind", ["multihead_attention", "multiquery_attention"])
def test_a_file_without_heads_is_asked_for_them_whatever_its_attention(
    kind: str, tmp_path: Path
) -> None:
    text = FOUNDRY.format(kind).replace("  n_heads: 4\n", "")
    assert "num_attention_heads" in read(tmp_path, "own.yaml", text).missing


def test_a_file_is_read_up_to_a_million_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"x" * 1_000_000)
    assert len(file_text(path)) == LARGEST_BYTES == 1_000_000
    path.write_bytes(b"x" * 1_000_001)
    with pytest.raises(ConfigError):
        file_text(path)


@pytest.mark.parametrize(("width", "shared", "rounded"), [(64, 2, False), (80, 3, True)])
def test_shared_experts_are_rounded_up_and_told_only_where_they_are(
    width: int, shared: int, rounded: bool, tmp_path: Path
) -> None:
    # 64 is two experts of 32; 80 is two and a half.
    text = json.dumps(MIXTURE | {"shared_expert_intermediate_size": width})
    reading = read(tmp_path, "config.json", text)
    assert reading.model is not None
    assert reading.model.experts is not None
    assert reading.model.experts.num_shared_experts == shared
    assert any("rounded up" in str(one) for one in reading.assumptions) == rounded


def test_no_shared_expert_is_none(tmp_path: Path) -> None:
    config = {name: value for name, value in HUB["deepseek-v3"].items() if name != "x"}
    for given, shared in ((None, 0), (0, 0), (1, 1)):
        text = json.dumps(config | {"n_shared_experts": given})
        model = read(tmp_path, "config.json", text).model
        assert model is not None
        assert model.experts is not None
        assert model.experts.num_shared_experts == shared


def test_of_four_layers_in_chunks_one_attends_to_all(tmp_path: Path) -> None:
    model = read(tmp_path, "config.json", json.dumps(HUB["llama-4-scout-text"])).model
    assert model is not None
    assert (model.window_size, model.windowed_layers) == (8192, 48 - 12)


@pytest.mark.parametrize(
    ("axes", "dp"),
    [
        ({"data": 2, "fsdp": 4}, 8),
        ({"data": 1, "fsdp": 8}, 8),
        ({"data": 3, "fsdp": 4, "tensor": 2}, 12),
        # The experts' axis is one of data for all else.
        ({"data": 2, "fsdp": 2, "expert": 4}, 16),
    ],
)
def test_replicas_of_a_mesh_are_its_axes_of_data(
    axes: dict[str, int], dp: int, tmp_path: Path
) -> None:
    text = MAXTEXT + "".join(f"ici_{name}_parallelism: {size}\n" for name, size in axes.items())
    assert read(tmp_path, "run.yml", text).value("dp") == dp


def test_maxtext_adds_no_rows_to_the_vocabulary(tmp_path: Path) -> None:
    sizes = "base_num_decoder_layers: 2\nbase_emb_dim: 64\nbase_num_query_heads: 4\n"
    sizes += "base_num_kv_heads: 4\nbase_mlp_dim: 128\nhead_dim: 16\nvocab_size: 1001\n"
    text = MAXTEXT.replace("model_name: mixtral-8x7b", "model_name: default") + sizes
    model = read(tmp_path, "run.yml", text).model
    assert model is not None
    assert model.vocab_size == 1001


@pytest.mark.parametrize(
    ("kind", "groups"),
    [
        ("multihead_attention", 4),
        ("multiquery_attention", 1),
        ("grouped_query_attention\n    kv_n_heads: 2", 2),
    ],
)
def test_each_kind_of_attention_has_its_keys(kind: str, groups: int, tmp_path: Path) -> None:
    model = read(tmp_path, "run.yaml", FOUNDRY.format(kind)).model
    assert model is not None
    assert (model.num_query_groups, model.ffn_hidden_size) == (groups, 256)


def test_a_decoder_behind_images_has_its_own_length(tmp_path: Path) -> None:
    for more, length in (
        ("--seq-length 576 --decoder-seq-length 2048", 2048),
        ("--encoder-seq-length 576 --decoder-seq-length 2048", 2048),
        ("--seq-length 576", 576),
    ):
        reading = read(tmp_path, "run.args", f"{SHAPE} {more}\n")
        assert reading.value("seq_length") == length
        assert reading.value("image_tokens", 0) == (576 if length == 2048 else 0)


@pytest.mark.parametrize(("depth", "read_at_all"), [(20, True), (21, False)])
def test_patterns_nest_twenty_deep(depth: int, read_at_all: bool) -> None:
    text = "(" * depth + "[1]" + ")" * depth
    assert layer_pattern(text) == ([1] if read_at_all else None)
