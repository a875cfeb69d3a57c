"""Files that trainers read, and stages of torchtitan, key by key."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from written_files import read

from steptime.readers.megatron.model import _ffn

FORMATS = Path(__file__).parent / "formats"


def changed(name: str, *pairs: tuple[str, str]) -> str:
    """Return a file of the formats with texts replaced."""
    text = (FORMATS / name).read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(("nodes", "copies"), [(1, None), (2, 2), (4, 4)])
def test_litgpt_shards_inside_a_server(nodes: int, copies: int | None, tmp_path: Path) -> None:
    text = changed("litgpt.yaml", ("num_nodes: 1", f"num_nodes: {nodes}"))
    assert read(tmp_path, "own.yaml", text).value("dp_replicate") == copies


def test_llm_foundrys_positions_are_as_many_as_the_sequence_has(tmp_path: Path) -> None:
    # mosaicml: learned_pos_emb is on unless it is switched off, here beside alibi.
    text = changed("llm-foundry.yaml", ("    alibi: true\n", "    alibi: false\n"))
    text = text.replace("  vocab_size: 50368\n", "  vocab_size: 50368\n  learned_pos_emb: true\n")
    found = read(tmp_path, "own.yaml", text).model
    assert found is not None
    assert found.learned_positions == 2048


@pytest.mark.parametrize(
    ("kind", "learned"), [("rope: true", 0), ("alibi: true", 0), ("rope: false", 4096)]
)
def test_olmo_learns_positions_where_no_other_kind_is_on(
    kind: str, learned: int, tmp_path: Path
) -> None:
    found = read(tmp_path, "own.yaml", changed("olmo.yaml", ("rope: true", kind))).model
    assert found is not None
    assert found.learned_positions == learned


def test_a_trainers_other_file_that_is_not_there_is_asked_for(tmp_path: Path) -> None:
    text = (FORMATS / "accelerate.sh").read_text(encoding="utf-8")
    found = read(tmp_path, "run.sh", text)
    assert any(gap.startswith("zero_stage") for gap in found.missing)


def test_windows_of_a_family_that_has_none_are_none(tmp_path: Path) -> None:
    own = {
        **{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 4, "vocab_size": 1000},
        **{"num_attention_heads": 4, "num_key_value_heads": 4, "intermediate_size": 128},
        "sliding_window": 512,
    }
    found = read(tmp_path, "config.json", json.dumps(own)).model
    assert found is not None
    assert (found.window_size, found.windowed_layers) == (0, 0)


def test_a_length_that_nobody_knows_cuts_no_batch(tmp_path: Path) -> None:
    text = """
from torchtitan.config import ParallelismConfig, TrainingConfig
from torchtitan.trainer import Trainer
from . import model_registry


def own_8b() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry("8B"),
        training=TrainingConfig(
            num_tokens_per_microbatch_per_dp_rank=16384, max_context_length={length}
        ),
        parallelism=ParallelismConfig(tensor_parallel_degree=2),
    )
"""
    known = read(tmp_path, "recipes.py", text.format(length=8192))
    assert known.value("micro_batch_size") == 2
    unknown = read(tmp_path, "recipes.py", text.format(length="their_own()"))
    assert unknown.value("micro_batch_size") is None
    assert unknown.value("tp") == 2


class Keys:
    """A file of some keys alone."""

    def __init__(self, **found: Any) -> None:
        self.found = found
        self.reading: Any = SimpleNamespace(assume=lambda *_: None)
        self.asked: list[str] = []

    def count(self, name: str, *_: str) -> Any:
        return self.found.get(name)

    def entry(self, name: str) -> Any:
        return SimpleNamespace(value=self.found[name]) if name in self.found else None

    def ask(self, name: str, _: str) -> None:
        self.asked.append(name)


@pytest.mark.parametrize(
    ("hidden", "gated", "keys", "ffn"),
    [
        # Llama's own code: two thirds of 4 h, scaled, up to a multiple; without a gate 4 h.
        (64, True, {"ffn_multiple": 256}, 256),
        (64, False, {"ffn_multiple": 256}, 256),
        (100, False, {"ffn_multiple": 256}, 400),
        (100, True, {"ffn_multiple": 256, "hidden_dim_multiplier": "1.3"}, 512),
        (1, True, {"ffn_multiple": 8, "hidden_dim_multiplier": "0.5"}, 8),
        (100, True, {"ffn_multiple": 8, "ffn_hidden_size": 300}, 300),
    ],
)
def test_llamas_width(hidden: int, gated: bool, keys: dict[str, Any], ffn: int) -> None:
    entries: Any = Keys(**keys)
    assert _ffn(entries, hidden, gated) == ffn
    assert entries.asked == []


def test_a_width_that_nothing_scales_is_asked_for() -> None:
    entries: Any = Keys(ffn_multiple=8, hidden_dim_multiplier="own")
    _ffn(entries, 100, True)
    assert entries.asked == ["ffn_hidden_size"]
