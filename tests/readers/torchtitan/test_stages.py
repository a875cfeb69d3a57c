"""Stages of torchtitan: written out, by points, or by the layers that each has."""

from __future__ import annotations

import json
from itertools import accumulate, pairwise
from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Layout
from steptime.readers import read_configuration
from steptime.readers.completed import completed

FILE = """
[model]
name = "llama3"
flavor = "8B"
[training]
seq_len = 4096
local_batch_size = 8
[parallelism]
data_parallel_shard_degree = 2
pipeline_parallel_degree = 4
tensor_parallel_degree = {tp}
pipeline_parallel_schedule = "{schedule}"
"""
MANY = "Interleaved1F1B"


def parts(*counts: int) -> str:
    """Return stages that are written out, of so many layers each."""
    names = [
        [f"layers.{layer}" for layer in range(*ends)] for ends in pairwise([0, *accumulate(counts)])
    ]
    names[0].insert(0, "tok_embeddings")
    names[-1] += ["norm", "output"]
    return f"module_fqns_per_model_part = {json.dumps(names)}"


def layout_of(folder: Path, more: str, schedule: str = "1F1B", tp: int = 1) -> Layout:
    path = folder / "train.toml"
    path.write_text(FILE.format(schedule=schedule, tp=tp) + more)
    return completed(read_configuration(path), {"num_gpus": 8 * tp})[0]


@pytest.mark.parametrize(
    ("more", "schedule", "cut"),
    [
        (parts(7, 9, 9, 7), "1F1B", (1, 7, 7)),
        (parts(8, 8, 8, 8), "1F1B", (1, 0, 0)),
        (parts(3, 4, 4, 4, 4, 5, 4, 4), MANY, (2, 7, 8)),
        (parts(3, 4, 4, 5, 4, 4, 4, 4), "ZBVZeroBubble", (2, 7, 9)),
        ('pipeline_parallel_split_points = "layers.7,layers.16,layers.25"', "1F1B", (1, 7, 7)),
        (
            'pipeline_parallel_split_points = ["layers.6", "layers.16", "layers.26"]',
            "1F1B",
            (1, 6, 6),
        ),
        # 32 layers and one for each end: the published rule counts 34.
        ("pipeline_parallel_layers_per_stage = 9", "1F1B", (1, 8, 7)),
        (
            "pipeline_parallel_layers_per_stage = 4\n"
            "pipeline_parallel_first_stage_less_layers = 0\n"
            "pipeline_parallel_last_stage_less_layers = 0",
            MANY,
            (2, 0, 0),
        ),
    ],
)
def test_layers_of_stages_are_read(
    more: str, schedule: str, cut: tuple[int, int, int], tmp_path: Path
) -> None:
    found = layout_of(tmp_path, more, schedule)
    assert (found.vpp, found.first_stage_layers, found.last_stage_layers) == cut


@pytest.mark.parametrize(
    ("more", "schedule", "says"),
    [
        (parts(7, 9, 9, 8), "1F1B", "has 33 layers, but the model has 32"),
        (parts(7, 9, 16), "1F1B", "makes 3 stages, which do not fit pp = 4 ranks"),
        (parts(*[4] * 8), "1F1B", "makes 8 stages, which do not fit pp = 4 ranks"),
        ("pipeline_parallel_layers_per_stage = 4", MANY, "9 stages, which pp=4 does not divide"),
        ("pipeline_parallel_layers_per_stage = 9", MANY, "wants two or more on each of pp=4"),
        ("pipeline_parallel_layers_per_stage = 5", "1F1B", "7 stages, which pp=4 does not divide"),
    ],
)
def test_stages_that_torchtitan_refuses_are_refused(
    more: str, schedule: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=says):
        layout_of(tmp_path, more, schedule)


@pytest.mark.parametrize(("word", "cut"), [("", True), ("true", True), ("false", False)])
def test_a_sequence_that_tensor_ranks_leave_whole_is_read(
    word: str, cut: bool, tmp_path: Path
) -> None:
    more = f"enable_sequence_parallel = {word}" if word else ""
    assert layout_of(tmp_path, more, tp=2).sequence_parallel is cut


def test_layers_of_a_stage_make_two_ranks_too(tmp_path: Path) -> None:
    two = "pipeline_parallel_degree = 2"
    text = FILE.format(schedule="1F1B", tp=1).replace("pipeline_parallel_degree = 4", two)
    path = tmp_path / "train.toml"
    path.write_text(f"{text}pipeline_parallel_layers_per_stage = 17\n")
    assert completed(read_configuration(path), {"num_gpus": 4})[0].pp == 2
    # 32 layers and two ends are two stages of 17; of 16 they are three, which fit no two ranks.
    path.write_text(f"{text}pipeline_parallel_layers_per_stage = 16\n")
    with pytest.raises(ConfigError, match="3 stages"):
        completed(read_configuration(path), {"num_gpus": 4})


def test_a_file_without_a_pipeline_has_one_rank_which_any_stages_fit(tmp_path: Path) -> None:
    text = FILE.format(schedule="1F1B", tp=1).replace("pipeline_parallel_degree = 4\n", "")
    path = tmp_path / "train.toml"
    path.write_text(text + parts(11, 11, 10))
    assert read_configuration(path).value("pp", 1) == 1
