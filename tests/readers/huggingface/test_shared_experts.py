"""Shared experts that a configuration states by their width alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steptime.readers.huggingface import read_huggingface


@pytest.mark.parametrize(
    ("shared_width", "experts", "assumed"),
    # Experts are 32 wide: 64 are two of them, 65 two and a bit, and 0 none.
    [(32, 1, False), (64, 2, False), (65, 3, True), (0, 0, False)],
)
def test_shared_experts_by_their_width(
    shared_width: int, experts: int, assumed: bool, tmp_path: Path
) -> None:
    keys = {
        **{"model_type": "qwen2_moe", "num_hidden_layers": 4, "hidden_size": 64},
        **{"intermediate_size": 128, "num_attention_heads": 4, "vocab_size": 100},
        **{"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32},
        "shared_expert_intermediate_size": shared_width,
    }
    path = tmp_path / "config.json"
    path.write_text(json.dumps(keys))
    reading = read_huggingface(path)
    assert reading.model is not None
    assert reading.model.experts is not None
    assert reading.model.experts.num_shared_experts == experts
    told = [one for one in reading.assumptions if "rounded up" in one.why]
    assert bool(told) == assumed
