"""What is known of models of a type: the same for a preset and for a ``config.json``."""

from __future__ import annotations

import json
from pathlib import Path

from steptime.answer import predict


def test_the_type_of_a_model_says_what_its_preset_says(tmp_path: Path) -> None:
    layers = ["sliding_attention", "full_attention"] * 12
    sizes = {"hidden_size": 2880, "num_hidden_layers": 24, "num_attention_heads": 64}
    sizes |= {"num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880}
    sizes |= {"num_local_experts": 32, "num_experts_per_tok": 4, "vocab_size": 201088}
    config = {"model_type": "gpt_oss", "sliding_window": 128, "layer_types": layers, **sizes}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    asked = {"accelerator": "h100", "seq_length": 4096, "global_batch_size": 64, "dp": 8, "ep": 8}
    told, preset = (predict(model=name, **asked) for name in (path, "gpt-oss-20b"))
    assert told.step.model.facts == preset.step.model.facts != ()
    assert (told.step_time_s, told.total_bytes) == (preset.step_time_s, preset.total_bytes)
