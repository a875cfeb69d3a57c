"""Files that trainers read, and stages of torchtitan, key by key."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from written_files import read

from steptime.inputs.errors import ConfigError
from steptime.readers.completed import completed

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
    asked = [gap for gap in found.missing if gap.startswith("zero_stage")]
    assert ("config_file" in text) is bool(asked), found.missing


TITAN = """
[model]
name = "llama3"
flavor = "8B"
[training]
seq_len = 4096
local_batch_size = 8
[parallelism]
pipeline_parallel_degree = {pp}
"""


def test_layers_of_a_stage_make_two_ranks_too(tmp_path: Path) -> None:
    text = TITAN.format(pp=2) + "pipeline_parallel_layers_per_stage = 17\n"
    assert read(tmp_path, "own.toml", text).value("pp") == 2
    # 32 layers and two ends are two stages of 17; of 16 they are three, which fit no two ranks.
    with pytest.raises(ConfigError, match="3 stages"):
        completed(read(tmp_path, "own.toml", text.replace("= 17", "= 16")), {"num_gpus": 8})


def test_written_stages_fit_the_ranks(tmp_path: Path) -> None:
    def written(pp: str, cuts: list[int]) -> str:
        """Return a file whose model is cut before some layers."""
        edges = pairwise([0, *cuts, 32])
        parts = [[f"layers.{n}" for n in range(*ends)] for ends in edges]
        parts[0].insert(0, "tok_embeddings")
        parts[-1] += ["norm", "output"]
        head = TITAN.replace("pipeline_parallel_degree = {pp}\n", pp)
        return f"{head}module_fqns_per_model_part = {json.dumps(parts)}\n"

    two = "pipeline_parallel_degree = 2\n"
    assert read(tmp_path, "own.toml", written(two, [16])).value("pp") == 2
    with pytest.raises(ConfigError, match="makes 3 stages, which do not fit pp = 2 ranks"):
        completed(read(tmp_path, "own.toml", written(two, [11, 22])), {"num_gpus": 8})
    # A file without a pipeline has one rank, which any number of stages fits.
    assert read(tmp_path, "own.toml", written("", [11, 22])).value("pp", 1) == 1


def test_windows_of_a_family_that_has_none_are_none(tmp_path: Path) -> None:
    own = {
        **{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 4, "vocab_size": 1000},
        **{"num_attention_heads": 4, "num_key_value_heads": 4, "intermediate_size": 128},
        "sliding_window": 512,
    }
    found = read(tmp_path, "config.json", json.dumps(own)).model
    assert found is not None
    assert (found.window_size, found.windowed_layers) == (0, 0)
