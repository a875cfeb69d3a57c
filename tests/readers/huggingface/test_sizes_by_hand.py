"""Model shapes from a ``config.json`` that leaves sizes out, and values that expressions give."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import read_configuration
from steptime.readers.common.stage_layers import rank_layers
from steptime.readers.keys.resolve import RESOLVERS
from steptime.readers.keys.safe import shown
from steptime.readers.python import module as python_module
from steptime.readers.python.records import Record, compared
from steptime.readers.python.values import Unknown


def model_of(folder: Path, keys: dict[str, Any]) -> Any:
    path = folder / "config.json"
    path.write_text(json.dumps(keys), encoding="utf-8")
    return read_configuration(path).model


# --- published: the sizes of models whose files leave some out


@pytest.mark.parametrize(
    ("keys", "ffn"),
    [
        ({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12}, 3072),
        ({"model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16}, 16384),
        ({"model_type": "gpt_bigcode", "n_embd": 6144, "n_layer": 40, "n_head": 48}, 24576),
        ({"model_type": "bloom", "hidden_size": 14336, "n_layer": 70, "n_head": 112}, 57344),
        ({"model_type": "mpt", "d_model": 4096, "n_layers": 32, "n_heads": 32}, 16384),
        (
            {
                **{"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32},
                **{"num_attention_heads": 71, "multi_query": True},
            },
            18176,
        ),
    ],
    ids=["gpt2", "gptj-6b", "starcoder-15b", "bloom-176b", "mpt-7b", "falcon-7b"],
)
def test_a_feed_forward_layer_that_is_not_stated_is_four_times_as_wide(
    keys: dict[str, Any], ffn: int, tmp_path: Path
) -> None:
    assert model_of(tmp_path, keys | {"vocab_size": 50000}).ffn_hidden_size == ffn


def test_opt_has_two_positions_more_than_it_can_use(tmp_path: Path) -> None:
    keys = {
        **{"model_type": "opt", "hidden_size": 768, "num_hidden_layers": 12, "ffn_dim": 3072},
        **{"num_attention_heads": 12, "vocab_size": 50272, "max_position_embeddings": 2048},
    }
    assert model_of(tmp_path, keys).learned_positions == 2050


MIXTURE = {
    **{"num_hidden_layers": 24, "hidden_size": 64, "vocab_size": 1000, "intermediate_size": 128},
    **{"num_attention_heads": 4, "num_key_value_heads": 4, "moe_intermediate_size": 32},
    **{"num_experts_per_tok": 2},
}
UNEVEN = {"model_type": "qwen2_moe", "num_experts": 8, "num_hidden_layers": 25}
DEEPSEEK = {
    **{"model_type": "deepseek_v2", "n_routed_experts": 16, "n_group": 8, "q_lora_rank": None},
    **{"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128},
}


@pytest.mark.parametrize(
    ("keys", "dense", "reached"),
    [
        ({"model_type": "mixtral", "num_local_experts": 8}, 0, 0),
        ({"model_type": "qwen2_moe", "num_experts": 8}, 0, 0),
        # Of 8 groups a token may reach 3; of as many as there are, or an unknown number, all.
        ({**DEEPSEEK, "topk_group": 3}, 0, 3),
        ({**DEEPSEEK, "topk_group": 8}, 0, 0),
        (DEEPSEEK, 0, 0),
        ({**DEEPSEEK, "first_k_dense_replace": 2}, 2, 0),
        # Each second layer, from the second on, is one of experts.
        ({"model_type": "qwen2_moe", "num_experts": 8, "decoder_sparse_step": 2}, 12, 0),
        ({"model_type": "qwen2_moe", "num_experts": 8, "decoder_sparse_step": 3}, 16, 0),
        ({**UNEVEN, "decoder_sparse_step": 2}, 13, 0),
    ],
)
def test_layers_without_experts_by_hand(
    keys: dict[str, Any], dense: int, reached: int, tmp_path: Path
) -> None:
    experts = model_of(tmp_path, MIXTURE | keys).experts
    assert (experts.num_dense_layers, experts.max_groups) == (dense, reached)


# --- by hand: what expressions and messages are made of


def test_the_resolvers_of_launchers_compute() -> None:
    found = {name: sum_(7, 2) for name, sum_ in RESOLVERS.items()}
    assert found == {
        **{"multiply": 14, "divide": 3, "divide_floor": 3, "divide_ceil": 4},
        **{"sum": 9, "add": 9},
    }


def test_what_is_known_of_a_record_is_that_it_is_something() -> None:
    record = Record(kind="Recipe")
    assert compared(ast.Is, record, None) is False
    assert compared(ast.IsNot, record, None) is True
    assert compared(ast.IsNot, None, record) is True
    for kind in (ast.Eq, ast.NotEq, ast.Lt):
        assert compared(kind, record, None) is None
    for kind in (ast.Is, ast.IsNot, ast.Eq):
        assert compared(kind, record, Record(kind="Recipe")) is None
        assert compared(kind, Unknown("x"), None) is None


def test_a_number_is_shown_up_to_forty_digits() -> None:
    assert shown(10**40 - 1) == "9" * 40
    assert shown(10**40) == shown(-(10**40)) == "a number of over 40 digits"


@pytest.mark.parametrize(
    ("schedule", "layers"),
    [("v-half", [1 + 8, 2 + 7, 3 + 6, 4 + 5]), ("interleaved-1f1b", [1 + 5, 2 + 6, 3 + 7, 4 + 8])],
)
def test_the_layers_of_a_rank_by_hand(schedule: str, layers: list[int]) -> None:
    assert rank_layers([1, 2, 3, 4, 5, 6, 7, 8], 4, schedule) == layers


@pytest.mark.parametrize(("more", "refused"), [(0, False), (1, True)])
def test_a_recipe_is_as_long_as_the_limit_at_most(
    more: int, refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "recipe = 1\n"
    monkeypatch.setattr(python_module, "LARGEST_BYTES", len(text))
    library = python_module.Library()
    if refused:
        with pytest.raises(ConfigError, match="no recipe is so long"):
            library.cut(text + " " * more, tmp_path / "a.py", "a.py")
    else:
        assert library.cut(text, tmp_path / "a.py", "a.py").path == tmp_path / "a.py"
