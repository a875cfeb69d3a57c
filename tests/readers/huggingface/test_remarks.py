"""How a ``config.json`` was read is said by every answer, and its widths are those of the model."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import steptime
from steptime.inputs.model import LatentAttention, ModelShape
from steptime.inputs.presets import model
from steptime.readers.huggingface import read_huggingface

LATENT = {
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}
DEEPSEEK_V3: dict[str, Any] = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "vocab_size": 129280,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "n_group": 8,
    "topk_group": 4,
    "topk_method": "noaux_tc",
    "num_nextn_predict_layers": 1,
    "tie_word_embeddings": False,
    **LATENT,
}
"""Sizes that DeepSeek-V3's own config.json states; it has no head_dim."""

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "vocab_size": 32064,
    "tie_word_embeddings": False,
}


def written(folder: Path, keys: dict[str, Any]) -> Path:
    """Return a config.json with the keys."""
    path = folder / "config.json"
    path.write_text(json.dumps(keys))
    return path


def told(path: Path, **more: Any) -> list[str]:
    """Return what an answer for the model says was taken."""
    step = {"accelerator": "h100", "dp": 8, "seq_length": 4096, "global_batch_size": 64}
    return [str(one) for one in steptime.predict(model=path, **(step | more)).assumed]


# --- published


@pytest.mark.parametrize("width", [None, 64, 192])
def test_latent_attention_has_the_widths_of_its_own_paper(
    width: int | None, tmp_path: Path
) -> None:
    """deepseek2024, Sec. 4.2, as the preset has it; newer transformers write head_dim = 64."""
    keys = DEEPSEEK_V3 | ({} if width is None else {"head_dim": width})
    read, preset = read_huggingface(written(tmp_path, keys)).model, model("deepseek-v3")
    assert read is not None
    left = ("name", "source", "facts", "zero_stage", "trained_with", "norm")
    left += ("max_positions", "remarks")
    one, other = asdict(read), asdict(preset)
    for name in left:
        del one[name], other[name]
    assert one == other
    layout = {"accelerator": "h100", "dp": 128, "ep": 64, "pp": 8, "recompute": "full"}
    batch = {"seq_length": 32768, "global_batch_size": 8192, "stack": "megatron"}
    times = [
        steptime.predict(model=shape, **layout, **batch).step_time_s for shape in (read, preset)
    ]
    assert times[0] == times[1]


def test_heads_of_latent_attention_need_not_divide_the_width() -> None:
    sizes = {"num_layers": 2, "hidden_size": 100, "ffn_hidden_size": 64, "vocab_size": 64}
    shape = ModelShape(
        name="odd",
        num_attention_heads=8,
        num_query_groups=8,
        latent_attention=LatentAttention(**LATENT),
        **sizes,
    )
    assert shape.head_dim == 128


# --- invariant


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            DEEPSEEK_V3 | {"model_type": "deepseek_v32", "num_hidden_layers": 8},
            "attention is taken over all keys; the indexer that picks some is not counted",
        ),
        (
            {"model_type": "llava", "text_config": LLAMA, "vision_config": {"hidden_size": 1024}},
            "only the language model of this llava is read",
        ),
        (
            LLAMA | {"model_type": "qwen2_vl", "vision_config": {"depth": 32}},
            "only the language model of this qwen2_vl is read",
        ),
        (
            LLAMA | {"model_type": "qwen2", "audio_config": {"num_mel_bins": 128}},
            "only the language model of this qwen2 is read",
        ),
    ],
)
def test_every_answer_says_what_of_a_file_is_not_counted(
    keys: dict[str, Any], said: str, tmp_path: Path
) -> None:
    path = written(tmp_path, keys)
    assert f"config.json: {said}" in told(path)
    asked = {"accelerator": "h100", "num_gpus": 64, "seq_length": 4096, "global_batch_size": 64}
    found = steptime.search(model=path, **asked, fits_with=0.0, pp=8, tp=8)
    assert f"config.json: {said}" in [str(one) for one in found.answered().assumed]


def test_sizes_that_a_file_leaves_out_are_said_beside_an_answer(tmp_path: Path) -> None:
    keys = {name: value for name, value in LLAMA.items() if name != "tie_word_embeddings"}
    assert "tied: False (the default of llama)" in told(written(tmp_path, keys))


# --- refusal


def test_a_plain_language_model_gets_no_remark(tmp_path: Path) -> None:
    for keys in (LLAMA, LLAMA | {"vision_config": None, "audio_config": {}}):
        found = told(written(tmp_path, keys))
        assert not [one for one in found if one.startswith(("config.json", "tied"))]


def test_a_file_of_ones_own_states_no_remarks(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    sizes = "num_layers = 2\nhidden_size = 64\nffn_hidden_size = 64\nnum_attention_heads = 4\n"
    path.write_text(f"{sizes}num_query_groups = 4\nvocab_size = 64\nremarks = []\n")
    with pytest.raises(steptime.ConfigError, match=r"mine.toml:7: remarks is no field"):
        told(path)
