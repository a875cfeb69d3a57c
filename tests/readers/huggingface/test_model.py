"""Model shapes from ``config.json``: sizes against published parameter counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steptime.formulas.parameters import num_parameters
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError
from steptime.inputs.job import job
from steptime.inputs.layout import Batch, Layout
from steptime.readers.huggingface import read_huggingface
from steptime.readers.huggingface.families import FAMILIES

GPU = Accelerator(
    name="test",
    peak_flop_per_s=1e15,
    hbm_bytes=8e10,
    hbm_bytes_per_s=3e12,
    nvlink_bytes_per_s=4.5e11,
    network_bytes_per_s=5e10,
)

Keys = dict[str, Any]


def sizes(
    kind: str, layers: int, hidden: int, ffn: int, heads: int, vocab: int, **more: Any
) -> Keys:
    """Return a configuration of the ordinary kind; ours, in the public format."""
    return {
        "model_type": kind,
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "intermediate_size": ffn,
        "num_attention_heads": heads,
        "vocab_size": vocab,
        "torch_dtype": "bfloat16",
        "max_position_embeddings": 8192,
        **more,
    }


def latent(kind: str, q: int | None, **more: Any) -> Keys:
    """Return the keys of latent attention as all published models set them."""
    return {
        "model_type": kind,
        "q_lora_rank": q,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
        "moe_layer_freq": 1,
        **more,
    }


# Name, our own file in the public format, parameters as the checkpoint on the hub states them.
PUBLISHED = json.loads((Path(__file__).parents[1] / "hub_configs.json").read_text())


def write(folder: Path, keys: Keys) -> Path:
    """Write keys as a configuration file."""
    path = folder / "config.json"
    path.write_text(json.dumps(keys, indent=2))
    return path


# --- published


@pytest.mark.parametrize("row", PUBLISHED, ids=[row["name"] for row in PUBLISHED])
def test_parameters_match_the_published_count(row: dict[str, Any], tmp_path: Path) -> None:
    model = read_huggingface(write(tmp_path, row["config"])).model
    assert model is not None
    record = job(model, GPU, Layout(), Batch(global_batch_size=1, seq_length=1))
    # Biases and norms, which the matrix count leaves out, are under 0.5 % of each.
    # A learned position table is a parameter but no matrix product.
    positions = model.learned_positions * model.hidden_size
    assert num_parameters(record) + positions == pytest.approx(row["parameters"], rel=0.005)


def test_every_wrapper_of_a_language_model_is_read(tmp_path: Path) -> None:
    inner = sizes(
        "gemma3_text",
        62,
        5376,
        21504,
        32,
        262208,
        num_key_value_heads=16,
        head_dim=128,
        sliding_window=1024,
        sliding_window_pattern=6,
    )
    keys = {"model_type": "gemma3", "text_config": inner, "vision_config": {"hidden_size": 1152}}
    reading = read_huggingface(write(tmp_path, keys))
    assert reading.model is not None
    assert (reading.model.windowed_layers, reading.model.window_size) == (52, 1024)
    assert any("only the language model" in note for note in reading.notes)


def test_layers_with_and_without_experts_may_alternate(tmp_path: Path) -> None:
    keys = sizes("qwen3_moe", 4, 64, 128, 4, 100, num_experts=4, decoder_sparse_step=2)
    reading = read_huggingface(
        write(tmp_path, {**keys, "num_experts_per_tok": 2, "moe_intermediate_size": 32})
    )
    assert reading.model is not None
    assert reading.model.experts is not None
    assert reading.model.experts.num_dense_layers == 2
    assert any("alternate" in note for note in reading.notes)


@pytest.mark.parametrize(
    ("keys", "groups"),
    [
        ({"n_group": 8, "topk_group": 4}, (8, 4)),
        # One group, or all of them, bind nothing; nor do blank cells.
        ({"n_group": 1, "topk_group": 1}, (1, 0)),
        ({"n_group": 8, "topk_group": 8}, (8, 0)),
        ({"n_group": None, "topk_group": None}, (1, 0)),
        ({}, (1, 0)),
    ],
)
def test_tokens_may_reach_some_groups_of_experts_only(
    keys: Keys, groups: tuple[int, int], tmp_path: Path
) -> None:
    """As deepseek2024, Sec. 2.1.2, and its configuration write node-limited routing."""
    plain = sizes("deepseek_v3", 4, 64, 128, 4, 100, n_routed_experts=16, num_experts_per_tok=2)
    own = latent("deepseek_v3", 32, moe_intermediate_size=32, **keys)
    reading = read_huggingface(write(tmp_path, plain | own))
    assert reading.model is not None
    assert reading.model.experts is not None
    assert (reading.model.experts.num_groups, reading.model.experts.max_groups) == groups


def test_a_text_part_is_found_in_a_wrapper_that_nobody_knows(tmp_path: Path) -> None:
    inner = sizes("qwen3", 36, 2560, 9728, 32, 151936, num_key_value_heads=8, head_dim=128)
    keys = {"model_type": "see9", "architectures": ["Seer"], "text_config": inner}
    model = read_huggingface(write(tmp_path, keys)).model
    assert model is not None
    assert (model.num_layers, model.qk_norm, model.qkv_bias) == (36, True, False)


def test_sizes_that_a_family_leaves_out_are_assumed(tmp_path: Path) -> None:
    # As the smaller files of this family are: no heads, no vocabulary.
    inner = {"model_type": "gemma3_text", "num_hidden_layers": 34, "hidden_size": 2560}
    inner |= {"intermediate_size": 10240, "sliding_window": 1024}
    reading = read_huggingface(write(tmp_path, {"model_type": "gemma3", "text_config": inner}))
    assert reading.model is not None
    shape = reading.model
    assert (shape.num_attention_heads, shape.num_query_groups, shape.head_dim) == (8, 4, 256)
    assert {one.name for one in reading.assumptions} >= {"vocab_size", "num_attention_heads"}
    record = job(shape, GPU, Layout(), Batch(global_batch_size=1, seq_length=1))
    # The text part of the 4B checkpoint, without its vision tower.
    assert num_parameters(record) == pytest.approx(3_880_099_328, rel=0.005)


@pytest.mark.parametrize(
    ("keys", "groups", "width"),
    [
        ({"model_type": "RefinedWebModel", "multi_query": True}, 1, 4 * 1024),
        ({"model_type": "RefinedWeb", "n_head_kv": 8}, 8, 4 * 1024),
        ({"model_type": "qwen", "num_hidden_layers": 2, "num_attention_heads": 16}, 16, 1408),
    ],
)
def test_older_names_of_families(keys: Keys, groups: int, width: int, tmp_path: Path) -> None:
    usual = {"n_layer": 2, "n_head": 16, "hidden_size": 1024, "vocab_size": 100}
    shape = read_huggingface(write(tmp_path, usual | {"intermediate_size": 2816} | keys)).model
    assert shape is not None
    assert (shape.num_query_groups, shape.ffn_hidden_size) == (groups, width)


@pytest.mark.parametrize(
    ("extra", "windowed"),
    [
        ({"sliding_window": 4096}, 32),
        ({"sliding_window": None}, 0),
        ({"sliding_window": 4096, "layer_types": ["full_attention"] * 32}, 0),
        ({"sliding_window": 4096, "layer_types": ["sliding_attention", "full_attention"] * 16}, 16),
    ],
)
def test_windows_of_mistral(extra: Keys, windowed: int, tmp_path: Path) -> None:
    keys = sizes("mistral", 32, 4096, 14336, 32, 32000, num_key_value_heads=8, **extra)
    model = read_huggingface(write(tmp_path, keys)).model
    assert model is not None
    assert model.windowed_layers == windowed


def test_a_folder_gives_its_name_and_what_is_assumed_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "my-model"
    folder.mkdir()
    write(folder, sizes("llama", 2, 64, 128, 4, 100))
    reading = read_huggingface(folder)
    assert reading.model is not None
    assert reading.model.name == "my-model"
    assert [(a.name, a.value) for a in reading.assumptions] == [("tied", False)]
    assert reading.facts["hidden_size"].line == 4


# --- refusal


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"model_type": "mamba2"},
            r"config.json:2: architecture 'mamba2': state-space layers are not modelled",
        ),
        ({"architectures": ["WhisperForAudio"]}, "architecture 'WhisperForAudio' is not known"),
        ({}, "neither model_type nor architectures"),
        ({"model_type": ["llama"]}, "is not known"),
        ({"model_type": "llama"}, "lacks hidden_size"),
        (
            sizes("llama", 0, 64, 128, 4, 100),
            r"config.json:3: num_hidden_layers must be >= 1, got 0",
        ),
        (sizes("llama", -3, 64, 128, 4, 100), "num_hidden_layers must be >= 1"),
        (sizes("llama", 2, 10**30, 128, 4, 100), "hidden_size must be <= 100000000"),
        (sizes("llama", 2, "64", 128, 4, 100), "hidden_size must be a whole number, got '64'"),
        (sizes("llama", 2, True, 128, 4, 100), "must be a whole number, got True"),
        (sizes("llama", 2, 65, 128, 4, 100), "does not divide into num_attention_heads=4"),
        (
            sizes("llama", 2, 64, 128, 4, 100, num_key_value_heads=3),
            "multiple of num_query_groups=3",
        ),
        (
            sizes("llama", 2, 64, 128, 4, 100, tie_word_embeddings="yes"),
            "must be true or false, got 'yes'",
        ),
        (
            sizes("mixtral", 2, 64, 128, 4, 100, num_local_experts=4, num_experts_per_tok=9),
            "top_k=9",
        ),
        ({"model_type": "llm9"}, "architecture 'llm9' is not known here; known: RefinedWeb"),
        (
            sizes("qwen3", 2, 64, 128, 4, 100, global_head_dim=32),
            "global_head_dim = 32: attention of two widths",
        ),
        (
            {"model_type": "x", "text_config": {"model_type": "qwen3_next"}},
            "architecture 'qwen3_next': layers of several kinds",
        ),
        (
            sizes("qwen3", 2, 64, 128, 4, 100, layer_types=["linear_attention"] * 2),
            "'linear_attention' is not known",
        ),
    ],
)
def test_bad_configuration_is_refused_with_its_line(
    keys: Keys, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=message):
        read_huggingface(write(tmp_path, keys))


def test_a_key_given_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"model_type": "llama",\n "hidden_size": 64,\n "hidden_size": 128}')
    with pytest.raises(
        ConfigError, match=r"config.json:3: hidden_size is given twice, as 64 and as 128"
    ):
        read_huggingface(path)


def test_every_family_reads_its_own_keys(tmp_path: Path) -> None:
    for kind, family in FAMILIES.items():
        keys: Keys = {"model_type": kind, "vocab_size": 1000}
        for names, value in (
            (family.layers, 4),
            (family.hidden, 256),
            (family.heads, 8),
            (family.groups, 8),
            (family.ffn, 512),
            (family.positions, 128),
            (family.experts, 8),
            (family.expert_ffn, 64),
        ):
            keys.update({name: value for name in names[:1]})
        if family.experts:
            keys[family.top_k[0]] = 2
        if family.latent:
            keys.update({k: v for k, v in latent(kind, 32).items() if k != "model_type"})
        model = read_huggingface(write(tmp_path, keys)).model
        assert model is not None
        assert model.num_layers == 4, kind
